package asking

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/trust"
)

// The bounds of what a question shows. Whoever shows it cuts long values.
const (
	maxWords   = 8
	maxSources = 4
)

func title(q tidemark.Question) string { return "Approval needed: " + q.Tool }

// label is the text of a choice.
func (c *Channel) label(choice string) string {
	switch choice {
	case once:
		return "Allow once"
	case grant:
		return fmt.Sprintf("Allow %d min", int(c.o.Grant/time.Minute))
	}
	return "Deny"
}

// show is a question as people see it. What they must know to answer comes before what
// explains it.
func (c *Channel) show(q tidemark.Question) (fields []Field, buttons []Button) {
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, Field{name, value})
		}
	}
	add("Question", q.Prompt)
	add("Tool", q.Tool)
	add("Arguments", q.Args)
	add("You asked", said(q))
	add("In the context", sources(q.Sources))
	add("Context trust", q.Level)
	add("Rule", q.Rule)
	add("Reason", q.Reason)
	if o := q.Opinion; o != nil {
		add("Auditor", strings.Trim(o.Answer+": "+o.Reason, ": "))
	}
	add("Allow once lets through", q.Allows)
	choices := []string{once, deny}
	if c.o.Grant > 0 {
		add(c.label(grant)+" lets through", fmt.Sprintf("every call of %s in this context, for %d minutes, while it is no less trusted",
			q.Tool, int(c.o.Grant/time.Minute)))
		choices = []string{once, grant, deny}
	}
	add("Session", strings.TrimSuffix(q.Session+" / "+q.Branch, " / "))
	add("Expires", fmt.Sprintf("%s UTC (in %s)", q.Expires.UTC().Format("15:04:05"), q.Expires.Sub(c.o.Now()).Round(time.Second)))
	for _, choice := range choices {
		buttons = append(buttons, Button{c.label(choice), choice})
	}
	return fields, buttons
}

// said is what the user asked for, the latest last.
func said(q tidemark.Question) string {
	words := q.Words
	lines := []string{}
	if n := len(words) - maxWords; n > 0 {
		lines = append(lines, fmt.Sprintf("(%d earlier messages)", n))
		words = words[n:]
	}
	for _, w := range words {
		lines = append(lines, fmt.Sprintf("“%s”", strings.ReplaceAll(w.Text, "\n", " ")))
	}
	return strings.Join(lines, "\n")
}

// sources name what made the context distrusted.
func sources(list []trust.Source) string {
	lines := []string{}
	for i, s := range list {
		if i == maxSources {
			lines = append(lines, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		line := strings.ReplaceAll(s.Kind, "_", " ")
		if s.Tool != "" {
			line = s.Tool
		}
		line += fmt.Sprintf(" at step %d", s.Step)
		if s.Detail != "" {
			line += " (" + s.Detail + ")"
		}
		if s.Excerpt != "" {
			line += " “" + s.Excerpt + "”"
		}
		lines = append(lines, strings.ReplaceAll(fmt.Sprintf("%s [%s]", line, s.Level), "\n", " "))
	}
	return strings.Join(lines, "\n")
}
