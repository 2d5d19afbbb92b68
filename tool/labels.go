package tool

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Labels are what the server of a result says of it in `_meta.ifc`: GitHub's MCP server, gateways of Microsoft's Agent Framework and this
// one do. The zero Labels say nothing. They are its own words: what they hold against the result counts, and what they say for it only
// where the policy takes the server's word.
type Labels struct {
	Integrity       string // trusted, untrusted
	Confidentiality string // public, private
	Readers         string // where it is private: those who may read it as well, one a line
}

// worst are labels that cannot be read.
var worst = Labels{Integrity: "?", Confidentiality: "?"}

// maxReaders is how many readers a label may name: of more it is nobody's.
const maxReaders = 1000

// LabelsIn are the labels of a result as MCP servers answer it, with those of the pieces of its content; none where there are none. One
// that cannot be read is the worst.
func LabelsIn(result []byte) Labels {
	var r struct {
		Meta    meta             `json:"_meta"`
		Content strictjson.Value `json:"content"`
	}
	if len(result) == 0 || result[0] != '{' || !bytes.Contains(result, []byte(`"ifc"`)) || strictjson.Unmarshal(result, &r) != nil {
		return Labels{}
	}
	return r.Meta.labels().And(LabelsOfContent(r.Content))
}

// meta is the metadata of a result, or of a piece of one, as far as it is looked at here.
type meta struct {
	IFC strictjson.Value `json:"ifc"`
}

func (m meta) labels() Labels {
	if len(m.IFC) == 0 {
		return Labels{}
	}
	return LabelsOf(m.IFC)
}

// LabelsOfContent are what the pieces of a content say against the whole: a piece speaks for nothing but itself.
func LabelsOfContent(content []byte) Labels {
	var pieces []struct {
		Meta meta `json:"_meta"`
	}
	if !bytes.Contains(content, []byte(`"ifc"`)) || strictjson.Unmarshal(content, &pieces) != nil {
		return Labels{}
	}
	var l Labels
	for _, p := range pieces {
		l = l.And(p.Meta.labels().against())
	}
	return l
}

// LabelsOf are the labels in the value of `_meta.ifc`: two members, or such pairs by the path of what they are about, of which "$" is the
// whole.
func LabelsOf(ifc []byte) Labels {
	var members map[string]strictjson.Value
	if strictjson.Unmarshal(ifc, &members) != nil {
		return worst
	}
	l := pair(members["integrity"], members["confidentiality"])
	for _, path := range slices.Sorted(maps.Keys(members)) {
		if !strings.HasPrefix(path, "$") {
			continue
		}
		var p struct {
			Integrity       strictjson.Value `json:"integrity"`
			Confidentiality strictjson.Value `json:"confidentiality"`
		}
		if strictjson.Unmarshal(members[path], &p) != nil {
			return worst
		}
		said := pair(p.Integrity, p.Confidentiality)
		if path != "$" {
			said = said.against()
		}
		l = l.And(said)
	}
	return l
}

// pair reads the two halves of a label. Who may read a result is a word or a list: ["public"], or of those who may.
func pair(integrity, confidentiality []byte) Labels {
	l := Labels{Integrity: word(integrity)}
	if len(confidentiality) == 0 || confidentiality[0] != '[' {
		l.Confidentiality = word(confidentiality)
		return l
	}
	var list []string
	if strictjson.Unmarshal(confidentiality, &list) != nil {
		l.Confidentiality = worst.Confidentiality
		return l
	}
	if len(list) == 1 && list[0] == "public" {
		l.Confidentiality = "public"
		return l
	}
	l.Confidentiality, l.Readers = "private", lines(list)
	return l
}

// word is a half that is one word; "" where there is none.
func word(value []byte) string {
	var text string
	if len(value) == 0 {
		return ""
	}
	if strictjson.Unmarshal(value, &text) != nil || text == "" {
		return worst.Integrity
	}
	return text
}

// lines are readers, one a line; none where there are too many, or one that is no name.
func lines(list []string) string {
	if len(list) > maxReaders || slices.ContainsFunc(list, func(s string) bool { return strings.ContainsAny(s, "\r\n") }) {
		return ""
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "\n")
}

// And are the labels of something that both are about: the worse of each half, and who may read by both.
func (l Labels) And(o Labels) Labels {
	if !l.Untrusted() && o.Integrity != "" {
		l.Integrity = o.Integrity
	}
	switch {
	case l.Private() && o.Private():
		both := l.Names()
		both = slices.DeleteFunc(both, func(s string) bool { return !slices.Contains(o.Names(), s) })
		l.Readers = strings.Join(both, "\n")
	case !l.Private() && o.Confidentiality != "":
		l.Confidentiality, l.Readers = o.Confidentiality, o.Readers
	}
	return l
}

// against is what the labels hold against something.
func (l Labels) against() Labels {
	if !l.Untrusted() {
		l.Integrity = ""
	}
	if !l.Private() {
		l.Confidentiality = ""
	}
	return l
}

// Names are those who may read a result that is private besides its user.
func (l Labels) Names() []string {
	if l.Readers == "" {
		return nil
	}
	return strings.Split(l.Readers, "\n")
}

// Untrusted reports whether the labels speak against the result: any word for its integrity but the good one.
func (l Labels) Untrusted() bool { return l.Integrity != "" && l.Integrity != "trusted" }

// Trusted reports whether they say that nobody else has a part in it.
func (l Labels) Trusted() bool { return l.Integrity == "trusted" }

// Private reports whether they keep it from others: any word for its confidentiality but the open one.
func (l Labels) Private() bool { return l.Confidentiality != "" && l.Confidentiality != "public" }

// Public reports whether they say that anybody may read it.
func (l Labels) Public() bool { return l.Confidentiality == "public" }
