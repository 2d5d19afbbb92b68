package seal

import (
	"io"
	"slices"
	"strings"
)

// mark begins what a Ring sealed; base64 has no such sign.
const mark = "~"

// IsSealed reports whether a text is one that a Ring sealed.
func IsSealed(text string) bool { return strings.HasPrefix(text, mark) }

// Ring is the keys of one use, as far as they were needed. It is not safe for concurrent use.
type Ring struct {
	Use      string
	Operator []byte // empty: nothing is sealed, and nothing opened
	Random   io.Reader

	keys  map[string]*Key // by the form in which they are kept; nil: it cannot be opened
	fresh string
}

// Fresh is a key that was made and that nobody has kept yet, in the form in which it is to be; "" is none.
func (r *Ring) Fresh() string { return r.fresh }

// Kept says that the fresh key is kept.
func (r *Ring) Kept() { r.fresh = "" }

// Seal seals a text, which comes in parts, under the latest of the keys that are kept, or under one that is made now;
// "" where that cannot be done, or would be longer than most.
func (r *Ring) Seal(kept []string, most int, parts ...[]byte) string {
	if len(r.Operator) == 0 {
		return ""
	}
	latest := r.fresh
	if n := len(kept); latest == "" && n > 0 {
		latest = kept[n-1]
	}
	k := r.key(latest)
	if k == nil {
		var err error
		if k, latest, err = Make(r.Random, r.Operator, r.Use); err != nil {
			return ""
		}
		r.fresh, r.keys[latest] = latest, k
	}
	return k.within(mark, most, parts...)
}

// Open opens a text under whichever of the keys it is sealed; nil where none opens it.
func (r *Ring) Open(kept []string, text string) []byte {
	text = strings.TrimPrefix(text, mark)
	for _, one := range slices.Backward(append(slices.Clip(kept), r.fresh)) {
		if k := r.key(one); k != nil {
			if out, err := k.OpenText(text); err == nil {
				return out
			}
		}
	}
	return nil
}

// Standing is a key of a use that is kept nowhere: whoever has the operator's makes it again. What it seals is read as long as
// that key and the text are there; forgetting is taking the text out.
func Standing(operator []byte, use string) (*Key, error) {
	if len(operator) == 0 {
		return nil, ErrSealed
	}
	return newKey(derive(derive(operator, "standing keys"), use), use)
}

// Marked seals a text so that IsSealed knows it; "" where that would be longer than most.
func (k *Key) Marked(most int, text []byte) string { return k.within(mark, most, text) }

// OpenMarked opens what Marked sealed.
func (k *Key) OpenMarked(text string) ([]byte, error) {
	if !IsSealed(text) {
		return nil, ErrSealed
	}
	return k.OpenText(strings.TrimPrefix(text, mark))
}

// Before is how many bytes of room SealBytes needs before what it seals.
const Before = 12

// SealBytes seals bytes that stand for what the texts of the use say, under the latest of the keys that are kept; nil where there is none.
// They are not deflated, so that they are opened quickly, and no text is taken for them. It is done in their place, with Before bytes
// before them.
func (r *Ring) SealBytes(kept []string, b []byte) []byte {
	if len(kept) == 0 || r.fresh != "" {
		return nil // a key that nobody keeps opens nothing
	}
	k := r.key(kept[len(kept)-1])
	if k == nil || k.aead.NonceSize() != Before || len(b) < Before {
		return nil
	}
	if _, err := io.ReadFull(r.Random, b[:Before]); err != nil {
		return nil
	}
	return k.aead.Seal(b[:Before], b[:Before], b[Before:], append([]byte(bytesOf), k.use...))
}

// OpenBytes opens what SealBytes sealed, in its place if there is one key; nil where none of the keys does.
func (r *Ring) OpenBytes(kept []string, b []byte) []byte {
	for _, one := range slices.Backward(kept) {
		k := r.key(one)
		if k == nil || len(b) < Before {
			continue
		}
		var room []byte
		if len(kept) == 1 {
			room = b[Before:Before]
		}
		if out, err := k.aead.Open(room, b[:Before], b[Before:], append([]byte(bytesOf), k.use...)); err == nil {
			return out
		}
	}
	return nil
}

// bytesOf begins the name of a use for bytes; no use has a zero in it.
const bytesOf = "bytes of\x00"

func (r *Ring) key(kept string) *Key {
	if r.keys == nil {
		r.keys = map[string]*Key{}
	}
	k, known := r.keys[kept]
	if !known && kept != "" && len(r.Operator) > 0 {
		k, _ = Open(r.Operator, r.Use, kept) // of another operator's: what it sealed is lost
		r.keys[kept] = k
	}
	return k
}
