package warrant

import (
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
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
	return deedOf(toolinfo.Of(tool.Definition{Name: name}))
}

// repeats reports whether a call was made before and does nothing more.
func (j *judging) repeats() bool {
	once := j.w.Deed == Delete || j.w.Deed == Grant || j.w.Deed == Change || j.w.Deed == Tidy // to send once more is another letter
	t := j.c.done[j.m.Tool]
	return t != nil && once && t.again(j.w.Deed, j.args)
}

// used reports whether the items for a tool are spent.
func (j *judging) used(m *mandate.Mandate) bool {
	if j.repeats() {
		return false
	}
	most, since := 0, len(j.c.said)
	for i := range m.Items {
		it := &m.Items[i]
		if it.Tool == j.m.Tool {
			since = min(since, it.Message) // what an earlier message ordered may be done already
		}
		switch {
		case it.Tool != j.m.Tool:
		case it.Per != "":
			most += maxEach
		case it.Times == 0 && j.w.Deed == Send: // a letter to each of whom it names
			most += max(1, j.whom(it))
		case it.Times == 0 && !j.w.Deed.grave():
			most += maxUnsaid
		default:
			most += max(1, it.Times)
		}
	}
	return most > 0 && j.c.times(j.m.Tool, since) >= most
}

// whom is how many an item names as whom the act reaches.
func (j *judging) whom(it *mandate.Item) int {
	most := 0
	for name, list := range it.Args {
		if p, ok := j.m.Param(name); ok && p.Role == toolinfo.Target || !ok && j.m.Resolve(name, "").Role == toolinfo.Target {
			n := 0
			for i := range list {
				n += len(list[i].What)
			}
			most = max(most, n)
		}
	}
	return most
}

// toldSo reports whether as many letters came about for whom a call reaches as items hold it: the next is another one.
func (j *judging) toldSo(m *mandate.Mandate, call *mandate.Call, w world, values []arguments.Leaf) bool {
	n := j.c.reachedOnce[reached(j.m, values)]
	if j.w.Deed != Send || n == 0 {
		return false
	}
	holding := 0
	for i := range m.Items {
		it := &m.Items[i]
		if it.Tool != call.Tool || len(m.Hold(it, call, w, j.c.records.All())) > 0 {
			continue
		}
		if it.Per != "" || it.Times > 1 {
			return false
		}
		holding++
	}
	return holding > 0 && n >= holding
}

// maxUnsaid bounds how often something that can be undone is done where nobody said how often.
const maxUnsaid = 10

// maxEach bounds how often something is done for the entries of a list.
const maxEach = 100
