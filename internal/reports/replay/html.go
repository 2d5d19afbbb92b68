package replay

import (
	"bufio"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageText string

// Page writes runs as one HTML file for people, without scripts and without anything
// from elsewhere. Everything in it that comes from a recording is escaped.
type Page struct {
	out  *bufio.Writer
	text *template.Template
	runs int
	err  error
}

// pageRun is a run as the page shows it.
type pageRun struct {
	ID      string
	Calls   []pageCall
	Asks    int
	Denials int
	Stops   bool
	Bad     string
}

type pageCall struct {
	Decision
	Values []value // of the arguments, cut
}

// NewPage begins a page under a title.
func NewPage(w io.Writer, title string) (*Page, error) {
	text, err := template.New("page").Funcs(template.FuncMap{
		"path":  func(v value) string { return v.path },
		"text":  func(v value) string { return v.text },
		"share": share,
	}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	p := &Page{out: bufio.NewWriter(w), text: text}
	p.part("head", title)
	return p, nil
}

func share(n, of int) string { return fmt.Sprintf("%.1f", 100*float64(n)/float64(max(1, of))) }

func (p *Page) part(name string, data any) {
	if p.err == nil {
		p.err = p.text.ExecuteTemplate(p.out, name, data)
	}
}

// maxOnPage is how much of a value the page shows.
const maxOnPage = 600

// Add writes one run.
func (p *Page) Add(o *Outcome) {
	run := pageRun{ID: o.ID}
	if o.Err != nil {
		run.Bad, run.Stops = o.Err.Error(), true
	}
	for i := range o.Calls {
		d := o.Calls[i]
		run.Stops = run.Stops || d.Stops()
		switch d.Decision {
		case Ask:
			run.Asks++
		case Deny:
			run.Denials++
		}
		c := pageCall{Decision: d, Values: valuesOf(string(d.Args))}
		for j := range c.Values {
			c.Values[j].text = cut(c.Values[j].text, maxOnPage)
		}
		run.Calls = append(run.Calls, c)
	}
	p.runs++
	p.part("run", run)
}

// cut shortens a text to n characters, and says that it did.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// Close writes the summary, which the page shows first, and ends the page.
func (p *Page) Close(s *Summary) error {
	p.part("foot", struct {
		*Summary
		Rows []Row
	}{s, s.Rows()})
	if p.err != nil {
		return fmt.Errorf("write page: %w", p.err)
	}
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}
