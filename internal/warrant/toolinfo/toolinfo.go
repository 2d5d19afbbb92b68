// Package toolinfo understands a tool without configuration: from its name, its
// description, the JSON Schema of its parameters and its MCP annotations it derives what
// the tool does, how grave that is, and what each parameter is for. It is pure: words in,
// words out, the same answer on every machine.
//
// Invariants:
//   - a definition is written by whoever wrote the tool, so it is heard and not obeyed: a
//     plain verb in the name is never made milder by a description or an annotation;
//   - what is not understood stays Unknown, and Unknown counts as High;
//   - zero values are the strict ones;
//   - every answer says why.
package toolinfo

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/tool"
)

// Meaning is what was understood of a tool. It is not changed after Of and may be shared.
type Meaning struct {
	Tool string `json:"tool"` // as policy spells it
	Act  Act    `json:"act"`
	Why  string `json:"why"`
	// Verb is the word that told the act, Thing what it is done to; both may be empty.
	Verb  string `json:"verb,omitempty"`
	Thing string `json:"thing,omitempty"`
	// Gravity is that of the worst call of this tool, Bare that of one which fills none
	// of its targets: a calendar entry that invites nobody.
	Gravity   Gravity  `json:"gravity"`
	Bare      Gravity  `json:"bare"`
	Source    bool     `json:"source"`    // its response brings content of others
	Sink      bool     `json:"sink"`      // it acts on the world outside or on what is shared
	Sensitive bool     `json:"sensitive"` // it reads credentials, personal or financial data
	Reaches   bool     `json:"reaches"`   // it asks an address that the caller chooses
	Params    []Param  `json:"params,omitempty"`
	Known     bool     `json:"known"` // the act was understood
	could     Act      // what words of the name mean that may be things as well
	told      Act      // what name and description tell, before the schema's choices are heard
	nouns     []string // of the tool, singular
	guesses   *guesses // of parameters that the schema does not list
	looks     bool     // it is no tool, but the protocol's own way to ask a server
}

// Param is what one parameter is for. A list of plain values has the path of the list;
// a field of the objects in a list is `list[].field`.
type Param struct {
	Path    string  `json:"path"`
	Role    Role    `json:"role"`
	Kind    Kind    `json:"kind"`
	Object  bool    `json:"object,omitempty"`  // it names the thing that the act is done to
	Chooses bool    `json:"chooses,omitempty"` // its value names the act: see Choice
	Decides bool    `json:"decides,omitempty"` // a decision, a permission, who may see it, force
	Writes  bool    `json:"writes,omitempty"`  // a place on the disk that the call writes to
	Why     string  `json:"why"`
	Listed  *Listed `json:"-"` // nil: the schema lists nothing
}

// Listed is what a schema says that a parameter may be.
type Listed struct {
	Values  []string // all of them, as texts; none: it does not tell, or more than can be told
	Default string   // what it is where nobody says; empty: it does not tell
}

// Reaches reports whether one of the listed values stands for people nobody can list.
func (l *Listed) Reaches() bool { return slices.ContainsFunc(l.Values, isAudience) }

// Of understands a definition. It never fails: what it cannot read it does not know.
func Of(d tool.Definition) *Meaning {
	m := &Meaning{Tool: tool.Name(bounded(d.Name, maxName))}
	said := describe(bounded(d.Description, maxDescription))
	r := readName(bounded(d.Name, maxName))
	r.combine(said, d)
	if len(d.Name) > maxName {
		r = reading{why: "its name is too long to be understood"}
	}
	m.could = r.could
	m.Act, m.told, m.Verb, m.Thing, m.nouns = r.act, r.act, r.verb, r.thing, r.nouns
	fields := schemaFields(d.Schema)
	m.Params = make([]Param, len(fields))
	for i := range fields {
		m.Params[i] = m.param(&fields[i])
	}
	if m.correct(&r, fields, said, d) { // what the parameters say of the act changes what they are for
		for i := range fields {
			m.Params[i] = m.param(&fields[i])
		}
	}
	m.weigh(&r, said, d)
	m.Why, m.Known = r.why, m.Act != Unknown
	m.heed(d.Reading)
	if d.Looks {
		m.Act, m.told, m.could, m.Gravity, m.Bare, m.Known, m.Why = Read, Read, Unknown, None, None, true, "the protocol's own way to ask"
		m.Sink, m.Verb, m.looks = false, "", true
	}
	m.guesses = &guesses{} // from here on nothing that they stand on changes
	return m
}

// Could is the gravest act that words of the name mean which may be things as well; Unknown where there are none.
func (m *Meaning) Could() Act { return m.could }

// Seems reports whether its name tells a look by a verb that names an act as often: returning an order, accessing an account.
func (m *Meaning) Seems() bool { return isSeeming.has(m.Verb) }

// Looks reports whether it is no tool, but the protocol's own way to ask a server.
func (m *Meaning) Looks() bool { return m.looks }

// Named is the act that name and description tell, before the schema's choices are heard.
func (m *Meaning) Named() Act { return m.told }

// Bounds of what is looked at: a definition comes from outside.
const (
	maxName        = 256
	maxDescription = 2048
	maxParams      = 256
	maxDepth       = 8
)

func bounded(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "")
}

