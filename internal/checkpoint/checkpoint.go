// Package checkpoint brings a conversation back that is no longer in memory: from the steps that its log keeps, or from a checkpoint, which
// is the same conversation packed and sealed, and what the log has since.
//
// Invariants:
//   - the log is the truth. A checkpoint counts only where the log has, at the place where it was taken, the record that it was taken at
//     (by its hash), and where nothing was taken out of the log since: what was pruned is in no checkpoint that is used;
//   - a checkpoint is sealed with the session's own key, which stands in its log: it opens for no other session and no other operator, not
//     when a byte of it was changed, and not when the key was pruned;
//   - one that another program wrote, or an earlier form of this one, is none.
//
// It is pure: the log and the place of checkpoints are handed in.
package checkpoint

import (
	"context"
	"encoding/base64"
	"iter"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/base/seal"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
)

// Step is what the log kept of what came in with a record, and the tool that brought it.
type Step struct {
	Seq  uint64
	Tool string
	Told []byte // nil: it cannot be read, and is lost
}

// Steps are what a log kept for judgement in the records at some places, in order. Records are those from the first of them on. Some of it
// may be hashes, or cannot be read; the rest was sealed under one of the keys, and is known as it was.
func Steps(records iter.Seq2[audit.Record, error], at []uint64, ring *seal.Ring, keys []string) (out []Step, hashed bool, err error) {
	if len(at) == 0 {
		return nil, false, nil
	}
	for rec, err := range records {
		if err != nil {
			return nil, false, err
		}
		if rec.Seq != at[0] {
			continue
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return nil, false, err
		}
		step := Step{Seq: rec.Seq}
		var text string
		if step.Tool, text = e.Trace(); seal.IsSealed(text) {
			step.Told = ring.Open(keys, text)
			hashed = hashed || step.Told == nil
		} else if raw, err := base64.RawStdEncoding.DecodeString(text); err == nil && !warrant.IsExact(raw) {
			step.Told, hashed = raw, true
		} else {
			hashed = true
		}
		out = append(out, step)
		if at = at[1:]; len(at) == 0 {
			return out, hashed, nil
		}
	}
	return append(out, Step{Seq: at[0]}), true, nil // the log is shorter than it was
}

// version is the first byte of a checkpoint. It changes with its form.
const version = 1

// Mark is where in its log a conversation was when a checkpoint of it was taken.
type Mark struct {
	Session string
	At      uint64     // how many records there were
	Hash    audit.Hash // of the last of them
	Program string     // that wrote it: another one may read texts in another way
}

// Fit reports whether conversations of a session may be kept as checkpoints: what the log holds of it is whole, and its own. What a
// sub-agent works for stands in other logs.
func Fit(st *session.State) bool {
	return st.Version > 0 && !st.Traces.Lost && !st.Pruned && st.Parent == "" && len(st.Kin) == 0 && len(st.Keys) > 0
}

// Seal is a checkpoint, written into some room; nil where the conversation cannot be packed, or there is no key to seal it with.
func Seal(m Mark, c *warrant.Context, room *pack.Writer, ring *seal.Ring, keys []string) []byte {
	room.Reset(seal.Before)
	room.Uint(version)
	room.Text(m.Program)
	room.Text(m.Session)
	room.Uint(m.At)
	room.Bytes(m.Hash[:])
	if !c.Pack(room) {
		return nil
	}
	return ring.SealBytes(keys, room.Out())
}

// Open reads a checkpoint, whose bytes it uses up, into a conversation in which nothing was said yet. It is false where it is not one of
// this session and program, or not whole; then the conversation is of no use. Key is that of what was said and is known by hashes alone.
func Open(b []byte, is Mark, into *warrant.Context, key []byte, ring *seal.Ring, keys []string) (m Mark, ok bool) {
	r := pack.NewReader(ring.OpenBytes(keys, b))
	if r.Uint() != version {
		return Mark{}, false
	}
	m = Mark{Program: r.Text(), Session: r.Text(), At: r.Uint()}
	hash := r.Part()
	if len(hash) != len(m.Hash) || m.Session != is.Session || m.Program != is.Program || m.At == 0 || m.At > is.At {
		return Mark{}, false
	}
	copy(m.Hash[:], hash)
	return m, into.Unpack(r, key)
}

// Log is what is asked for the hash of a record.
type Log interface {
	Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error]
}

// hasher is a log that knows hashes without the records that they are of.
type hasher interface {
	HashAt(ctx context.Context, session string, at uint64) (audit.Hash, error)
}

// HashAt is the hash of a record; false where the log has none there.
func HashAt(ctx context.Context, log Log, session string, at uint64) (audit.Hash, bool) {
	if h, ok := log.(hasher); ok {
		hash, err := h.HashAt(ctx, session, at)
		return hash, err == nil && hash != audit.Hash{}
	}
	for rec, err := range log.Load(ctx, session, at-1) {
		return rec.Hash, err == nil && rec.Seq == at
	}
	return audit.Hash{}, false
}

// Follows reports whether a log goes on from a mark: records are those from the one on that it was taken at, up to so many, and what came
// after it can be told to the conversation. A contract is told with its message: one that was drawn later cannot be.
func (m Mark) Follows(records iter.Seq2[audit.Record, error], last uint64) bool {
	next := m.At
	for rec, err := range records {
		if err != nil || rec.Seq != next || next == m.At && rec.Hash != m.Hash {
			return false
		}
		if next > m.At && rec.Kind == string(event.ContractDrawn) {
			return false
		}
		if next == last {
			return true
		}
		next++
	}
	return false
}

// After are the places beyond a mark.
func (m Mark) After(at []uint64) []uint64 {
	for i, seq := range at {
		if seq > m.At {
			return at[i:]
		}
	}
	return nil
}
