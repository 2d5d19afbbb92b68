package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
)

// Render writes the report for people, at most width columns wide (80 if not positive).
// Colour adds nothing that the characters do not say.
func (r Report) Render(w io.Writer, width int, colour bool) error {
	if width <= 0 {
		width = 80
	}
	p := &page{out: bufio.NewWriter(w), width: max(width, 40), colour: colour}
	p.totals(&r)
	p.questions(r.Questions)
	p.items(r.Items)
	p.auditor(r.Auditor)
	p.verifier(r.Verifier)
	p.shadow(r.Shadow, r.Totals)
	p.suggestions(r.Suggestions)
	return p.out.Flush()
}

type page struct {
	out    *bufio.Writer
	width  int
	colour bool
}

// The colours stand for meaning and nothing else.
var palette = map[string]string{"title": "4", "yes": "2", "no": "1", "expired": "3", "faint": "8", "widens": "1", "narrows": "2"}

func (p *page) paint(meaning, text string) string {
	c, ok := palette[meaning]
	if !p.colour || !ok || text == "" {
		return text
	}
	return lipgloss.NewStyle().Foreground(lipgloss.Color(c)).Bold(meaning == "title").Render(text)
}

func (p *page) title(text string) { fmt.Fprintf(p.out, "\n%s\n", p.paint("title", text)) }

func (p *page) totals(r *Report) {
	t := r.Totals
	when := "no records"
	if !r.From.IsZero() {
		when = r.From.Format(time.DateTime) + " to " + r.To.Format(time.DateTime) + " UTC"
	}
	fmt.Fprintf(p.out, "%s  %s\n\n", p.paint("title", "Report"), p.paint("faint", when))
	boxed := ""
	if t.Confined > 0 {
		boxed = fmt.Sprintf(" (%d of them in a box)", t.Confined)
	}
	p.wrap("Calls      ", fmt.Sprintf("%d: %d allowed%s, %d asked, %d denied", t.Calls, t.Allowed, boxed, t.Held, t.Denied))
	p.wrap("Let through", fmt.Sprintf("%d by approval, %d by grant, %d by the auditor, %d by the verifier",
		t.ByApproval, t.ByGrant, t.ByAuditor, t.ByVerifier))
	p.wrap("Questions  ", fmt.Sprintf("%d: %d yes, %d no, %d expired, %d open", t.Asked, t.Yes, t.No, t.Expired, t.Pending))
	if t.Grants+t.Revoked+t.WrongCodes > 0 {
		p.wrap("Grants     ", fmt.Sprintf("%d made, %d revoked; %d wrong codes", t.Grants, t.Revoked, t.WrongCodes))
	}
}

// wrap writes a name and a text beside it, on as many lines as it takes.
func (p *page) wrap(name, text string) {
	fmt.Fprint(p.out, p.paint("faint", name)+"  ")
	indent := lipgloss.Width(name) + 2
	at := indent
	for i, word := range strings.Fields(Line(text)) {
		n := lipgloss.Width(word)
		switch {
		case i == 0:
		case at+1+n > p.width:
			fmt.Fprint(p.out, "\n"+strings.Repeat(" ", indent))
			at = indent
		default:
			fmt.Fprint(p.out, " ")
			at++
		}
		fmt.Fprint(p.out, word)
		at += n
	}
	fmt.Fprintln(p.out)
}

func (p *page) questions(rows []Row) {
	if len(rows) == 0 {
		return
	}
	p.title("Questions by rule and tool")
	head := []cell{
		{text: "rule", grows: true}, {text: "tool", grows: true}, {text: "asked"}, {text: "yes"}, {text: "no"},
		{text: "expired", spare: true}, {text: "denied", spare: true},
		{text: "answers"}, {text: "median", spare: true}, {text: "p90", spare: true},
	}
	var table [][]cell
	for i := range rows {
		r := &rows[i]
		table = append(table, []cell{
			{text: r.Rule}, {text: r.Tool}, count("", r.Asked), count("yes", r.Yes), count("no", r.No),
			count("expired", r.Expired), count("", r.Denied),
			{text: bar(r)}, took(r, r.MedianMs), took(r, r.P90Ms),
		})
	}
	p.table(head, table)
	fmt.Fprintln(p.out, p.paint("faint", "answers: █ yes  ▒ no  ░ expired  · open"))
}

// maxItems bounds how many items are shown to people; all are in the JSON.
const maxItems = 30

