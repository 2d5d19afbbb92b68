package replay

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
)

//go:embed page.css
var pageStyle string

// Page writes runs as one HTML file for people, without scripts and without anything
// from elsewhere. Everything in it that comes from a recording is escaped.
//
// It is written without html/template: that package calls methods by names it finds while
// it runs, and a program that holds it keeps every method of every type, an eighth of its size.
type Page struct {
	out *bufio.Writer
	err error
}

// markup is HTML of this file, with %s where a value stands: in the text of an element
// or between the quotes of an attribute, the two places that escape is enough for.
type markup string

const (
	pageHead markup = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>
`
	pageBody markup = `</style>
</head>
<body>
<h1>%s</h1>
<label class="filter"><input type="checkbox" id="only"> only runs with a question or a denial</label>
`
	pageFigures markup = `<section class="summary">
<dl class="figures"><div><dt>runs</dt><dd>%s</dd></div><div><dt>calls</dt><dd>%s</dd></div>` +
		`<div><dt>questions a run</dt><dd>%s</dd></div>
<div><dt>denials</dt><dd>%s</dd></div><div><dt>runs left alone</dt><dd>%s%%</dd></div>`
	pageRowNames markup = `<table><tr><th>rule</th><th>tool</th><th>asked</th><th>denied</th><th>runs</th><th>share of calls</th></tr>
`
	pageRow markup = `<tr><td>%s</td><td>%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td>` +
		`<td><meter min="0" max="%s" value="%s"></meter></td></tr>
`
	pageFoot markup = `
</section>
</body>
</html>
`
)

// NewPage begins a page under a title.
func NewPage(w io.Writer, title string) *Page {
	p := &Page{out: bufio.NewWriter(w)}
	p.put(pageHead, title)
	_, _ = p.out.WriteString(pageStyle) // its error is the next one's too
	p.put(pageBody, title)
	return p
}

// put writes markup with the values in it, each of them as text.
func (p *Page) put(m markup, values ...any) {
	if p.err != nil {
		return
	}
	for i, v := range values {
		values[i] = escape(fmt.Sprint(v))
	}
	_, p.err = fmt.Fprintf(p.out, string(m), values...)
}

// putIf writes markup where there is something to say.
func (p *Page) putIf(said bool, m markup, values ...any) {
	if said {
		p.put(m, values...)
	}
}

// escape makes text of a value, for an element or a quoted attribute.
func escape(s string) string {
	return html.EscapeString(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD"))
}

func share(n, of int) string { return fmt.Sprintf("%.1f", 100*float64(n)/float64(max(1, of))) }

// maxOnPage is how much of a value the page shows.
const maxOnPage = 600

// Add writes one run.
func (p *Page) Add(o *Outcome) {
	asks, denials, class := 0, 0, "quiet"
	for i := range o.Calls {
		switch o.Calls[i].Decision {
		case Ask:
			asks++
		case Deny:
			denials++
		}
		if o.Calls[i].Stops() {
			class = "stopped"
		}
	}
	if o.Err != nil {
		class = "stopped"
	}
	p.put("<details class=\"%s\"><summary>%s\n<span class=\"faint\">%s calls</span>", class, o.ID, len(o.Calls))
	p.putIf(asks > 0, ` <b class="ask">%s asked</b>`, asks)
	p.putIf(denials > 0, ` <b class="deny">%s denied</b>`, denials)
	p.putIf(o.Err != nil, ` <b class="deny">not replayed</b>`)
	p.put("</summary>\n")
	p.putIf(o.Err != nil, `<pre>%s</pre>`, o.Err)
	p.put("<ol>\n")
	for i := range o.Calls {
		p.call(&o.Calls[i])
	}
	p.put("</ol></details>\n")
}

func (p *Page) call(d *Decision) {
	p.put(`<li class="%s"><b class="%s">%s</b> %s`, d.Decision, d.Decision, d.Decision, d.Tool)
	p.put(" <span class=\"faint\">in a context that is %s</span>\n", d.Taint)
	for _, v := range strictjson.Flat(string(d.Args)) {
		p.put(`<br><code><span class="faint">%s:</span> %s</code>`, v.Path, text.Mark(strings.ToValidUTF8(v.Text, "\uFFFD"), maxOnPage))
	}
	p.put("\n")
	p.putIf(d.Stops(), `<br><span class="faint">%s: %s</span>`, d.Rule, d.Reason)
	p.putIf(d.Shown != "", `<pre>%s</pre>`, d.Shown)
	p.put("</li>\n")
}

// Close writes the summary, which the page shows first, and ends the page.
func (p *Page) Close(s *Summary) error {
	p.put(pageFigures, s.Runs, s.Calls, fmt.Sprintf("%.2f", s.AsksPerRun()), s.Denials, share(s.Quiet, s.Runs))
	p.putIf(s.Bad > 0, `<div><dt>not replayed</dt><dd>%s</dd></div>`, s.Bad)
	p.put("</dl>\n")
	if rows := s.Rows(); len(rows) > 0 {
		p.put(pageRowNames)
		for _, r := range rows {
			p.put(pageRow, r.Rule, r.Tool, r.Asks, r.Denials, r.Runs, s.Calls, r.Asks)
		}
		p.put("</table>")
	}
	p.put(pageFoot)
	if p.err != nil {
		return fmt.Errorf("write page: %w", p.err)
	}
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}
