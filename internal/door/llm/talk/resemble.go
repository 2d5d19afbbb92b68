package talk

import (
	"hash/maphash"
	"strings"
	"unicode"
)

// Harnesses hand on what models and tools wrote inside other texts: a task with a heading,
// a summary between two sentences, with the white space changed. So texts are also known by
// their runs of words.

const (
	// runLength is how many words make a run.
	runLength = 5
	// everyNth is how many of the runs are kept, chosen by their own hash, so that both sides
	// choose the same. Short texts keep all.
	everyNth = 4
	// shortText is a text of so few runs that all are kept.
	shortText = 64
	// maxNoted bounds what of one text is noted, and looked at.
	maxNoted = 128 << 10
)

type runKey struct {
	tenant string
	hash   uint64
}

// runs are the hashes of the runs of words in a text, in order, and whether each of them is
// one that every text keeps.
func (f *Follower) runs(text string) (all []uint64) {
	text = text[:min(len(text), maxNoted)]
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i := 0; i+runLength <= len(words); i++ {
		var h maphash.Hash
		h.SetSeed(f.seed)
		for _, w := range words[i : i+runLength] {
			_, _ = h.WriteString(w) // a hash never fails
			_ = h.WriteByte(' ')
		}
		all = append(all, h.Sum64())
	}
	return all
}

func kept(hash uint64) bool { return hash%everyNth == 0 }

// note remembers the runs of a text that a model or a tool wrote.
func (f *Follower) note(tenant, text string, m memory) {
	all := f.runs(text)
	if len(all) == 0 {
		return
	}
	shared := &m
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range all {
		if len(all) > shortText && !kept(h) {
			continue
		}
		key := runKey{tenant, h}
		if old, ok := f.written.get(key); ok && old.label.Covers(m.label) {
			continue // somebody less trusted wrote it too
		}
		f.written.put(key, shared)
	}
}

// resembles finds who wrote most of a text.
func (f *Follower) resembles(tenant, text string) (memory, bool) {
	all := f.runs(text)
	found, looked, out := 0, 0, memory{label: nothing()}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range all {
		m, ok := f.written.get(runKey{tenant, h})
		if !ok {
			// Of a long text only some runs were kept: a miss says something of those alone.
			if kept(h) {
				looked++
			}
			continue
		}
		looked++
		found++
		out = memory{out.label.Join(m.label), m.session}
	}
	return out, found > 0 && 2*found >= looked
}
