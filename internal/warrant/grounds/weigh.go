package grounds

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// asked reports whether the user asked for this kind of act.
func (c *Context) asked(m *meaning.Meaning) bool {
	u := c.user.acts
	base := meaning.Verb(m.Verb) // sending money is a payment, and asking for a mail asks for none
	switch {
	case u.has(m.Act):
		return true
	case u.has(base) && (base != meaning.Send || m.Act != meaning.Pay && m.Act != meaning.Grant):
		return true
	case eitherWay[m.Verb] && (m.Act == meaning.Create || m.Act == meaning.Change):
		return u.has(meaning.Create) || u.has(meaning.Change)
	case m.Act == meaning.Create:
		return u.has(meaning.Pay)
	}
	return false
}

// eitherWay are verbs that create or change.
var eitherWay = set("put write set save add append insert edit upsert store")

// weigh looks at each value.
func (c *Context) weigh(g *Grounds, m *meaning.Meaning, values []leaves.Leaf) {
	w := weighing{c: c, g: g, m: m}
	for i := range values {
		p := m.Resolve(values[i].Path, values[i].Text)
		w.targets = w.targets || p.Role == meaning.Target && strings.TrimSpace(values[i].Text) != ""
	}
	local := m.Act == meaning.Create || m.Act == meaning.Change || m.Act == meaning.Delete || m.Act == meaning.Unknown
	g.workspace = c.host && (local && localName(m) || runsLines(m)) && !w.targets
	for i := range values {
		w.value(&values[i])
	}
	if commandTools[m.Tool] && c.external && !w.ordered && slices.ContainsFunc(values, func(l leaves.Leaf) bool { return l.Quoted && strings.ContainsAny(l.Text, " ;|&") }) {
		g.Danger = "unreadable" // it may run something, and nobody can tell what
	}
	g.linked = w.linked || w.field && !w.textual && (w.near || c.nounSaid(m))
}

// weighing is one call being looked at.
type weighing struct {
	c       *Context
	g       *Grounds
	m       *meaning.Meaning
	targets bool // it names somebody or somewhere outside

	linked, field, textual, near bool
	ordered                      bool // a command is among the values
	read                         int  // in how many ways commands were read
}

func (w *weighing) value(l *leaves.Leaf) {
	p := w.m.Resolve(l.Path, l.Text)
	if l.Flag || strings.TrimSpace(l.Text) == "" {
		return
	}
	if l.Worded() && runsLines(w.m) && isProgram(l.Path) {
		p.Role = meaning.Command
	}
	w.patches(l)
	if l.Quoted && (p.Kind == meaning.URL || addressed(l.Path) || startsURL.MatchString(l.Text)) && w.m.Act == meaning.Read {
		w.find("address", l.Path, l.Text, w.c.address(l.Text))
		return
	}
	switch p.Role {
	case meaning.Target:
		for _, part := range split(l.Text) {
			w.target(l.Path, part, p.Kind)
		}
	case meaning.Credential:
		w.plain("credential", l)
	case meaning.Command:
		w.ordered = true
		commands := l.Commands()
		if w.read += len(commands); w.read > leaves.MostCommands && runsLines(w.m) {
			w.risk("unreadable", l.Text)
			return
		}
		for i := range commands {
			w.runs(&commands[i])
		}
	case meaning.Selector:
		w.object(l)
	case meaning.Unclear:
		w.plain("other", l)
	case meaning.Content:
		w.content(l)
	case meaning.Amount:
		w.linked = w.linked || w.c.index.Said(l.Text)
		w.g.note("amount", l.Path, l.Text, w.c.source(l.Text))
	default:
		w.linked = w.linked || w.c.index.Said(l.Text)
	}
}

// isProgram reports whether a parameter names the program that a command is apart from its
// words.
func isProgram(path string) bool {
	words := leaves.NameWords(path)
	return len(words) > 0 && slices.Contains([]string{"executable", "program", "binary", "bin", "file", "path", "name"}, words[len(words)-1])
}

// runs weighs a command in one way of reading it.
func (w *weighing) runs(l *leaves.Leaf) {
	if runsLines(w.m) {
		w.command(l)
	}
	if !w.g.workspace || w.m.Act != meaning.Execute {
		w.plain("command", l)
	}
}

var startsURL = regexp.MustCompile(`(?i)^(?:https?://|www\.)`)

func addressed(path string) bool {
	for _, x := range leaves.NameWords(path) {
		if addressNames[stem(x)] {
			return true
		}
	}
	return false
}

// split takes a text with several addresses apart.
func split(text string) []string {
	var out []string
	for _, p := range origin.Targets(text) {
		if p.Kind == origin.Email {
			out = append(out, p.Text)
		}
	}
	if len(out) > 1 {
		return out
	}
	return []string{text}
}

