// Package lookup chooses what is looked up for a message of the owner's by the monitor itself: the people and things that its items name,
// in lists that the server of the act keeps. It is pure; whoever stands at the door asks the server.
//
// A look-up is one only if all of it is known: the tool only reads, it is of the same server as the act, it needs nothing but the name,
// and it lists what the item speaks of. The agent, and what it read, has no say in any of this.
package lookup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// LookUp is one question to a server.
type LookUp struct {
	Tool string          // as its server spells it
	Args json.RawMessage // what it is asked with
	Name string          // what is looked up, in the owner's words
}

// Tool is one that is offered, and what is understood of it.
type Tool struct {
	Definition *tool.Definition
	Meaning    *toolinfo.Meaning
}

// The bounds of what one message has looked up.
const (
	most     = 4
	longest  = 80 // bytes of a name
	mostEach = 2  // lists that one name is looked up in
)

// Wanted are the look-ups that a mandate asks for. Names that several items have are looked up once.
func Wanted(m *mandate.Mandate, tools []Tool) []LookUp {
	var out []LookUp
	has := func(l LookUp) bool {
		return slices.ContainsFunc(out, func(o LookUp) bool { return o.Tool == l.Tool && o.Name == l.Name })
	}
	for i := range m.Items {
		it := &m.Items[i]
		for _, param := range slices.Sorted(maps.Keys(it.Args)) {
			for j := range it.Args[param] {
				for _, l := range named(it, param, &it.Args[param][j], tools) {
					if len(out) < most && !has(l) {
						out = append(out, l)
					}
				}
			}
		}
	}
	return out
}

// named are the look-ups of one source. A search for the name is taken before a list of everything.
func named(it *mandate.Item, param string, s *mandate.Source, tools []Tool) []LookUp {
	var searches, lists []LookUp
	for _, name := range s.What {
		if name = strings.TrimSpace(name); name == "" || len(name) > longest {
			continue
		}
		for i := range tools {
			t := &tools[i]
			if t.Meaning.Tool == it.Tool || server(t.Meaning.Tool) != server(it.Tool) || !t.reads() {
				continue
			}
			by, ok := t.takes()
			words := arguments.NameWords(strings.TrimPrefix(t.Meaning.Tool, server(t.Meaning.Tool)+"__"))
			switch {
			case !ok || !s.Keeps(param, words, by == ""):
			case by == "":
				lists = append(lists, LookUp{Tool: t.Definition.Name, Args: json.RawMessage("{}"), Name: name})
			default:
				args, err := json.Marshal(map[string]string{by: name})
				if err == nil {
					searches = append(searches, LookUp{Tool: t.Definition.Name, Args: args, Name: name})
				}
			}
		}
	}
	if len(searches) == 0 {
		searches = lists
	}
	if len(searches) > mostEach*len(s.What) { // which of them is meant is not for us to say
		return nil
	}
	return searches
}

// server is what a tool is named after; "": none.
func server(name string) string {
	s, _, ok := strings.Cut(name, "__")
	if !ok {
		return ""
	}
	return s
}

// reads reports whether a tool does nothing but look, by everything that speaks of it.
func (t *Tool) reads() bool {
	m, d := t.Meaning, t.Definition
	said := func(p *bool, want bool) bool { return p == nil || *p == want }
	return m.Known && m.Act == toolinfo.Read && m.Could() == toolinfo.Unknown && m.Gravity == toolinfo.None &&
		!m.Reaches && !m.Sink && !m.Looks() && said(d.ReadOnly, true) && said(d.Destructive, false)
}

// takes is the parameter that a name is searched for by; empty: it lists everything. Ok is false where it needs anything else.
func (t *Tool) takes() (by string, ok bool) {
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if len(t.Definition.Schema) == 0 || json.Unmarshal(t.Definition.Schema, &schema) != nil {
		return "", false
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if schema.Properties[name].Type == "string" && mandate.Searches(name) {
			if by != "" {
				return "", false
			}
			by = name
		}
	}
	for _, name := range schema.Required {
		if name != by {
			return "", false
		}
	}
	return by, true
}
