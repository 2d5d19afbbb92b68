package grounds

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/strictjson"
	"github.com/tidemark/tidemark/meaning"
	"github.com/tidemark/tidemark/origin"
	"github.com/tidemark/tidemark/tool"
)

// Finding is one value of a call and where it came from.
type Finding struct {
	Path   string `json:"path"`
	Role   string `json:"role"` // target, credential, command, object, other, embedded, address
	Value  string `json:"value"`
	Origin Origin `json:"-"`
	From   string `json:"origin"`
}

// Grounds is what one call stands on. It answers what rules ask.
type Grounds struct {
	Tool     *meaning.Meaning
	Findings []Finding // strictest origin first within a role
	Danger   string    // what a command line would do: pipe-to-shell, persist, wreck, from-text, sends, leaks
	Decisive string    // the value behind Danger

	asked, delegated, linked, workspace, outside, inside, plain bool
	claimed, spoken                                             bool
	worst                                                       map[string]Origin
}

// Act is what the call does.
func (g *Grounds) Act() string { return g.Tool.Act.String() }

// Is answers a plain question about the call.
func (g *Grounds) Is(name string) bool {
	switch name {
	case "known":
		return g.Tool.Known
	case "acts":
		return g.Tool.Act != meaning.Read
	case "grave":
		return g.Tool.Gravity == meaning.High
	case "reaches":
		return g.worst["address"] != None
	case "asked":
		return g.asked
	case "delegated":
		return g.delegated
	case "linked":
		return g.linked
	case "workspace":
		return g.workspace
	case "outside":
		return g.outside
	case "inside":
		return g.inside
	case "claimed":
		return g.claimed
	case "plain":
		return g.plain
	case "danger":
		return g.Danger != ""
	case "spoken":
		return g.spoken
	}
	return false
}

// Origin is the strictest origin among the values of a role, or of one argument.
func (g *Grounds) Origin(what string) string {
	if o, ok := g.worst[what]; ok {
		return o.String()
	}
	out := None
	for _, f := range g.Findings {
		if f.Path == what {
			out = min(out, f.Origin)
		}
	}
	return out.String()
}

var roles = []string{"target", "credential", "command", "object", "other", "embedded", "address"}

// Of says what a call stands on.
func (c *Context) Of(name string, args *tool.Args) *Grounds {
	m := c.Meaning(name)
	g := &Grounds{Tool: m, outside: c.external, inside: c.local, delegated: c.user.delegates, worst: map[string]Origin{}}
	for _, r := range roles {
		g.worst[r] = None
	}
	g.asked, g.spoken = c.asked(m), len(c.user.tokens) > 0
	fields, err := args.Fields()
	values := leaves("", fields)
	if err != nil || len(values) > maxLeaves {
		for _, r := range roles {
			g.worst[r] = Unseen
		}
		return g
	}
	g.plain = len(values) == 0
	c.weigh(g, m, values)
	return g
}