// find notes a value's origin.
func (w *weighing) find(role, path, value string, s source) {
	o := s.origin
	w.g.note(role, path, value, s)
	switch o {
	case User, Anchored, Own:
		w.linked = true
	case Field:
		w.field = true
		w.near = w.near || s.near
	case Text, Named, Contested, Authored:
		w.textual = true
	}
	if w.c.refused[origin.Normal(value)] {
		w.g.worst[role] = min(w.g.worst[role], Text)
	}
}

// note adds a finding.
func (g *Grounds) note(role, path, value string, s source) {
	g.worst[role] = min(g.worst[role], s.origin)
	g.Findings = append(g.Findings, Finding{
		Path: path, Role: role, Value: value, Origin: s.origin, From: s.origin.String(), Where: s.where, Excerpt: s.excerpt,
	})
}

func (w *weighing) plain(role string, l *leaves.Leaf) {
	w.find(role, l.Path, l.Text, w.c.source(l.Text))
}

func (w *weighing) target(path, value string, kind meaning.Kind) {
	s := w.c.source(value)
	if kind == meaning.URL || startsURL.MatchString(value) {
		s = w.c.address(value)
	}
	if s.origin == User && w.c.contested(value) {
		w.g.claimed = true
	}
	if s.origin == Other && w.m.Act == meaning.Send {
		s.origin = Field
	}
	w.find("target", path, value, s)
}

func (w *weighing) object(l *leaves.Leaf) {
	s := w.c.source(l.Text)
	if s.origin < Own && w.c.own[origin.Normal(l.Text)] {
		s = source{origin: Own, where: ours} // an object, never where something goes
	}
	w.watched(l, s)
	if w.g.workspace && w.m.Act != meaning.Execute && sensitive(l.Text) && s.origin != User {
		w.g.note("path", l.Path, l.Text, s)
	}
	w.find("object", l.Path, l.Text, s)
}

// watched holds what a tool does with the files that watch the agent, and with our tokens.
func (w *weighing) watched(l *leaves.Leaf, s source) {
	switch {
	case s.origin == User || !w.c.host || w.m.Act == meaning.Execute:
	case w.m.Act != meaning.Read && shell.Overseen(l.Text):
		w.risk("oversight", l.Text)
	case w.m.Act == meaning.Read && strings.HasSuffix(l.Text, "tokens.json") && shell.Secret(l.Text):
		w.risk("secret", l.Text)
	}
}

// patches looks at the files that a patch changes.
func (w *weighing) patches(l *leaves.Leaf) {
	if !w.c.host || w.m.Act == meaning.Read || !strings.Contains(l.Text, "*** ") && !strings.Contains(l.Text, "+++ ") {
		return
	}
	for line := range strings.Lines(l.Text) {
		for _, mark := range []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:", "+++ b/", "+++ ", "--- a/", "--- "} {
			file, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
			if file = strings.TrimSpace(file); ok && shell.Overseen(file) && !w.c.index.Said(file) {
				w.risk("oversight", file)
				return
			}
		}
	}
}

// sensitive reports whether a write to a file changes what a machine does next.
func sensitive(file string) bool {
	return shell.Lasting(file) || shell.Secret(file) || strings.HasPrefix(file, "/etc/") || strings.HasPrefix(file, ".config/") || strings.Contains(file, "/.config/")
}

// content may say anything, but what it carries that leads elsewhere counts.
func (w *weighing) content(l *leaves.Leaf) {
	if !l.Quoted {
		return
	}
	w.planted(l)
	if w.c.overlaps(l.Text) {
		w.linked = true
	} else if o := w.c.source(l.Text).origin; o == Text || o == Named || o == Contested {
		w.textual = true
	}
	if outward := w.m.Act == meaning.Send || w.m.Act == meaning.Grant || w.m.Act == meaning.Pay || w.targets; !outward {
		return
	}
	for _, p := range origin.Targets(l.Text) {
		switch p.Kind {
		case origin.URL:
			w.g.note("embedded", l.Path, p.Text, w.c.address(p.Text))
		case origin.Email, origin.IBAN, origin.Phone:
			w.g.note("embedded", l.Path, p.Text, w.c.source(p.Text))
		}
	}
}

// overlaps reports whether a text has a distinctive word of the user's.
func (c *Context) overlaps(text string) bool {
	for _, t := range tokens(text) {
		if c.user.tokens[t] && distinctive(t) {
			return true
		}
	}
	return false
}

// nounSaid reports whether the user spoke of what the tool acts on.
func (c *Context) nounSaid(m *meaning.Meaning) bool {
	for i, w := range leaves.NameWords(m.Tool) {
		if (i > 0 || !isVerb(w)) && c.user.stems[stem(w)] {
			return true
		}
	}
	return false
}
