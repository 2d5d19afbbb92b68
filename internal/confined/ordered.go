package confined

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// What a call of the host's own file tool leaves is the host's word and not a box's: while a box is open in the same folder nobody else
// can tell who wrote a file. It is remembered for a while, and nowhere but in memory: after a restart nothing was ordered.

// Replaced is one replacement in a text: of the only place where Old stands, or of all.
type Replaced struct {
	Old string `json:"old"`
	New string `json:"new"`
	All bool   `json:"all,omitzero"`
}

// Ordered is what an allowed call does to one file.
type Ordered struct {
	Step  uint64
	Path  string
	Whole bool // it holds Text afterwards; else Edits are made in it
	Text  string
	Edits []Replaced
}

func (o *Ordered) size() int {
	n := len(o.Path) + len(o.Text)
	for _, e := range o.Edits {
		n += len(e.Old) + len(e.New)
	}
	return n
}

// OrderedBy is what a call of one of the host's file tools does, as far as its arguments say it whole; nil: nobody here can tell.
func OrderedBy(name string, args map[string]any, folder string, step uint64) []Ordered {
	var out []Ordered
	switch name {
	case "write", "edit":
		if o, ok := written(args); ok {
			out = []Ordered{o}
		}
	case "apply_patch":
		text, _ := args["patch"].(string)
		out = patched(text)
	}
	for i := range out {
		o := &out[i]
		if o.Step = step; !path.IsAbs(o.Path) {
			o.Path = path.Join(folder, o.Path)
		}
		if o.Path = path.Clean(o.Path); !path.IsAbs(o.Path) || o.size() > mostOfOrder {
			return nil
		}
	}
	return out
}

// The names by which agents' file tools call what they write.
var (
	wholes = []string{"content", "contents", "file_text"}
	olds   = []string{"old_string", "oldString", "old_str", "oldText", "old_text"}
	news   = []string{"new_string", "newString", "new_str", "newText", "new_text"}
	alls   = []string{"replace_all", "replaceAll", "change_all", "allow_multiple"}
)

// one is the only text of those names; false: there is none, or several.
func one(args map[string]any, names []string) (string, bool) {
	text, found := "", 0
	for _, name := range names {
		if s, ok := args[name].(string); ok {
			text = s
			found++
		}
	}
	return text, found == 1
}

func written(args map[string]any) (Ordered, bool) {
	o := Ordered{}
	name, ok := args["path"].(string)
	if o.Path = name; !ok || name == "" {
		return o, false
	}
	text, whole := one(args, wholes)
	edit, single := replaced(args)
	list, several := args["edits"].([]any)
	switch {
	case whole && !single && !several:
		o.Whole, o.Text = true, text
		return o, true
	case single && !whole && !several:
		o.Edits = []Replaced{edit}
		return o, true
	case several && !whole && !single:
		for _, e := range list {
			fields, _ := e.(map[string]any)
			edit, ok := replaced(fields)
			if !ok {
				return o, false
			}
			o.Edits = append(o.Edits, edit)
		}
		return o, len(o.Edits) > 0
	}
	return o, false
}

func replaced(args map[string]any) (Replaced, bool) {
	before, ok := one(args, olds)
	after, ok2 := one(args, news)
	r := Replaced{Old: before, New: after}
	for _, name := range alls {
		if yes, _ := args[name].(bool); yes {
			r.All = true
		}
	}
	return r, ok && ok2
}

// patched is what a patch of the form that agents use does; nil: there is something in it that is not known here.
func patched(text string) []Ordered {
	var p patch
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		if !p.line(strings.TrimSuffix(line, "\n")) {
			return nil
		}
	}
	if p.begun && p.over {
		return p.out
	}
	return nil
}

// patch is a patch that is being read.
type patch struct {
	out         []Ordered
	begun, over bool
	skip        bool // what follows is of a file that goes
}

func (p *patch) line(l string) bool {
	name, isName := "", false
	for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
		if rest, ok := strings.CutPrefix(l, mark); ok {
			name, isName = strings.TrimSpace(rest), true
			p.skip = strings.HasPrefix(mark, "*** Delete")
		}
	}
	switch {
	case p.over || !p.begun && l != "*** Begin Patch":
		return false
	case l == "*** Begin Patch":
		was := p.begun
		p.begun = true
		return !was
	case l == "*** End Patch":
		p.over = true
		return true
	case isName && p.skip:
		return name != ""
	case isName:
		p.out = append(p.out, Ordered{Path: name, Whole: strings.HasPrefix(l, "*** Add")})
		return name != ""
	}
	return !p.skip && len(p.out) > 0 && p.out[len(p.out)-1].patch(l)
}

// patch adds a line of a patch to what becomes of a file.
func (o *Ordered) patch(l string) bool {
	if o.Whole {
		rest, added := strings.CutPrefix(l, "+")
		o.Text += rest + "\n"
		return added
	}
	if strings.HasPrefix(l, "@@") {
		o.Edits = append(o.Edits, Replaced{})
		return true
	}
	if l == "*** End of File" {
		return true
	}
	if len(o.Edits) == 0 {
		o.Edits = append(o.Edits, Replaced{})
	}
	e := &o.Edits[len(o.Edits)-1]
	sign, rest := " ", ""
	if l != "" {
		sign, rest = l[:1], l[1:]
	}
	if sign != "+" && sign != "-" && sign != " " {
		return false
	}
	if sign != "+" {
		e.Old += rest + "\n"
	}
	if sign != "-" {
		e.New += rest + "\n"
	}
	return true
}

// How much is remembered: of one call, of one session when it is asked for, and in all.
const (
	mostOfOrder  = 256 << 10
	mostAsked    = 512 << 10
	mostOrders   = 10_000
	mostOrdered  = 16 << 20
	orderedEntry = 100 // what one takes besides its texts
)

// Orders is what allowed calls of file tools do, by session, the latest last. The oldest are forgotten when there is too much.
type Orders struct {
	mu   sync.Mutex
	list []noted // guarded by mu, as size
	size int
}

type noted struct {
	session string
	Ordered
}

// Note remembers what a call does.
func (o *Orders) Note(session string, list []Ordered) {
	if len(list) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range list {
		o.list = append(o.list, noted{session, list[i]})
		o.size += list[i].size() + orderedEntry
	}
	for len(o.list) > mostOrders || o.size > mostOrdered {
		o.size -= o.list[0].size() + orderedEntry
		o.list[0] = noted{} // its texts are not kept by the list
		o.list = o.list[1:]
	}
}

// Of is what calls of a session do, the latest last.
func (o *Orders) Of(session string) []Ordered {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []Ordered
	for i, size := len(o.list)-1, 0; i >= 0; i-- {
		if o.list[i].session != session {
			continue
		}
		if size += o.list[i].size(); size > mostAsked {
			break
		}
		out = append(out, o.list[i].Ordered)
	}
	slices.Reverse(out)
	return out
}
