package conversation

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// Harnesses hand on what models and tools wrote inside other texts: a task with a heading,
// a summary between two sentences, with the white space changed. So texts are also known by
// their runs of words, each by a hash under a key.

const (
	// runLength is how many words make a run.
	runLength = 5
	// maxNoted bounds what of one text is noted, and looked at.
	maxNoted = 1 << 20
)

// run is some words of a text that follow one another, by their hash, and where they stand.
type run struct {
	hash       uint64
	start, end int
}

// keyed makes hashes that nobody without the key can aim at or try texts against.
type keyed struct {
	start  uint64       // of words: nobody outside knows which runs are kept
	block  cipher.Block // makes what is kept of a run
	secret [32]byte     // of whole contents
}

// newKeyed draws a key where none is given: then nothing can be known again after a restart.
func newKeyed(key []byte) *keyed {
	if len(key) == 0 {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // it never fails
	}
	derive := func(use string) []byte {
		h := hmac.New(sha256.New, key)
		_, _ = h.Write([]byte("conversation " + use)) // a hash never fails
		return h.Sum(nil)
	}
	block, _ := aes.NewCipher(derive("runs")) // the key is as long as it must be
	return &keyed{start: binary.LittleEndian.Uint64(derive("words")), block: block, secret: [32]byte(derive("contents"))}
}

// tenant is what a tenant's name is mixed into hashes as.
func (k *keyed) tenant(name string) uint64 {
	d := sha256.Sum256(append(append([]byte("tenant\x00"), k.secret[:]...), name...))
	return binary.LittleEndian.Uint64(d[:])
}

// tag is what a whole content of a tenant is known by.
func (k *keyed) tag(tenant uint64, kind engine.RecalledKind, d tool.Digest) (out [16]byte) {
	b := make([]byte, 0, 80)
	b = binary.LittleEndian.AppendUint64(append(b, k.secret[:]...), tenant)
	sum := sha256.Sum256(append(append(b, byte(kind)), d[:]...))
	copy(out[:], sum[:])
	return out
}

// sums are what runs of a tenant are kept as, in their order.
func (k *keyed) sums(tenant uint64, hashes []uint64) []uint64 {
	out := make([]uint64, len(hashes))
	buf := make([]byte, aes.BlockSize)
	for i, h := range hashes {
		binary.LittleEndian.PutUint64(buf, h)
		binary.LittleEndian.PutUint64(buf[8:], tenant)
		k.block.Encrypt(buf, buf)
		out[i] = binary.LittleEndian.Uint64(buf)
	}
	return out
}

// runs are the runs of words in a text, in order.
func (k *keyed) runs(text string) []run {
	text = text[:min(len(text), maxNoted)]
	all := make([]run, 0, len(text)/6) // about one for each word
	var last [runLength]run            // the words so far, in a ring
	n := 0
	k.words(text, func(word run) {
		last[n%runLength] = word
		if n++; n < runLength {
			return
		}
		hash := uint64(0)
		for i := range runLength { // from the oldest on: the order counts
			hash = mix(bits.RotateLeft64(hash, 17) ^ last[(n+i)%runLength].hash)
		}
		all = append(all, run{hash, last[n%runLength].start, word.end})
	})
	return all
}

// mix spreads the bits of a hash; the numbers are those of MurmurHash3's finish.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// words tells the hash of every word, in small letters, whatever stands between them.
func (k *keyed) words(text string, tell func(run)) {
	hash, size := k.start, 0
	add := func(b byte) { hash, size = (hash^uint64(b))*0x100000001b3, size+1 }
	begin := 0
	for i := 0; i <= len(text); {
		r, width := utf8.RuneError, 1
		if i < len(text) {
			if r = rune(text[i]); r >= utf8.RuneSelf {
				r, width = utf8.DecodeRuneInString(text[i:])
			}
		}
		if size == 0 {
			begin = i
		}
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			add(byte(r))
		case 'A' <= r && r <= 'Z':
			add(byte(r) + 'a' - 'A')
		case unspaced(r): // a word by itself: its script puts no blank between words
			if size > 0 {
				tell(run{mix(hash), begin, i})
				hash, begin = k.start, i
			}
			for _, b := range utf8.AppendRune(nil, r) {
				add(b)
			}
			tell(run{mix(hash), begin, i + width})
			hash, size = k.start, 0
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			for _, b := range utf8.AppendRune(nil, unicode.ToLower(r)) {
				add(b)
			}
		case size > 0:
			tell(run{mix(hash), begin, i})
			hash, size = k.start, 0
		}
		i += width
	}
}

// unspaced reports whether a letter is of a script that is written without blanks between words.
func unspaced(r rune) bool {
	return r >= 0xe00 && unicode.IsLetter(r) &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// sampled are the runs of a text that are kept, chosen by their own hash so that both sides
// choose the same, and one of how many that is. Short texts keep all.
func sampled(runs []run) (hashes []uint64, rate int) {
	hashes = make([]uint64, 0, len(runs))
	for _, r := range runs {
		hashes = append(hashes, r.hash)
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes) // a text that repeats itself has few
	switch n := len(hashes); {
	case n <= 64:
		return hashes, 1
	case n <= 2048:
		rate = 4
	case n <= 8192:
		rate = 8
	default:
		rate = 16
	}
	return slices.DeleteFunc(hashes, func(h uint64) bool { return h%uint64(rate) != 0 }), rate
}
