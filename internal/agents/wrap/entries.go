package wrap

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// server is what an entry says, and where in the file it says it.
type server struct {
	argv    []string // of one that the agent starts
	env     []string // names of the variables it is given
	url     string   // of one that is reached over HTTP
	headers map[string]string
	why     string // it is left as it is

	form  form
	first span // the command, or the address
	rest  span // its arguments or headers; empty: it has none
}

// span is a part of the file.
type span struct{ start, end int }

// form is how an entry is written.
type form struct {
	list bool   // the command has its arguments in it
	name string // of the member with the rest, where it has to be added
	toml bool
}

// started reports whether an entry starts Tidemark already.
func (s *server) started() bool {
	return len(s.argv) > 2 && strings.TrimSuffix(filepath.Base(s.argv[0]), ".exe") == "tidemark" && s.argv[1] == "mcp" &&
		slices.Contains(s.argv, "--")
}

// check finds reasons to leave an entry alone.
func (s *server) check(kind string) {
	switch {
	case s.why != "":
	case s.url == "" && len(s.argv) == 0:
		s.why = "it has neither a command nor an address that is understood"
	case s.url != "" && kind == "sse":
		s.why = "it speaks the older protocol (HTTP with SSE); put npx mcp-remote ADDRESS in as its command, and wrap that"
	case s.url != "" && variable(s.url, s.headers):
		s.why = "its address or headers have variables that only the agent knows: put it under mcp.servers in tidemark.yaml"
	}
}

// variable reports whether an agent would put something else into a text.
func variable(address string, headers map[string]string) bool {
	odd := func(s string) bool { return strings.ContainsAny(s, "${}") }
	if odd(address) {
		return true
	}
	for _, v := range headers {
		if odd(v) {
			return true
		}
	}
	return false
}

// objects are the entries of a JSON file.
func (c *client) objects(src []byte, p place) ([]entry, error) {
	d, err := settings.ParseLoose(src)
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, in := range p.in {
		walk(d.Root, in, nil, func(where []string, n *settings.Node) {
			e := entry{where: where, start: n.Start, end: n.End}
			e.server = c.object(d, n)
			out = append(out, e)
		})
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.start, b.start) })
	return out, nil
}

// walk visits what a path leads to.
func walk(n *settings.Node, path, where []string, visit func([]string, *settings.Node)) {
	if len(path) == 0 {
		visit(where, n)
		return
	}
	for i, name := range n.Names {
		if path[0] == "*" || path[0] == name {
			walk(n.Values[i], path[1:], append(slices.Clone(where), name), visit)
		}
	}
}

// object reads one entry.
func (c *client) object(d *settings.Doc, n *settings.Node) server {
	var s server
	kind := text(d, n.Child("type"))
	for _, name := range c.foreign {
		if v := n.Child(name); v != nil && v.Kind != 'n' && v.Kind != 't' {
			s.why = "the agent finds its credentials itself (" + name + "): put it under mcp.servers in tidemark.yaml"
		}
	}
	if v := n.Child(c.env); v != nil {
		s.env = slices.Clone(v.Names)
	}
	command, address := n.Child("command"), n.Child(c.url)
	if c.sse != "" && n.Child(c.sse) != nil && address == nil {
		address, kind = n.Child(c.sse), "sse"
		if text(d, n.Child("type")) == "http" {
			kind = "http"
		}
	}
	switch {
	case command != nil && address == nil:
		c.starts(d, n, command, &s)
	case address != nil && command == nil:
		s.url, s.first = text(d, address), span{address.Start, address.End}
		if h := n.Child(c.headers); h != nil {
			s.rest = span{h.Start, h.End}
			values, ok := words(d, h)
			if !ok || h.Kind != '{' {
				s.why = "its headers are not understood"
			}
			s.headers = map[string]string{}
			for i, name := range h.Names {
				s.headers[name] = values[i]
			}
		}
		s.form.name = c.headers
	default:
		s.why = "it has neither a command nor an address that is understood"
	}
	s.check(kind)
	return s
}

// starts reads the command of an entry.
func (c *client) starts(d *settings.Doc, n, command *settings.Node, s *server) {
	s.form, s.first = form{list: c.list, name: "args"}, span{command.Start, command.End}
	const unlike = "its command is not understood"
	if c.list {
		var ok bool
		if s.argv, ok = words(d, command); !ok || command.Kind != '[' || len(s.argv) == 0 {
			s.why = unlike
		}
		return
	}
	s.argv = []string{text(d, command)}
	if s.argv[0] == "" {
		s.why = unlike
	}
	if args := n.Child("args"); args != nil {
		more, ok := words(d, args)
		s.rest = span{args.Start, args.End}
		if !ok || args.Kind != '[' {
			s.why = "its arguments are not understood"
		}
		s.argv = append(s.argv, more...)
	}
}

