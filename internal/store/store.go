// Package store holds what every store of the log has in common: the rows its
// queries answer with, how events become records, and the check that finds every
// break in a log. It is pure: no I/O, no clock, no goroutines.
//
// A monitor needs no more of a store than engine.Store: package memory is one that
// forgets, package sqlite one that does not. One of your own makes records with Encode,
// links them with audit.Next, and passes storetest.RunLog; one that also answers what the
// server's doors ask passes storetest.Run.
//
// Invariants:
//   - a record gets an ID that only grows, in the order of commits, with no gap;
//   - records committed together are one batch, and the ledger covers every batch;
//   - Check reports a log as whole if and only if a store could have written it.
package store

import (
	"fmt"

	"github.com/tidemark/tidemark/internal/audit"
)

// Pages are never larger than MaxLimit, and DefaultLimit long if nobody says.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Session is one line of the list of sessions.
type Session struct {
	Name      string `json:"name"`
	FirstTime int64  `json:"firstTime"` // of its first record, Unix nanoseconds
	LastTime  int64  `json:"lastTime"`  // of its last record, Unix nanoseconds
	Records   uint64 `json:"records"`
}

// Own begins the names of the logs that the monitor keeps for itself. They are no
// sessions and are not listed as such; they are chained, read and verified like any.
const Own = "tidemark:"

// RetentionLog is the log that says what was pruned of others, and what must not be.
const RetentionLog = Own + "retention"

// PairLogs begins the logs of which values people's names stand for. They hold what they said, so they are pruned like sessions.
const PairLogs = Own + "pairs:"

// SessionQuery asks for a page of sessions. The order is by creation, newest first:
// it is stable while sessions go on, so that no page repeats or skips one.
type SessionQuery struct {
	After  string // name of the last session of the page before; empty for the first page
	Prefix string // only names that start with this
	Limit  int    // 0 means DefaultLimit; never more than MaxLimit
	Own    bool   // the logs that the monitor keeps for itself, instead of sessions
}

// Turn is one line of the list of a session's turns, in the order they began.
type Turn struct {
	ID     string `json:"id"`
	Branch string `json:"branch,omitzero"`
	Time   int64  `json:"time"` // Unix nanoseconds
	Seq    uint64 `json:"seq"`  // of the record that began it
}

// Entry is a record with its place in the whole log.
type Entry struct {
	ID int64 `json:"id"`
	audit.Record
}

// EntryQuery asks for records of the whole log in the order they were committed.
type EntryQuery struct {
	After   int64  // ID of the last entry already seen; 0 for the start
	Session string // only this session, if set
	Kind    string // only this kind, if set; a rare kind costs a walk through the log
	Limit   int    // 0 means DefaultLimit; never more than MaxLimit
}

// Head is where the whole log stands. Written down somewhere the log's owner cannot
// reach, it is an anchor: nothing before it can change or vanish unnoticed.
type Head struct {
	Batch   uint64     `json:"batch"`   // commits so far
	Records int64      `json:"records"` // records so far, and the ID of the last one
	Hash    audit.Hash `json:"hash"`    // of the ledger
}

// Batch is one entry of the ledger: the records committed together.
type Batch struct {
	Number uint64
	First  int64 // ID of its first record
	Count  int64
	Hash   audit.Hash
}

// Head is where the log stood after the batch.
func (b Batch) Head() Head {
	return Head{Batch: b.Number, Records: b.First + b.Count - 1, Hash: b.Hash}
}

// Stats is the size of a log.
type Stats struct {
	Sessions int64 `json:"sessions"`
	Records  int64 `json:"records"`
	Bytes    int64 `json:"bytes"` // what the log takes up, files beside the main one included
}

// Break is one place where a log is not as it was written.
type Break struct {
	Session string `json:"session,omitzero"`
	Seq     uint64 `json:"seq,omitzero"`
	Batch   uint64 `json:"batch,omitzero"` // entry of the ledger, where that is what is wrong
	Problem string `json:"problem"`
}

// String is the break as a line for people.
func (b Break) String() string {
	switch {
	case b.Batch != 0:
		return fmt.Sprintf("batch %d: %s", b.Batch, b.Problem)
	case b.Seq != 0:
		return fmt.Sprintf("session %q: record %d: %s", b.Session, b.Seq, b.Problem)
	case b.Session == "":
		return b.Problem
	default:
		return fmt.Sprintf("session %q: %s", b.Session, b.Problem)
	}
}

// Report is what Check found.
type Report struct {
	Sessions int64   `json:"sessions"`
	Records  int64   `json:"records"`
	Head     Head    `json:"head"` // to be written down as an anchor
	Pruned   Pruned  `json:"pruned,omitzero"`
	Breaks   []Break `json:"breaks"`
}

// Pruned is what is no longer in a log, as the log itself says.
type Pruned struct {
	Sessions int64            `json:"sessions"` // something was taken out of
	Records  int64            `json:"records"`  // of them
	Bytes    int64            `json:"bytes"`    // that were taken out
	What     map[string]int64 `json:"what"`     // how many records lost what: content, arguments, previews, events
}

// IsZero reports whether nothing was taken out.
func (p Pruned) IsZero() bool { return p.Records == 0 && len(p.What) == 0 }

// OK says that nothing is wrong.
func (r Report) OK() bool { return len(r.Breaks) == 0 }

// Err is nil for a whole log, and else wraps audit.ErrBroken and names the first break.
func (r Report) Err() error {
	if r.OK() {
		return nil
	}
	return fmt.Errorf("%w: %d places, the first: %v", audit.ErrBroken, len(r.Breaks), r.Breaks[0])
}

// Page is the number of rows to answer with for a wanted limit.
func Page(limit int) int {
	switch {
	case limit <= 0:
		return DefaultLimit
	case limit > MaxLimit:
		return MaxLimit
	}
	return limit
}
