package conversation

import (
	"hash/maphash"
	"slices"
	"unicode"
	"unicode/utf8"
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

// runKey is a run of words of one tenant: the hash of the run, with that of the tenant's
// name mixed in.
type runKey uint64

func (f *Follower) runKeys(tenant string) func(run uint64) runKey {
	whose := maphash.String(f.seed, tenant)
	return func(run uint64) runKey { return runKey((run ^ whose) * spread) }
}

// runs are the hashes of the runs of words in a text, in order.
func (f *Follower) runs(text string) []uint64 {
	text = text[:min(len(text), maxNoted)]
	all := make([]uint64, 0, len(text)/6) // about one for each word
	var last [runLength]uint64            // the words so far, in a ring
	n := 0
	f.words(text, func(word uint64) {
		last[n%runLength] = word
		if n++; n < runLength {
			return
		}
		run := uint64(0)
		for i := range uint64(runLength) { // from the oldest on: the order counts
			run = (run ^ last[(uint64(n)+i)%runLength]) * spread
			run ^= run >> 32
		}
		all = append(all, run)
	})
	return all
}

// spread is an odd number with bits everywhere (the golden ratio's). The hashes it mixes are
// keyed, so it need not be secret.
const spread = 0x9e3779b97f4a7c15

// words tells the hash of every word, in small letters, whatever stands between them.
func (f *Follower) words(text string, tell func(uint64)) {
	word := make([]byte, 0, 64)
	for i := 0; i <= len(text); {
		r, size := utf8.RuneError, 1
		if i < len(text) {
			if r = rune(text[i]); r >= utf8.RuneSelf {
				r, size = utf8.DecodeRuneInString(text[i:])
			}
		}
		i += size
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			word = append(word, byte(r))
		case 'A' <= r && r <= 'Z':
			word = append(word, byte(r)+'a'-'A')
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			word = utf8.AppendRune(word, unicode.ToLower(r))
		case len(word) > 0:
			tell(maphash.Bytes(f.seed, word))
			word = word[:0]
		}
	}
}

func kept(hash uint64) bool { return hash%everyNth == 0 }

// note remembers the runs of a text that a model or a tool wrote.
func (f *Follower) note(tenant, text string, m memory) {
	all := f.runs(text)
	slices.Sort(all)
	all = slices.Compact(all) // a text that repeats itself has few
	if len(all) == 0 {
		return
	}
	shared, key := &m, f.runKeys(tenant)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range all {
		if len(all) > shortText && !kept(h) {
			continue
		}
		if old, ok := f.written.get(key(h)); ok && old.label.Covers(m.label) {
			continue // somebody less trusted wrote it too
		}
		f.written.put(key(h), shared)
	}
}

// resembles finds who wrote most of a text.
func (f *Follower) resembles(tenant, text string) (memory, bool) {
	all := f.runs(text)
	found, looked, out := 0, 0, memory{label: nothing()}
	key := f.runKeys(tenant)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range all {
		m, ok := f.written.get(key(h))
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