func (p *page) items(rows []ItemRow) {
	if len(rows) == 0 {
		return
	}
	p.title("Items of the mandate, and what was missing")
	head := []cell{
		{text: "item", grows: true}, {text: "tool", grows: true}, {text: "missing", grows: true}, {text: "allowed"}, {text: "asked"},
		{text: "session", grows: true, spare: true},
	}
	var table [][]cell
	for i := range rows[:min(len(rows), maxItems)] {
		r := &rows[i]
		table = append(table, []cell{
			{text: strings.TrimSpace(r.ID + " " + r.Giver)}, {text: r.Tool}, {text: strings.Join(r.Missing, ", ")},
			count("yes", r.Allowed), count("", r.Asked), {text: r.Session},
		})
	}
	p.table(head, table)
	if n := len(rows) - maxItems; n > 0 {
		fmt.Fprintln(p.out, p.paint("faint", fmt.Sprintf("%d more are in the JSON (--json)", n)))
	}
}

func (p *page) auditor(rows []AuditRow) {
	if len(rows) == 0 {
		return
	}
	p.title("Auditor, by source and proposed tool")
	head := []cell{
		{text: "source", grows: true}, {text: "tool", grows: true}, {text: "asked"},
		{text: "consistent", spare: true}, {text: "inconsistent", spare: true},
		{text: "unsure", spare: true}, {text: "failed"}, {text: "overridden"},
	}
	var table [][]cell
	for _, r := range rows {
		table = append(table, []cell{
			{text: r.Source}, {text: r.Tool}, count("", r.Asked), count("yes", r.Consistent), count("no", r.Inconsistent),
			count("expired", r.Unsure), count("expired", r.Failed), {text: fmt.Sprintf("%d of %d", r.Overridden, r.Blocked)},
		})
	}
	p.table(head, table)
}

func (p *page) verifier(rows []VerifierRow) {
	if len(rows) == 0 {
		return
	}
	p.title("Verifier")
	head := []cell{{text: "by", grows: true}, {text: "allowed"}, {text: "denied"}, {text: "failed"}, {text: "cached"}}
	var table [][]cell
	for _, r := range rows {
		table = append(table, []cell{
			{text: r.By}, count("yes", r.Allowed), count("no", r.Denied), count("expired", r.Failed), count("", r.Cached),
		})
	}
	p.table(head, table)
}

func (p *page) suggestions(list []Suggestion) {
	if len(list) == 0 {
		return
	}
	p.title("Suggestions, for a person to decide")
	for _, s := range list {
		name, about := "·", s.Rule
		switch {
		case s.Widens:
			name = p.paint("widens", "+")
		case s.Kind == "restrict":
			name = p.paint("narrows", "-")
		}
		if s.Tool != "" {
			about = strings.TrimSpace(s.Tool + " " + about)
		}
		if about != "" {
			about += ": "
		}
		p.wrap(name, about+s.Text)
		p.wrap(" ", "("+s.Evidence+")")
		if s.Change != nil {
			p.wrap(" ", "what it would have changed: tidemark policy draft "+s.ID)
		}
	}
	fmt.Fprintln(p.out, p.paint("faint", "+ widens what the agent may do  - narrows it"))
}

func count(meaning string, n int) cell {
	if n == 0 {
		return cell{text: "0", meaning: "faint"}
	}
	return cell{text: strconv.Itoa(n), meaning: meaning}
}

func took(r *Row, ms int64) cell {
	if r.Answered() == 0 {
		return cell{text: "–", meaning: "faint"}
	}
	d := time.Duration(ms) * time.Millisecond
	if d < time.Minute {
		return cell{text: strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"}
	}
	d = d.Round(time.Second)
	if d >= time.Hour {
		return cell{text: strings.TrimSuffix(d.Round(time.Minute).String(), "0s")}
	}
	return cell{text: d.String()}
}

// bars is how many characters a bar has.
const bars = 10

// bar draws what became of the questions.
func bar(r *Row) string {
	if r.Asked == 0 {
		return ""
	}
	var b strings.Builder
	sum, drawn := 0, 0
	for _, part := range []struct {
		n    int
		mark string
	}{{r.Yes, "█"}, {r.No, "▒"}, {r.Expired, "░"}, {r.Pending, "·"}} {
		sum += part.n
		to := (2*sum*bars + r.Asked) / (2 * r.Asked) // rounded
		b.WriteString(strings.Repeat(part.mark, max(0, to-drawn)))
		drawn = max(drawn, to)
	}
	return b.String()
}
