package warrant

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/tool"
)

// Context is what one conversation has said and read. It is not safe for concurrent use.
type Context struct {
	user      heard
	index     *origin.Index
	shell     *shell.Reader
	own       map[string]bool
	refused   map[string]bool
	tools     map[string]*meaning.Meaning
	offered   map[string]bool
	host      bool
	argued    bool // anybody but the user has said something
	outside   bool
	done      []deedDone
	defs      strings.Builder // what definitions of others say
	grave     bool            // scratch: the call being judged is hard to take back
	contracts []*Contract
	agreed    *Contract // of the latest message; nil: none
	namings   map[string]*naming
	actedAt   uint64            // the step of our last act
	names     map[string]string // tools as their owners spell them
	said      []string
	mails     map[string]bool
	mailDocs  map[string]int  // how many addresses stand in the text an address stands in
	papers    map[uint64]bool // steps whose result is a text somebody wrote as a whole
	read      bool            // something was read
}

type deedDone struct {
	tool  string
	thing string
}

// New is a conversation in which nothing was said.
func New() *Context {
	return &Context{
		index: origin.New(0), own: map[string]bool{}, refused: map[string]bool{}, tools: map[string]*meaning.Meaning{}, offered: map[string]bool{}, papers: map[uint64]bool{}, names: map[string]string{}, mails: map[string]bool{}, namings: map[string]*naming{}, mailDocs: map[string]int{},
	}
}

// User adds a message of the user's own.
func (c *Context) User(text string) {
	c.agreed = nil
	text = gluedStop.ReplaceAllString(text, "$1. $2")
	c.said = append(c.said, strings.ToLower(text))
	c.user.hear(text)
	c.index.User(text)
}

// Tools tells what the host offers.
func (c *Context) Tools(list []tool.Definition) {
	for _, d := range list {
		m := meaning.Of(d)
		c.tools[m.Tool] = m
		c.names[m.Tool] = d.Name
		c.offered[m.Tool] = true
		c.host = c.host || commandTools[m.Tool]
		if !hostTools[m.Tool] {
			c.defs.WriteString(d.Description + "\n")
			c.defs.Write(d.Schema)
			c.defs.WriteByte('\n')
		}
	}
}

// Meaning is what is understood of a tool.
func (c *Context) Meaning(name string) *meaning.Meaning {
	key := tool.Name(name)
	m := c.tools[key]
	if m == nil {
		m = meaning.Of(tool.Definition{Name: name})
		c.tools[key], c.names[key] = m, name
	}
	return m
}

var (
	commandTools = set("exec bash shell sh terminal run_shell_command run_command execute_command local_shell shell_command run_terminal_cmd exec_command powershell")
	hostTools    = set("exec bash shell sh terminal run_shell_command run_command execute_command local_shell shell_command run_terminal_cmd exec_command powershell " +
		"read write edit multiedit multi_edit notebookedit apply_patch ls glob grep read_file write_file edit_file create_file str_replace_editor list_directory read_text_file")
)

// Result is what a call brought back.
type Result struct {
	Tool    string
	Step    uint64
	Args    *tool.Args
	Content string
	Failed  bool
	Tainted bool
}

