package channels

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
)

// KindDefinition is the kind of a question that is about no call: a definition of an MCP server, which is
// accepted or stays hidden.
const KindDefinition = "definition"

// maxWhole is how long a definition may be to be shown whole in a message everywhere, in UTF-16 units.
const maxWhole = 1000

// ShownWhole reports whether a message can show all of what approving a question would accept. What nobody could
// read is not accepted there.
func ShownWhole(q *engine.Question) bool {
	return q.Kind != KindDefinition || length(q.Prompt) <= maxWhole
}

// KindAlarm is the kind of what is no question at all: something about an agent's host that people must know. There is one
// button, by which somebody says that they have seen it.
const KindAlarm = "alarm"

func title(q engine.Question) string {
	if q.Kind == KindAlarm {
		return "Look at this now: an agent on this machine is no longer watched as it was"
	}
	return "Approval needed: " + q.Tool
}

// named is the text of a choice at a question.
func (c *Channel) named(q *engine.Question, choice string) string {
	if q.Kind == KindAlarm {
		return "Seen"
	}
	return c.label(choice)
}

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

// show is a question as people see it: its lines, as everywhere, and what the buttons do.
// Whoever shows it cuts long values.
func (c *Channel) show(q engine.Question) Post {
	p := Post{ID: q.ID, Title: title(q), Expires: q.Expires, Info: q.Info}
	if c.o.Link != nil {
		p.Link = c.o.Link(q.ID)
	}
	add := func(name, value string) {
		if value != "" {
			p.Fields = append(p.Fields, Field{name, value})
		}
	}
	for _, l := range q.Lines() {
		if l.Name == "" {
			l.Name = "Question"
		}
		add(l.Name, l.Text)
	}
	choices := []string{once, deny}
	where := "the console (tidemark console)"
	if p.Link != "" {
		where = "the console: " + p.Link
	}
	switch {
	case q.Kind == KindAlarm:
		choices = []string{deny}
	case !ShownWhole(&q):
		choices = []string{deny}
		add("To accept", "it is too long to be shown whole here. Read it in "+where)
	case c.o.Approves != nil && !c.o.Approves():
		choices = []string{deny}
		add("To approve", "approving takes your passkey or typed secret. Use "+where)
	case q.Kind == KindDefinition: // for some minutes means nothing here
	case c.o.Grant > 0:
		add(c.label(grant)+" lets through",
			fmt.Sprintf("for %d minutes %s, while it is no less trusted", int(c.o.Grant/time.Minute), q.Opens))
		choices = []string{once, grant, deny}
	}
	add("Session", strings.TrimSuffix(q.Session+" / "+q.Branch, " / "))
	add("Expires", fmt.Sprintf("%s UTC (in %s)", q.Expires.UTC().Format("15:04:05"), q.Expires.Sub(c.o.Now()).Round(time.Second)))
	for _, choice := range choices {
		p.Buttons = append(p.Buttons, Button{c.named(&q, choice), choice})
	}
	return p
}