// weigh derives gravity and what the tool is, once act and parameters are known.
func (m *Meaning) weigh(r *reading, said *speech, d tool.Definition) {
	m.Bare = r.gravity()
	m.Gravity = m.Bare
	if said.alsoActs != "" && m.Bare != High {
		m.always(High, r, "its description also says `"+said.alsoActs+"`")
	}
	if r.orders != "" && m.Act == Read {
		m.always(High, r, "`"+r.orders+"` may do more than ask")
	}
	m.hints(r, d)
	if m.writes() && m.books() && m.Bare != High {
		m.always(High, r, "it books sums of money")
	}
	for i := range m.Params {
		m.weighParam(&m.Params[i], r)
	}
	if len(m.Params) == 0 && r.reaches() {
		m.Reaches = true
	}
	if m.Act == Read && m.Reaches && m.Gravity == None {
		m.always(Low, r, "it asks an address that the caller chooses")
	}
	m.Sink = m.Gravity == High
	m.Source = r.source(m.Act, m.Reaches, said) || isTrue(d.OpenWorld) && m.Act == Read
	m.Sensitive = r.sensitive(m.Act)
}

// weighParam is what one parameter adds to the gravity of a call that fills it, or of every
// call.
func (m *Meaning) weighParam(p *Param, r *reading) {
	switch {
	case p.Role == Target && m.writes() && p.Kind != Path && m.Gravity != High:
		m.Gravity = High
		r.add("`" + p.Path + "` names somebody outside")
	case p.Role == Credential && m.writes() && m.Bare != High:
		m.always(High, r, "`"+p.Path+"` is a credential")
	case m.Act == Read && p.Role == Credential && m.Bare != High && personal(p.Path):
		m.always(High, r, "`"+p.Path+"` is a secret of the user's")
	case m.Act == Read && p.Writes && m.Gravity == None:
		m.Gravity = Low
		r.add("`" + p.Path + "` is a place it writes to")
	case p.Role == Target && (p.Kind == URL || p.Kind == Host):
		m.Reaches = m.Reaches || m.Act != Delete && m.Act != Grant
	}
}

// always sets the gravity of every call, and says why.
func (m *Meaning) always(g Gravity, r *reading, why string) {
	m.Bare, m.Gravity = g, g
	r.add(why)
}

// writes reports whether it makes or changes something and does no more.
func (m *Meaning) writes() bool { return m.Act == Create || m.Act == Change }

// hints are the server's own annotations. They can only make a tool graver.
func (m *Meaning) hints(r *reading, d tool.Definition) {
	switch {
	case isTrue(d.Destructive) && !isTrue(d.ReadOnly) && m.Gravity != High:
		m.always(High, r, "its server says that it can destroy")
	case d.ReadOnly != nil && !*d.ReadOnly && m.Gravity == None:
		m.always(Low, r, "its server says that it changes something")
	}
}

// books reports whether sums go to accounts of a ledger.
func (m *Meaning) books() bool {
	sum := slices.ContainsFunc(m.Params, func(p Param) bool { return p.Role == Amount && p.Kind == Money })
	return sum && slices.ContainsFunc(m.Params, func(p Param) bool { return strings.Contains(lastName(p.Path), "account") })
}

// personal secrets are the user's own, and not the key of a service.
func personal(path string) bool {
	n := nameOf(path)
	return isPersonal.has(n.head)
}

func isTrue(b *bool) bool { return b != nil && *b }

// Param is the parameter at a path of the call's arguments; indexes of lists do not
// matter (`to[3]` is `to`).
func (m *Meaning) Param(path string) (Param, bool) {
	if i := slices.IndexFunc(m.Params, func(p Param) bool { return samePath(p.Path, path) }); i >= 0 {
		return m.Params[i], true
	}
	return Param{}, false
}

// Resolve is what the argument at a path is for, given its value. An argument the schema
// does not list is understood by its name and by the look of the value.
func (m *Meaning) Resolve(path string, value any) Param {
	p, ok := m.Param(path)
	if _, text := value.(string); !ok && text {
		p = m.guess(path)
	} else if !ok {
		p = m.param(&field{path: path, types: typeOf(value)})
	}
	return m.refine(p, value)
}

// Unseen is what the argument at a path is for before anybody has looked at the text it
// holds, Seen what it is for once that is known: together they are Resolve.
func (m *Meaning) Unseen(path string) Param {
	if p, ok := m.Param(path); ok {
		return p
	}
	return m.guess(path)
}

// Seen is what an argument is for, given its text.
func (m *Meaning) Seen(p Param, text string) Param { return m.refine(p, text) }

// samePath compares a path of the schema with one of a call, without allocating.
func samePath(schema, path string) bool {
	i, j := 0, 0
	for i < len(schema) && j < len(path) {
		if path[j] == '[' {
			end := strings.IndexByte(path[j:], ']')
			if end < 0 || !strings.HasPrefix(schema[i:], "[]") {
				return false
			}
			i, j = i+2, j+end+1
			continue
		}
		if schema[i] != path[j] {
			return false
		}
		i, j = i+1, j+1
	}
	return i == len(schema) && onlyIndexes(path[j:])
}

func onlyIndexes(s string) bool {
	for len(s) > 0 {
		end := strings.IndexByte(s, ']')
		if s[0] != '[' || end < 0 {
			return false
		}
		s = s[end+1:]
	}
	return true
}

// lastName is the name at the end of a path, in the spelling of the word lists.
func lastName(path string) string {
	path = strings.TrimSuffix(path, "[]")
	if i := strings.LastIndexAny(path, ".]"); i >= 0 {
		path = path[i+1:]
	}
	return strings.Join(words(path), "_")
}