// asked reports whether the user asked for this kind of act.
func (c *Context) asked(m *meaning.Meaning) bool {
	u := c.user.acts
	switch {
	case u.has(m.Act), u.has(meaning.Verb(m.Verb)):
		return m.Act != meaning.Unknown || u.has(meaning.Verb(m.Verb))
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
func (c *Context) weigh(g *Grounds, m *meaning.Meaning, values []leaf) {
	w := weighing{c: c, g: g, m: m}
	for i := range values {
		p := m.Resolve(values[i].path, values[i].text)
		w.targets = w.targets || p.Role == meaning.Target && strings.TrimSpace(values[i].text) != ""
	}
	local := m.Act == meaning.Create || m.Act == meaning.Change || m.Act == meaning.Delete || m.Act == meaning.Unknown
	g.workspace = c.host && (local || m.Act == meaning.Execute) && !w.targets
	for i := range values {
		w.value(&values[i])
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
}

func (w *weighing) value(l *leaf) {
	p := w.m.Resolve(l.path, l.text)
	if l.flag || strings.TrimSpace(l.text) == "" {
		return
	}
	if l.quoted && (p.Kind == meaning.URL || addressed(l.path) || startsURL.MatchString(l.text)) && w.m.Act == meaning.Read {
		w.find("address", l.path, l.text, w.c.addressOrigin(l.text))
		return
	}
	switch p.Role {
	case meaning.Target:
		for _, part := range split(l.text) {
			w.target(l.path, part, p.Kind)
		}
	case meaning.Credential:
		w.plain("credential", l)
	case meaning.Command:
		if w.g.workspace && w.m.Act == meaning.Execute {
			w.command(l)
			return
		}
		w.plain("command", l)
	case meaning.Selector:
		w.object(l)
	case meaning.Unclear:
		w.plain("other", l)
	case meaning.Content:
		w.content(l)
	default:
		w.linked = w.linked || w.c.said(l.text)
	}
}

var startsURL = regexp.MustCompile(`(?i)^(?:https?://|www\.)`)

func addressed(path string) bool {
	for _, x := range nameWords(path) {
		if addressNames[stem(x)] {
			return true
		}
	}
	return false
}

// split takes a text with several addresses apart.
func split(text string) []string {
	if m := mail.FindAllString(text, -1); len(m) > 1 {
		return m
	}
	return []string{text}
}

// find notes a value's origin.
func (w *weighing) find(role, path, value string, o Origin) {
	w.g.worst[role] = min(w.g.worst[role], o)
	w.g.Findings = append(w.g.Findings, Finding{Path: path, Role: role, Value: value, Origin: o, From: o.String()})
	switch o {
	case User, Anchored, Own:
		w.linked = true
	case Field:
		w.field = true
		w.near = w.near || w.c.nearWords(canon(value))
	case Text, Named, Contested, Authored:
		w.textual = true
	}
	if role != "embedded" && w.c.refused[canon(value)] {
		w.g.worst[role] = min(w.g.worst[role], Text)
	}
}

func (w *weighing) plain(role string, l *leaf) { w.find(role, l.path, l.text, w.c.origin(l.text)) }

func (w *weighing) target(path, value string, kind meaning.Kind) {
	o := w.c.origin(value)
	if kind == meaning.URL || startsURL.MatchString(value) {
		o = w.c.addressOrigin(value)
	}
	if o == User && w.c.contested(canon(value)) {
		w.g.claimed = true
	}
	if o == Other && w.m.Act == meaning.Send {
		o = Field
	}
	w.find("target", path, value, o)
}

func (w *weighing) object(l *leaf) {
	if w.g.workspace && w.m.Act != meaning.Execute {
		if sensitivePath.MatchString(l.text) && !w.c.said(l.text) {
			w.find("object", l.path, l.text, Text)
			return
		}
	}
	w.plain("object", l)
}

// content may say anything, but what it carries that leads elsewhere counts.
func (w *weighing) content(l *leaf) {
	if !l.quoted {
		return
	}
	if w.c.overlaps(l.text) {
		w.linked = true
	} else if o := w.c.origin(l.text); o == Text || o == Named || o == Contested {
		w.textual = true
	}
	outward := w.m.Act == meaning.Send || w.m.Act == meaning.Grant || w.m.Act == meaning.Pay || w.targets
	if !outward {
		return
	}
	for _, u := range address.FindAllString(l.text, -1) {
		u = strings.TrimRight(u, ".,;")
		w.g.worst["embedded"] = min(w.g.worst["embedded"], w.c.addressOrigin(u))
		w.g.Findings = append(w.g.Findings, Finding{Path: l.path, Role: "embedded", Value: u, Origin: w.c.addressOrigin(u), From: w.c.addressOrigin(u).String()})
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

// nearWords reports whether a record with the value has a distinctive word of the user's.
func (c *Context) nearWords(n string) bool {
	for _, p := range c.index.fields[n] {
		for _, f := range c.index.records[p.record].fields {
			for t := range strings.FieldsSeq(f.value) {
				if c.user.tokens[t] && distinctive(t) {
					return true
				}
			}
		}
	}
	return false
}

// nounSaid reports whether the user spoke of what the tool acts on.
func (c *Context) nounSaid(m *meaning.Meaning) bool {
	for i, w := range nameWords(m.Tool) {
		if (i > 0 || !isVerb(w)) && c.user.stems[stem(w)] {
			return true
		}
	}
	return false
}

// command weighs a command line on this machine. What stays here is the workspace's own;
// what leaves, stays after us or wrecks is looked at.
func (w *weighing) command(l *leaf) {
	c := w.c
	if c.said(l.text) {
		w.linked = true
		return
	}
	if d := danger(l.text); d != "" {
		w.risk(d, l.text)
		return
	}
	if c.external {
		for _, part := range parts.Split(l.text, -1) {
			if n := canon(part); strings.Count(n, " ") >= 1 && !c.said(part) && c.externalText(n) {
				w.risk("from-text", strings.TrimSpace(part))
				return
			}
		}
	}
	w.leaves(l)
}

func (w *weighing) leaves(l *leaf) {
	c := w.c
	var urls []string
	for _, u := range address.FindAllString(l.text, -1) {
		if !loopback.MatchString(u) {
			urls = append(urls, strings.TrimRight(u, ".,;"))
		}
	}
	if sending.MatchString(l.text) {
		for _, u := range urls {
			if o := c.addressOrigin(u); o != User && o != System {
				w.risk("sends", u)
				return
			}
		}
		if c.external && len(urls) == 0 && !c.user.acts.has(meaning.Send) && !c.saysAny("push", "deploy", "publish", "release") {
			w.risk("sends", l.text)
		}
		return
	}
	if !network.MatchString(l.text) {
		return
	}
	for _, u := range urls {
		if o := c.addressOrigin(u); strings.Contains(u, "$") && (o == Unseen || c.external && o == Text) {
			w.risk("leaks", u)
			return
		}
	}
}

func (c *Context) saysAny(words ...string) bool {
	for _, w := range words {
		if c.user.tokens[w] {
			return true
		}
	}
	return false
}

func (w *weighing) risk(danger, value string) {
	w.g.Danger, w.g.Decisive = danger, value
	w.g.Findings = append(w.g.Findings, Finding{Path: "command", Role: "command", Value: value, Origin: Unseen, From: Unseen.String()})
	w.g.worst["command"] = Unseen
}

// newIDs are the ids an answer of our own act gives at its top.
func newIDs(content string) map[string]bool {
	out := map[string]bool{}
	v, ok := origin.Parse([]byte(content))
	if !ok || v.Shape != origin.Object {
		return out
	}
	for i := range v.Kids {
		k := &v.Kids[i]
		if words := nameWords(k.Key); k.Shape == origin.Scalar && len(words) > 0 && words[len(words)-1] == "id" {
			out[k.Text] = true
		}
	}
	return out
}

// formatted is a number or flag as text: 7.0 is 7.
func formatted(v any) string {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
