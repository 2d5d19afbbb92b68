package trust

import (
	"cmp"
	"slices"
)

// MaxSources bounds the evidence a label carries. The least trusted and earliest
// sources are kept, so a join of bounded labels is still a join.
const MaxSources = 8

// Everybody is who may read what anybody may.
const Everybody = "everybody"

// Source names one thing that entered a context: evidence, not policy.
type Source struct {
	Level   Level  `json:"level"`
	Step    uint64 `json:"step"`              // when it came in, counted per session from 1
	Kind    string `json:"kind"`              // "message", "tool_result", "history", "sub_agent", …
	Tool    string `json:"tool,omitempty"`    // the tool that brought it
	Detail  string `json:"detail,omitempty"`  // the URL, path, sender: what a person recognises
	Excerpt string `json:"excerpt,omitempty"` // redacted, at most 100 characters
	Author  string `json:"author,omitempty"`  // who wrote it, where its server says so
	Readers string `json:"readers,omitempty"` // who may read it besides the user: everybody, or names; empty: nobody
}

func (s Source) compare(t Source) int {
	return cmp.Or(
		cmp.Compare(s.Level, t.Level), cmp.Compare(s.Step, t.Step), cmp.Compare(s.Kind, t.Kind),
		cmp.Compare(s.Tool, t.Tool), cmp.Compare(s.Detail, t.Detail), cmp.Compare(s.Excerpt, t.Excerpt),
		cmp.Compare(s.Author, t.Author), cmp.Compare(s.Readers, t.Readers))
}

// Label is what is known about a piece of content or a whole context.
type Label struct {
	Level       Level       `json:"level"`
	Sensitivity Sensitivity `json:"sensitivity"`
	Sources     []Source    `json:"sources,omitempty"` // sorted, unique, at most MaxSources; never changed in place
}

// Join is the label of content made from both: less trusted, more sensitive,
// standing on the sources of both. It allocates only when it learns a new source.
func (a Label) Join(b Label) Label {
	return Label{
		Level:       a.Level.Join(b.Level),
		Sensitivity: a.Sensitivity.Join(b.Sensitivity),
		Sources:     joinSources(a.Sources, b.Sources),
	}
}

// Covers reports whether content labelled b may be treated as a without losing
// anything: a is at least as distrusted and as sensitive.
func (a Label) Covers(b Label) bool {
	return a.Level.known() <= b.Level.known() && a.Sensitivity.known() >= b.Sensitivity.known()
}

func joinSources(a, b []Source) []Source {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	case len(a) == MaxSources && a[MaxSources-1].compare(b[0]) < 0:
		return a // everything b knows is less telling than what a already shows
	}
	out := make([]Source, 0, len(a)+len(b))
	out = append(append(out, a...), b...)
	slices.SortFunc(out, Source.compare)
	out = slices.Compact(out)
	out = out[:min(len(out), MaxSources)]
	switch {
	case slices.Equal(out, a):
		return a
	case slices.Equal(out, b):
		return b
	}
	return slices.Clone(out) // labels are kept for long, and half of out may be empty
}
