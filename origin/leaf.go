package origin

import "strings"

// role says what a field tells about its record.
type role uint8

const (
	plainRole role = iota
	nameRole       // who or what it is; a part of it is enough: "Bob" of "Bob Smith"
	titleRole      // what it is called; all of it, or several words
	idRole         // its number; all of it
)

// leaf is the path of a field inside its record, shared by all records of that form.
type leaf struct {
	up   uint32
	key  string
	role role
	kids map[string]uint32
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
	r := roleOf(key)
	if string(key) == string(listKey) {
		r = x.leaves[up].role
	}
	id := uint32(len(x.leaves))
	x.leaves[up].kids[string(key)] = id
	x.leaves = append(x.leaves, leaf{up: up, key: string(key), role: r})
	return id
}

// roleOf reads what a key says about its field.
func roleOf(key []byte) role {
	if string(key) == string(nameKey) {
		return nameRole
	}
	k := string(squeeze(key))
	if r, ok := roleWords[k]; ok {
		return r
	}
	switch {
	case strings.HasSuffix(k, "filename"), strings.HasSuffix(k, "title"), strings.HasSuffix(k, "subject"):
		return titleRole
	case strings.HasSuffix(k, "name"):
		return nameRole
	case len(key) > 2 && (strings.HasSuffix(string(key), "_id") || strings.HasSuffix(string(key), "Id") || strings.HasSuffix(string(key), "ID")):
		return idRole
	}
	return plainRole
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

var roleWords = map[string]role{
	"name": nameRole, "person": nameRole, "contact": nameRole, "sender": nameRole, "from": nameRole, "author": nameRole,
	"organizer": nameRole, "organiser": nameRole, "owner": nameRole, "vendor": nameRole, "company": nameRole,
	"organization": nameRole, "organisation": nameRole, "merchant": nameRole, "payee": nameRole, "beneficiary": nameRole,
	"customer": nameRole, "client": nameRole, "supplier": nameRole, "user": nameRole, "nickname": nameRole, "employee": nameRole,
	"title": titleRole, "subject": titleRole, "topic": titleRole, "headline": titleRole, "label": titleRole,
	"event": titleRole, "project": titleRole, "file": titleRole, "path": titleRole, "document": titleRole,
	"channel": titleRole, "repository": titleRole, "repo": titleRole, "hotel": titleRole, "product": titleRole,
	"id": idRole, "uuid": idRole, "number": idRole, "code": idRole, "reference": idRole, "ref": idRole, "sku": idRole,
}

// formWords are keys of forms rather than names of things; a map with one of them is no
// map by name.
var formWords = map[string]bool{
	"to": true, "cc": true, "bcc": true, "replyto": true, "recipient": true, "recipients": true, "email": true, "mail": true,
	"address": true, "phone": true, "mobile": true, "fax": true, "url": true, "link": true, "website": true, "homepage": true,
	"iban": true, "account": true, "href": true, "src": true, "self": true, "next": true, "prev": true, "first": true, "last": true,
	"primary": true, "secondary": true, "home": true, "work": true, "office": true, "billing": true, "shipping": true,
	"source": true, "target": true, "destination": true, "input": true, "output": true, "start": true, "end": true,
	"new": true, "old": true, "main": true, "default": true, "backup": true, "support": true, "admin": true, "payment": true,
}

// path writes where a segment stands: "[2].contact.email".
func (x *Index) path(c *corpus, s uint32) string {
	seg := c.segs[s]
	out := x.leafPath(seg.leaf, x.ordinalOf(c, s))
	for rec := seg.rec; rec != 0; rec = c.recs[rec].up {
		r := c.recs[rec]
		place := x.leafPath(r.leaf, -1)
		if r.index >= 0 {
			place += "[" + itoa(int(r.index)) + "]"
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
				out = "[" + itoa(item) + "]" + out
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