// words are the values of a list or an object of texts.
func words(d *settings.Doc, n *settings.Node) ([]string, bool) {
	out, ok := make([]string, len(n.Values)), true
	for i, v := range n.Values {
		out[i] = text(d, v)
		ok = ok && v.Kind == '"'
	}
	return out, ok
}

// text is a value that is a text, and else "".
func text(d *settings.Doc, n *settings.Node) string {
	var s string
	if n == nil || n.Kind != '"' || strictjson.Unmarshal(d.Raw(n), &s) != nil {
		return ""
	}
	return s
}

// tables are the entries of a TOML file: each a table of its own. One that is written in another
// way is named.
func (c *client) tables(src []byte) ([]entry, error) {
	all, err := settings.ReadTables(src)
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, t := range all {
		switch {
		case len(t.Path) == 2 && t.Path[0] == "mcp_servers":
			e := entry{where: t.Path, start: t.Start, end: t.End}
			e.server = c.table(string(src), t, all)
			out = append(out, e)
		case len(t.Path) == 0 || len(t.Path) == 1 && t.Path[0] == "mcp_servers":
			out = append(out, inline(t)...)
		}
	}
	return out, nil
}

// inline are entries that are values of keys.
func inline(t settings.Table) []entry {
	var out []entry
	for _, k := range t.Keys {
		path := append(slices.Clone(t.Path), k.Path...)
		if path[0] != "mcp_servers" {
			continue
		}
		e := entry{where: []string{"mcp_servers", "(inline)"}, start: k.Start, end: k.End}
		if len(path) > 1 {
			e.where[1] = path[1]
		}
		e.why = "it is written in one line; write it as a table [mcp_servers.NAME]"
		out = append(out, e)
	}
	return out
}

// table reads one entry.
func (c *client) table(src string, t settings.Table, all []settings.Table) server {
	s := server{form: form{toml: true}}
	for _, other := range all {
		if len(other.Path) == 3 && slices.Equal(other.Path[:2], t.Path) {
			switch other.Path[2] {
			case c.env:
				for _, k := range other.Keys {
					s.env = append(s.env, strings.Join(k.Path, "."))
				}
			case c.headers, "env_http_headers":
				s.why = "its headers are a table of their own; write them as one line, http_headers = {…}"
			}
		}
	}
	for _, k := range t.Keys {
		c.key(src, k, &s)
	}
	s.check("")
	return s
}

// key reads one key of an entry.
func (c *client) key(src string, k settings.Key, s *server) {
	if len(k.Path) != 1 {
		s.why = "its keys have dots; write them as tables"
		return
	}
	var all map[string]any
	if toml.Unmarshal([]byte("v = "+src[k.Start:k.End]), &all) != nil {
		s.why = k.Path[0] + " is not understood"
		return
	}
	value := all["v"]
	switch name := k.Path[0]; {
	case name == "command":
		s.first = span{k.Start, k.End}
		s.form.name = "args"
		word, ok := value.(string)
		if !ok || word == "" {
			s.why = "its command is not understood"
		}
		s.argv = append([]string{word}, s.argv...)
	case name == "args":
		s.rest = span{k.Start, k.End}
		list, ok := texts(value)
		if !ok {
			s.why = "its arguments are not understood"
		}
		s.argv = append(s.argv, list...)
	case name == c.env:
		if m, ok := value.(map[string]any); ok {
			for n := range m {
				s.env = append(s.env, n)
			}
			slices.Sort(s.env)
		}
	case name == "env_vars":
		list, _ := texts(value)
		s.env = append(s.env, list...)
	case name == c.url:
		s.url, _ = value.(string)
		s.first = span{k.Start, k.End}
		s.form.name = c.headers
	case name == c.headers:
		s.rest, s.headers = span{k.Start, k.End}, map[string]string{}
		m, ok := value.(map[string]any)
		for n, v := range m {
			word, is := v.(string)
			ok = ok && is
			s.headers[n] = word
		}
		if !ok {
			s.why = "its headers are not understood"
		}
	case slices.Contains(c.foreign, name):
		s.why = "the agent finds its credentials itself (" + name + "): put it under mcp.servers in tidemark.yaml"
	}
}

func texts(v any) ([]string, bool) {
	list, ok := v.([]any)
	var out []string
	for _, x := range list {
		word, is := x.(string)
		ok = ok && is
		out = append(out, word)
	}
	return out, ok
}
