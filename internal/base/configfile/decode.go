package configfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Decoder collects faults while a tree is turned into plain values. Its methods
// report what is wrong with a node and go on. The zero Decoder is ready.
type Decoder struct {
	Faults Faults
	// Foreign says that the file is another program's: its words are not ours to change, so there are no hints about former ones.
	Foreign bool
}

// Former is a key, or a word, that files had before. It is read as it was and told of with its place; schemas do not have it.
type Former struct {
	Name string
	Now  string      // what is written instead
	Read func(*Node) // of a key; nil: as the key Now of the same map
}

// Errorf reports an error.
func (d *Decoder) Errorf(at Pos, format string, args ...any) { d.Hintf(at, "", format, args...) }

// Hintf reports an error with a hint.
func (d *Decoder) Hintf(at Pos, hint, format string, args ...any) {
	d.Faults = append(d.Faults, Fault{Pos: at, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// Warnf reports a warning.
func (d *Decoder) Warnf(at Pos, format string, args ...any) {
	d.Faults = append(d.Faults, Fault{Pos: at, Severity: Warning, Message: fmt.Sprintf(format, args...)})
}

// Fields hands each entry of a map to the function of its key, in the order of
// the file, and reports keys that have none. An empty node has no entries.
func (d *Decoder) Fields(n *Node, fields map[string]func(*Node), former ...Former) {
	if n != nil && n.blank != nil {
		n.blankFields(fields)
		return
	}
	known := make([]string, 0, len(fields))
	for name := range fields {
		known = append(known, name)
	}
	for _, k := range d.Entries(n) {
		if f := fields[k.Name]; f != nil {
			f(k.Value)
			continue
		}
		if i := slices.IndexFunc(former, func(f Former) bool { return f.Name == k.Name }); i >= 0 {
			d.formerKey(n, k, former[i], fields)
			continue
		}
		d.Hintf(k.Pos, Suggest(k.Name, known), "unknown key %q%s", k.Name, within(n.Path))
	}
}

// formerKey reads a key that files had before. Beside the one that took its place it is one too many: nobody could say which holds.
func (d *Decoder) formerKey(n *Node, k Key, f Former, fields map[string]func(*Node)) {
	read := f.Read
	if read == nil {
		read = fields[f.Now]
		if n.Get(f.Now) != nil {
			d.Hintf(k.Pos, "keep "+f.Now, "%s is the former name of %s, which the file has too", join(n.Path, k.Name), f.Now)
			return
		}
	}
	d.Was(k.Pos, join(n.Path, k.Name), f.Now)
	read(k.Value)
}

// Nothing is what takes the place of a setting that has one good value.
const Nothing = "nothing: what it does by itself will do"

// Was tells of a key or a word that is read as it was.
func (d *Decoder) Was(at Pos, old, now string) {
	if !d.Foreign {
		d.Faults = append(d.Faults, Fault{Pos: at, Severity: Warning, Message: old + " is read as before", Hint: "write " + now})
	}
}

func within(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

// Entries are the entries of a map whose keys are free.
func (d *Decoder) Entries(n *Node) []Key {
	if n.Empty() || !d.want(n, Map) {
		return nil
	}
	if n.blank != nil {
		return n.blankEntries()
	}
	return n.Keys
}

// Items are the elements of a list.
func (d *Decoder) Items(n *Node) []*Node {
	if n.Empty() || !d.want(n, List) {
		return nil
	}
	if n.blank != nil {
		return n.blankItems()
	}
	return n.List
}

// want reports a node of another kind.
func (d *Decoder) want(n *Node, k Kind) bool {
	if n.blank != nil {
		n.blank.note(k)
		return true
	}
	if n.Kind == k {
		return true
	}
	what := n.Path
	if what == "" {
		what = "the file"
	}
	d.Errorf(n.Pos, "%s must be %s, not %s", what, k, n.Kind)
	return false
}

// Text is a string that is not empty.
func (d *Decoder) Text(n *Node) (string, bool) {
	if !d.want(n, String) {
		return "", false
	}
	if strings.TrimSpace(n.Text) == "" {
		d.Errorf(n.Pos, "%s must not be empty", n.Path)
		return "", false
	}
	return n.Text, true
}

// Texts are the strings of a list that are not empty; a single string is a list of one.
func (d *Decoder) Texts(n *Node) []*Node {
	if !n.Empty() && n.blank != nil {
		n.blank.note(String)
	}
	items := []*Node{n}
	if n.Empty() || n.Kind != String {
		items = d.Items(n)
	}
	var out []*Node
	for _, item := range items {
		if _, ok := d.Text(item); ok {
			out = append(out, item)
		}
	}
	return out
}

// Bool is true or false.
func (d *Decoder) Bool(n *Node) (value, ok bool) {
	if !d.want(n, Bool) {
		return false, false
	}
	return n.Bool, true
}

// Int is a whole number within bounds.
func (d *Decoder) Int(n *Node, low, high int64) (int64, bool) {
	if !d.want(n, Int) {
		return 0, false
	}
	if n.blank != nil {
		n.blank.bounds(float64(low), float64(high))
		return low, true
	}
	if n.Int < low || n.Int > high {
		d.Errorf(n.Pos, "%s must be from %d to %d, not %s", n.Path, low, high, n.Text)
		return 0, false
	}
	return n.Int, true
}

// Number is a number, whole or not, within bounds.
func (d *Decoder) Number(n *Node, low, high float64) (float64, bool) {
	if n.Kind != Int && !d.want(n, Float) {
		return 0, false
	}
	if n.blank != nil {
		n.blank.bounds(low, high)
		return low, true
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(n.Text, "_", ""), 64)
	if err != nil || !(v >= low && v <= high) {
		d.Errorf(n.Pos, "%s must be from %v to %v, not %s", n.Path, low, high, n.Text)
		return 0, false
	}
	return v, true
}

// Choice is the index of the one of the names the node holds.
func (d *Decoder) Choice(n *Node, names ...string) (int, bool) {
	if !d.want(n, String) {
		return 0, false
	}
	if n.blank != nil {
		n.blank.words = names
		return 0, len(names) > 0
	}
	for i, name := range names {
		if n.Text == name {
			return i, true
		}
	}
	d.Hintf(n.Pos, Suggest(n.Text, names), "%s must be %s, not %q", n.Path, orList(names), n.Text)
	return 0, false
}

// Word is Choice where files had other words before.
func (d *Decoder) Word(n *Node, names []string, former ...Former) (int, bool) {
	i := slices.IndexFunc(former, func(f Former) bool { return n.blank == nil && n.Kind == String && n.Text == f.Name })
	if i < 0 && d.Foreign && !slices.Contains(names, n.Text) { // told in the words that the other program knows
		names = slices.Clone(names)
		for _, f := range former {
			names[slices.Index(names, f.Now)] = f.Name
		}
	}
	if i < 0 {
		return d.Choice(n, names...)
	}
	d.Was(n.Pos, n.Path+": "+n.Text, former[i].Now)
	at := slices.Index(names, former[i].Now)
	return at, at >= 0
}

// orList writes "a, b or c".
func orList(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