// Result adds what a call brought back.
func (c *Context) Result(r Result) {
	m := c.Meaning(r.Tool)
	if len(c.offered) == 0 && commandTools[m.Tool] && !r.Failed {
		c.host = true
	}
	if strings.TrimSpace(r.Content) == "" || r.Content == "null" {
		return
	}
	fields, _ := r.Args.Fields()
	values := leaves("", fields)
	for _, l := range values {
		if i := strings.LastIndexByte(l.text, '/'); l.quoted && i >= 0 && i+1 < len(l.text) && len(l.text) < 300 && !startsURL(l.text) {
			keep(c.own, l.text[i+1:], 3)
		}
	}
	acted := m.Act != meaning.Read && m.Act != meaning.Unknown && m.Act != meaning.Execute
	if acted {
		c.actedAt = r.Step
		c.done = append(c.done, deedDone{m.Tool, m.Thing})
		c.remember(r.Content)
		for _, l := range values {
			if p := m.Resolve(l.path, l.text); (p.Role == meaning.Selector || p.Role == meaning.Unclear) && len(l.text) < 200 {
				keep(c.own, l.text, 2)
			}
		}
		if !tellsMore(r.Content, values) {
			return
		}
	}
	c.argued, c.read = true, true
	if !(c.host && hostTools[m.Tool]) || c.brings(m, values) {
		c.outside = true
	}
	named := slices.ContainsFunc(values, func(l leaf) bool { return l.quoted && c.index.Said(l.text) })
	free := c.document(m, fields) || r.Tainted || acted
	if free {
		c.papers[r.Step] = true
	}
	if named {
		found := map[string]bool{}
		for _, p := range origin.Targets(r.Content) {
			if p.Kind == origin.Email {
				found[strings.ToLower(p.Text)] = true
			}
		}
		for a := range found {
			c.mails[a] = true
			c.mailDocs[a] = max(c.mailDocs[a], len(found))
		}
	}
	c.index.Result(origin.Result{Tool: m.Tool, Step: r.Step, Named: named, External: true, Free: free, Content: []byte(r.Content)})
}

func (c *Context) remember(content string) {
	v, ok := origin.Parse([]byte(content))
	if !ok {
		if len(content) < 300 {
			for _, w := range strings.FieldsFunc(content, func(r rune) bool { return strings.ContainsRune(" \t\n,;:()[]{}'\"`", r) }) {
				if strings.ContainsAny(w, "0123456789") {
					keep(c.own, strings.Trim(w, "."), 2)
				}
			}
		}
		return
	}
	var walk func(v *origin.Value, depth int)
	walk = func(v *origin.Value, depth int) {
		for i := range v.Kids {
			k := &v.Kids[i]
			if k.Shape != origin.Scalar {
				if depth < 2 {
					walk(k, depth+1)
				}
				continue
			}
			w := nameWords(k.Key)
			if len(w) == 0 {
				continue
			}
			switch w[len(w)-1] {
			case "id", "ts", "number", "key", "sha", "ref", "branch", "iid", "slug", "uuid", "gid", "name", "url", "link", "permalink", "href":
				keep(c.own, k.Text, 1)
			}
		}
	}
	walk(&v, 0)
}

func keep(set map[string]bool, value string, shortest int) {
	if n := origin.Normal(value); len(n) >= shortest && len(n) <= 4096 && len(set) < 4096 {
		set[n] = true
	}
}

func tellsMore(content string, args []leaf) bool {
	known := map[string]bool{}
	for _, l := range args {
		for _, t := range tokens(l.text) {
			known[t] = true
		}
	}
	for line := range strings.FieldsFuncSeq(content, func(r rune) bool { return strings.ContainsRune("\n\r.!?;", r) }) {
		n := 0
		for _, t := range tokens(line) {
			if !known[t] && !strings.ContainsAny(t, "0123456789") {
				n++
			}
		}
		if n > 7 {
			return true
		}
	}
	return false
}

var readers = set("read open view cat load show display head tail download")

// bodies are things whose content somebody wrote as a whole.
var bodies = set("content contents text document doc page webpage body transcript file ocr article snapshot markdown html pdf")

func (c *Context) document(m *meaning.Meaning, args map[string]any) bool {
	for _, w := range nameWords(c.names[m.Tool]) {
		switch w {
		case "search", "list", "find", "query":
			return false
		}
	}
	if m.Reaches {
		return true
	}
	for _, w := range nameWords(c.names[m.Tool]) {
		if bodies[w] {
			return true
		}
	}
	for k, v := range args {
		text, ok := v.(string)
		if !ok {
			continue
		}
		p := m.Resolve(k, text)
		if p.Kind == meaning.URL || startsURL(text) || addressed(k) || p.Kind == meaning.Path && readers[m.Verb] {
			return true
		}
	}
	return false
}

var addressNames = set("url uri link href website webhook endpoint site webpage domain host hostname")

func addressed(path string) bool {
	for _, x := range nameWords(path) {
		if addressNames[stem(x)] {
			return true
		}
	}
	return false
}

func startsURL(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "www.") || strings.Contains(s, "://")
}
