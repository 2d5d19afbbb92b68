// Package seal keeps texts so that whoever has a key can read them and nobody else: deflated, and encrypted with
// AES-256-GCM. Each use has a key of its own, drawn by chance and itself sealed by the operator's: who deletes
// that has deleted everything that was sealed with it. It is pure: randomness is handed in.
//
// Invariant: what one key has sealed for a use is opened by no other key and for no other use.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"
)

// MaxText bounds the bytes of a text that is opened.
const MaxText = 64 << 20

const keySize = 32

// The first byte of what is sealed.
const (
	plain    = 0
	deflated = 1
)

// shortest is the length from which deflating a text is worth its time: it costs as much as a whole decision, and takes
// little off a short one.
const shortest = 512

// ErrSealed is returned for what cannot be opened: it is damaged, or of another key.
var ErrSealed = errors.New("it cannot be opened with this key")

// Key seals and opens the texts of one use. It is safe for concurrent use.
type Key struct {
	aead cipher.AEAD
	macs sync.Pool // of hash.Hash: what nonces are made with
	use  []byte
}

// Make draws a key for a use, and gives it as well in the form in which it is kept: sealed by the operator's key.
func Make(random io.Reader, operator []byte, use string) (k *Key, kept string, err error) {
	raw := make([]byte, keySize)
	if _, err := io.ReadFull(random, raw); err != nil {
		return nil, "", fmt.Errorf("draw a key: %w", err)
	}
	wrap, err := newKey(derive(operator, "keys of sessions"), use)
	if err != nil {
		return nil, "", err
	}
	if k, err = newKey(raw, use); err != nil {
		return nil, "", err
	}
	room := make([]byte, wrap.aead.NonceSize(), wrap.aead.NonceSize()+keySize+wrap.aead.Overhead())
	return k, base64.RawStdEncoding.EncodeToString(wrap.seal(append(room, raw...))), nil
}

// Open is the key of a use in the form in which it is kept.
func Open(operator []byte, use, kept string) (*Key, error) {
	sealed, err := base64.RawStdEncoding.DecodeString(kept)
	if err != nil {
		return nil, fmt.Errorf("open a key: %w", ErrSealed)
	}
	wrap, err := newKey(derive(operator, "keys of sessions"), use)
	if err != nil {
		return nil, err
	}
	raw, err := wrap.open(sealed)
	if err != nil || len(raw) != keySize {
		return nil, fmt.Errorf("open a key: %w", ErrSealed)
	}
	return newKey(raw, use)
}

func derive(key []byte, what string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(what))
	return h.Sum(nil)
}

func newKey(raw []byte, use string) (*Key, error) {
	block, err := aes.NewCipher(derive(raw, "text"))
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	mac := derive(raw, "place")
	return &Key{aead: aead, macs: sync.Pool{New: func() any { return hmac.New(sha256.New, mac) }}, use: []byte(use)}, nil
}

// Text seals a text, in base64.
func (k *Key) Text(text []byte) string { return k.within("", math.MaxInt, text) }

// within seals a text that comes in parts, in base64 behind a mark; "" where that is longer than most.
func (k *Key) within(mark string, most int, parts ...[]byte) string {
	code, nonce := base64.RawStdEncoding, k.aead.NonceSize()
	room := code.DecodedLen(most-len(mark)) - nonce - k.aead.Overhead()
	scratch := rooms.Get().(*[]byte) //nolint:forcetypeassert // nothing else is in the pool
	text := packed(*scratch, parts, nonce, room)
	if text == nil {
		rooms.Put(scratch)
		return ""
	}
	text = k.seal(text)          //nolint:gosec // the nonce stands before the text, drawn from it and the key
	all := append(text, mark...) // what is kept stands behind what it is made of
	all = code.AppendEncode(all, text)
	out := string(all[len(text):])
	if *scratch = all[:0]; cap(all) <= maxRoom {
		rooms.Put(scratch)
	}
	return out
}

// rooms are where texts are sealed. One that has grown large is not kept.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

const maxRoom = 64 << 10

// OpenText opens what Text sealed.
func (k *Key) OpenText(sealed string) ([]byte, error) {
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return nil, ErrSealed
	}
	if raw, err = k.open(raw); err != nil {
		return nil, err
	}
	return inflate(raw)
}

// seal encrypts a text that has room for the nonce before it, in place. The nonce is made of the text itself: the same
// text twice is the same twice, which tells no more than that, and no two others ever share one.
func (k *Key) seal(text []byte) []byte {
	n := k.aead.NonceSize()
	h := k.macs.Get().(hash.Hash) //nolint:forcetypeassert // nothing else is in the pool
	defer k.macs.Put(h)
	h.Reset()
	h.Write(text[n:])
	var sum [sha256.Size]byte
	copy(text[:n], h.Sum(sum[:0]))
	return k.aead.Seal(text[:n], text[:n], text[n:], k.use)
}

func (k *Key) open(sealed []byte) ([]byte, error) {
	n := k.aead.NonceSize()
	if len(sealed) < n {
		return nil, ErrSealed
	}
	text, err := k.aead.Open(nil, sealed[:n], sealed[n:], k.use)
	if err != nil {
		return nil, ErrSealed
	}
	return text, nil
}

// writers deflate; each holds as much memory as some sessions.
var writers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		return nil // the level is known
	}
	return w
}}

// packed is a text in some room, deflated where that makes it smaller, with so many bytes left free before it; nil where it
// is longer than most.
func packed(room []byte, parts [][]byte, before, most int) []byte {
	size := 1
	for _, p := range parts {
		size += len(p)
	}
	if size >= shortest {
		out := &bounded{b: slices.Grow(room[:0], before+min(size/2, max(most, 0)))[:before], most: before + min(size, most)}
		if deflate(out, parts) == nil {
			return out.b
		}
	}
	if size > most {
		return nil
	}
	out := append(slices.Grow(room[:0], before+size)[:before], plain)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func deflate(out *bounded, parts [][]byte) error {
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	if _, err := out.Write([]byte{deflated}); err != nil {
		return err
	}
	w.Reset(out)
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return w.Close()
}

// bounded takes so many bytes and no more.
type bounded struct {
	b    []byte
	most int
}

var errLong = errors.New("it is longer than it may be")

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.b)+len(p) > b.most {
		return 0, errLong
	}
	b.b = append(b.b, p...)
	return len(p), nil
}

func inflate(raw []byte) ([]byte, error) {
	switch {
	case len(raw) == 0:
		return nil, ErrSealed
	case raw[0] == plain:
		return raw[1:], nil
	case raw[0] != deflated:
		return nil, ErrSealed
	}
	r := flate.NewReader(bytes.NewReader(raw[1:]))
	text, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	if err != nil || len(text) > MaxText {
		return nil, ErrSealed
	}
	return text, nil
}
