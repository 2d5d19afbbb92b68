package valueindex

import (
	"bytes"
	"strconv"
	"strings"
)

// leaf is the path of a field inside its record, shared by all records of that form.
type leaf struct {
	up     uint32
	key    string
	list   bool // of items
	author bool // the writer of the record names themselves in it
	kids   map[string]uint32
}

// Keys that stand for what has none. They cannot be written in content: a control
// character is no part of a key.
var (
	listKey = []byte("\x00[]")
	keyKey  = []byte("\x00key")
	nameKey = []byte("\x00name")
)

// maxLeaves bounds the different paths of one index; beyond it fields have no path and
// say nothing about their record.
const maxLeaves = 1 << 16

// countLimit bounds the search for a value's place in its list.
const countLimit = 1 << 12

// leaf finds or makes the path one key below another.
func (x *Index) leaf(up uint32, key []byte) uint32 {
	if id, ok := x.leaves[up].kids[string(key)]; ok {
		return id
	}
	if len(x.leaves) >= maxLeaves || len(key) > maxKey {
		return 0
	}
	if x.leaves[up].kids == nil {
		x.leaves[up].kids = map[string]uint32{}
	}
	id := uint32(len(x.leaves))
	x.leaves[up].kids[string(key)] = id
	x.leaves = append(x.leaves, leaf{up: up, key: string(key), list: string(key) == string(listKey), author: authors[string(squeeze(key))]})
	return id
}

// formKey reports a key of a form rather than the name of a thing.
func formKey(key []byte) bool {
	k := string(squeeze(key))
	if formWords[k] {
		return true
	}
	for _, end := range [...]string{"name", "title", "subject"} {
		if strings.HasSuffix(k, end) {
			return true
		}
	}
	for _, end := range [...]string{"_id", "Id", "ID"} {
		if bytes.HasSuffix(key, []byte(end)) {
			return true
		}
	}
	return false
}

// squeeze is a key without case and separators: "First Name", first_name, firstName.
func squeeze(key []byte) []byte {
	out := make([]byte, 0, len(key))
	for _, b := range key {
		switch roles[b] {
		case letter:
			out = append(out, b|0x20)
		case digit, high:
			out = append(out, b)
		}
	}
	return out
}

// authors are fields in which the writer of a record names themselves.
var authors = lists.Set("authors")

// formWords are keys of forms; a map with one of them is no map by name.
var formWords = lists.Set("form_words")

// path writes where a segment stands: "[2].contact.email".
func (x *Index) path(c *corpus, s uint32) string {
	seg := c.segs[s]
	out := x.leafPath(seg.leaf, x.ordinalOf(c, s))
	for rec := seg.rec; rec != 0; rec = c.recs[rec].up {
		r := c.recs[rec]
		place := x.leafPath(r.leaf, -1)
		if r.index >= 0 {
			place += "[" + strconv.Itoa(int(r.index)) + "]"
		}
		if place != "" && out != "" && out[0] != '[' {
			place += "."
		}
		out = place + out
	}
	return out
}

// ordinalOf counts the segments of the same path before s in its record; -1 where that
// would take long.
func (x *Index) ordinalOf(c *corpus, s uint32) int {
	n := 0
	first := c.recs[c.segs[s].rec].first
	if s-first > countLimit {
		return -1
	}
	for i := first; i < s; i++ {
		if c.segs[i].rec == c.segs[s].rec && c.segs[i].leaf == c.segs[s].leaf {
			n++
		}
	}
	return n
}

// leafPath writes a path inside a record; item is the place in its innermost list.
func (x *Index) leafPath(id uint32, item int) string {
	out := ""
	for ; id != 0; id = x.leaves[id].up {
		switch key := x.leaves[id].key; key {
		case string(listKey):
			if item >= 0 {
				out = "[" + strconv.Itoa(item) + "]" + out
				item = -1
			} else {
				out = "[]" + out
			}
		case string(keyKey), string(nameKey):
			out = ""
		default:
			if out != "" && out[0] != '[' {
				out = "." + out
			}
			out = key + out
		}
	}
	return out
}
