// Package audit is the hash chain that makes a log tamper-evident. It is pure and
// imports nothing of ours.
//
// Invariants:
//   - each record's hash covers the hash before it and every field, length-prefixed;
//   - sequence numbers of a session start at 1 and have no gap;
//   - Verify accepts a chain if and only if Next could have made it, and Prune have taken from it.
package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
)

// Hash is a link of the chain; the zero Hash is the start of every chain.
type Hash [sha256.Size]byte

// String is the hash in hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// AppendText writes hex behind b.
func (h Hash) AppendText(b []byte) ([]byte, error) { return hex.AppendEncode(b, h[:]), nil }

// MarshalText writes hex.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// Record is one entry of a session's log.
type Record struct {
	Session string `json:"session"`
	Seq     uint64 `json:"seq"`
	Time    int64  `json:"time"` // Unix nanoseconds
	Kind    string `json:"kind"`
	Body    []byte `json:"body"` // JSON
	Hash    Hash   `json:"hash"`

	// Pruned is set where the body is not the one that was written: it covers what was left of it. Hash is
	// still that of the whole record, so that the chain goes on.
	Pruned Hash `json:"pruned,omitzero"`
}

// Head is where a chain stands.
type Head struct {
	Seq  uint64
	Hash Hash
}

// Next links rec to the chain: it sets Seq and Hash, and returns the new head.
func Next(head Head, rec *Record) Head {
	rec.Seq = head.Seq + 1
	rec.Hash = link(head.Hash, rec)
	return Head{Seq: rec.Seq, Hash: rec.Hash}
}

func link(prev Hash, rec *Record) Hash {
	var stack [1024]byte
	b := append(stack[:0], prev[:]...)
	b = binary.AppendUvarint(b, rec.Seq)
	b = binary.AppendVarint(b, rec.Time)
	b = appendField(b, rec.Session)
	b = appendField(b, rec.Kind)
	b = binary.AppendUvarint(b, uint64(len(rec.Body)))
	b = append(b, rec.Body...)
	return sha256.Sum256(b)
}

func appendField(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// ErrBroken is in every error that says the log was changed.
var ErrBroken = errors.New("audit chain broken")

// Verify walks one session's records from head (the zero Head for a whole chain)
// and returns where the chain ends. The error names the first record that does not fit.
func Verify(head Head, records iter.Seq2[Record, error]) (Head, error) {
	for rec, err := range records {
		if err != nil {
			return head, err
		}
		if rec.Seq != head.Seq+1 {
			return head, fmt.Errorf("%w: session %q: record %d follows %d", ErrBroken, rec.Session, rec.Seq, head.Seq)
		}
		if !Fits(head, &rec) {
			return head, fmt.Errorf("%w: session %q: record %d was changed", ErrBroken, rec.Session, rec.Seq)
		}
		head = Head{Seq: rec.Seq, Hash: rec.Hash}
	}
	return head, nil
}

// Ledger is the chain over commits: one entry covers the hashes of all records
// committed together, so that a whole session cannot vanish unnoticed.
func Ledger(prev Hash, batch uint64, records []Hash) Hash {
	h := sha256.New()
	h.Write(prev[:])
	var n [16]byte
	binary.BigEndian.PutUint64(n[:8], batch)
	binary.BigEndian.PutUint64(n[8:], uint64(len(records)))
	h.Write(n[:])
	for _, r := range records {
		h.Write(r[:])
	}
	return Hash(h.Sum(nil))
}

// Prune leaves only body of a linked record. Its hash stays, and the chain with it; that what is left is what
// somebody meant to leave is shown by Pruned, and that they did by whoever recorded it.
func Prune(rec *Record, body []byte) {
	rec.Body = body
	rec.Pruned = left(rec)
}

// left covers what is left of a pruned record.
func left(rec *Record) Hash {
	b := append([]byte("pruned"), rec.Hash[:]...)
	return link(Hash(sha256.Sum256(b)), rec)
}

// Fits reports whether a record is the one after head, as it was written or as it was pruned.
func Fits(head Head, rec *Record) bool {
	switch {
	case rec.Seq != head.Seq+1:
		return false
	case rec.Pruned != (Hash{}):
		return left(rec) == rec.Pruned
	}
	return link(head.Hash, rec) == rec.Hash
}

// Remainder covers all pruned records of a session, in their order: the Remainder before and the next of them.
func Remainder(before Hash, rec *Record) Hash {
	b := append(before[:len(before):len(before)], rec.Pruned[:]...)
	b = binary.AppendUvarint(b, rec.Seq)
	return sha256.Sum256(b)
}
