package warrant

import (
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/tool"
)

// Free is the word for a slot that a call does not have.
const Free = "free"

// Deeds are all deeds, in the order of their names' table.
func Deeds() []Deed {
	out := make([]Deed, NumDeeds)
	for i := range out {
		out[i] = Deed(i)
	}
	return out
}

// Kinds are all kinds of slots.
func Kinds() []Kind {
	out := make([]Kind, NumKinds)
	for i := range out {
		out[i] = Kind(i)
	}
	return out
}

// EvidenceNames are the names of the kinds of evidence, weakest first.
func EvidenceNames() []string { return append([]string(nil), evidenceNames[:]...) }

// EvidenceNamed is the evidence of a name; what is none is no evidence.
func EvidenceNamed(name string) Evidence {
	for i, n := range evidenceNames {
		if n == name {
			return Evidence(i)
		}
	}
	return Nothing
}

// DeedNamed is the deed of a name; what is none is not understood.
func DeedNamed(name string) Deed {
	for i, n := range deedNames {
		if n == name {
			return Deed(i)
		}
	}
	return Unknown
}

// KindNamed is the kind of slot of a name.
func KindNamed(name string) (Kind, bool) {
	for i, n := range kindNames {
		if n == name {
			return Kind(i), true
		}
	}
	return 0, false
}

// String is the warrant in one line: the deed, then each slot with its parameter and its
// evidence. It holds no value, and no name of a parameter that is more than a name.
func (w *Warrant) String() string {
	const most = 16 // slots; a list of many is one line all the same
	var room [128]byte
	out := append(room[:0], w.Deed.String()...)
	for i := range w.Slots {
		if i == most {
			return string(append(out, " …"...))
		}
		s := &w.Slots[i]
		out = append(append(out, ' '), s.Kind.String()...)
		if plainName(s.Path) {
			out = append(append(out, ':'), s.Path...)
		}
		out = append(append(out, '='), s.Has.String()...)
	}
	return string(w.depends(out))
}

// depends adds to a line which results the answer rests on.
func (w *Warrant) depends(out []byte) []byte {
	for i, d := range w.Depends {
		if i == 0 {
			out = append(out, " depends="...)
		} else {
			out = append(out, ',')
		}
		if plainName(d.Path) {
			out = append(out, d.Path...)
		}
		out = strconv.AppendUint(append(out, '@'), d.Step, 10)
	}
	return out
}

// plainName reports whether a parameter's name says nothing but where a value stands.
func plainName(path string) bool {
	if path == "" || len(path) > 40 {
		return false
	}
	for _, r := range path {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && !strings.ContainsRune("_.[]-", r) {
			return false
		}
	}
	return true
}

// DeedOf is what a tool does, as far as its name tells.
func DeedOf(name string) Deed {
	return deedOf(meaning.Of(tool.Definition{Name: name}))
}
