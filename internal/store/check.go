package store

import (
	"fmt"
	"iter"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
)

// Log is a log to be checked, as it stood at one moment. An entry whose session has
// no name any more is given with an empty one.
type Log interface {
	BySession() iter.Seq2[Entry, error] // every record, by session and then sequence number
	ByID() iter.Seq2[Entry, error]      // every record, by ID; bodies may be left out
	Batches() iter.Seq2[Batch, error]   // the ledger, by number
	Empty() iter.Seq2[string, error]    // sessions that have no record
	Size() int64                        // about how many records there are, for the progress
}

// Check walks the whole log and reports every break. The error is for a log that
// could not be read, not for one that is broken. Progress may be nil.
func Check(log Log, progress func(done, total int64)) (Report, error) {
	c := checker{progress: progress, total: 2 * log.Size(), left: map[string]*remainder{}, told: map[string]*event.Pruning{}}
	for _, step := range []func(Log) error{c.chains, c.empty, c.ledger} {
		if err := step(log); err != nil {
			return Report{}, err
		}
	}
	c.tell(true)
	return c.report, nil
}

type checker struct {
	report      Report
	progress    func(done, total int64)
	done, total int64

	left map[string]*remainder     // of sessions that something was taken out of
	told map[string]*event.Pruning // what was recorded of that last
}

// stride is the number of records between two calls of progress.
const stride = 1024

func (c *checker) step() {
	c.done++
	c.tell(c.done%stride == 0)
}

func (c *checker) tell(now bool) {
	if now && c.progress != nil {
		c.progress(c.done, max(c.done, c.total))
	}
}

func (c *checker) found(b Break) { c.report.Breaks = append(c.report.Breaks, b) }

// chains checks the chain of every session.
func (c *checker) chains(log Log) error {
	var session string
	var head audit.Head
	started := false
	for e, err := range log.BySession() {
		if err != nil {
			return err
		}
		c.step()
		c.report.Records++
		if !started || e.Session != session {
			started, session, head = true, e.Session, audit.Head{}
			c.report.Sessions++
			if session == "" {
				c.found(Break{Problem: "a session has lost its name: its records belong to nobody"})
			}
		}
		if session != "" {
			c.link(head, e.Record)
		}
		head = audit.Head{Seq: e.Seq, Hash: e.Hash}
		c.taken(&e.Record)
	}
	c.pruned()
	return nil
}

// link checks one record against the head before it. After a break the walk goes on
// from what is stored, so that one edit is not reported for everything behind it.
func (c *checker) link(head audit.Head, rec audit.Record) {
	want := rec
	audit.Next(head, &want)
	b := Break{Session: rec.Session, Seq: rec.Seq}
	switch {
	case rec.Seq > want.Seq:
		b.Seq, b.Problem = want.Seq, "missing"
		if rec.Seq-want.Seq > 1 {
			b.Problem = fmt.Sprintf("missing, and all up to record %d", rec.Seq-1)
		}
	case rec.Seq < want.Seq:
		b.Problem = fmt.Sprintf("out of place after record %d", head.Seq)
	case rec.Pruned != (audit.Hash{}) && !audit.Fits(head, &rec):
		b.Problem = "changed after it was pruned"
	case rec.Pruned == (audit.Hash{}) && rec.Hash != want.Hash:
		b.Problem = "changed, or the record before it was"
	default:
		return
	}
	c.found(b)
}

func (c *checker) empty(log Log) error {
	for name, err := range log.Empty() {
		if err != nil {
			return err
		}
		c.found(Break{Session: name, Problem: "all its records are missing"})
	}
	return nil
}

// ledger checks that every batch is there and covers exactly its records.
func (c *checker) ledger(log Log) error {
	next, stop := iter.Pull2(log.ByID())
	defer stop()
	last := Batch{First: 1} // the batch before the first one
	e, err, more := next()
	var hashes []audit.Hash
	for b, batchErr := range log.Batches() {
		if batchErr != nil {
			return batchErr
		}
		for ; more && err == nil && e.ID < b.First; e, err, more = next() {
			c.stray(e)
		}
		hashes = hashes[:0]
		for ; more && err == nil && e.ID-b.First < b.Count; e, err, more = next() {
			c.step()
			hashes = append(hashes, e.Hash)
		}
		if err != nil {
			return err
		}
		c.batch(last, b, hashes)
		last = b
	}
	for ; more && err == nil; e, err, more = next() {
		c.stray(e)
	}
	if last.Number > 0 {
		c.report.Head = last.Head()
	}
	return err
}

func (c *checker) stray(e Entry) {
	c.step()
	c.found(Break{Session: e.Session, Seq: e.Seq, Problem: "not in the ledger: added later, or its batch was removed"})
}

func (c *checker) batch(last, b Batch, hashes []audit.Hash) {
	found := func(format string, args ...any) {
		c.found(Break{Batch: b.Number, Problem: fmt.Sprintf(format, args...)})
	}
	if b.Number != last.Number+1 {
		// The hash before this batch is gone with its entry, so this one cannot be linked.
		c.found(Break{Batch: last.Number + 1, Problem: fmt.Sprintf("missing from the ledger, which goes on with batch %d", b.Number)})
		return
	}
	switch want := last.First + last.Count; {
	case b.First != want:
		found("starts at entry %d of the log instead of %d", b.First, want)
	case int64(len(hashes)) != b.Count:
		found("has %d records, %d were written", len(hashes), b.Count)
	case b.Hash != audit.Ledger(last.Hash, b.Number, hashes):
		found("does not match its records: one was changed, replaced or reordered")
	}
}
