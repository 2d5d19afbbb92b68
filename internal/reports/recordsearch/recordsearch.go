// Package recordsearch finds records of the log by what a person asks about: who, what, when, where.
//
// It reads a log that is handed in, and does no other I/O.
//
// Invariants:
//   - a page looks at a bounded part of the log, and says where the next one begins;
//   - a record that cannot be read is shown as such, and fits no filter about what it says.
package recordsearch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// Log is what is read. Ids begin with 1 and have no gaps.
type Log interface {
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
	Head(ctx context.Context) (store.Head, error)
}

// Filter is which records are wanted; what is empty fits everything.
type Filter struct {
	Kind    string
	Session string
	Prefix  string // how the session's name begins
	Tool    string // of a decision
	Effect  string // of a decision: allow, confine, confirm, deny
	Rule    string // of a decision, or how its name begins
	Person  string // who answered or acted: all of it (approver:ada), or the name alone
	Via     string // through which door they did
	Text    string // anywhere in the record, in any case

	From, To time.Time // To itself is not within
	Before   int64     // only records before this id; 0: up to the newest
}

// Opener opens the arguments of a call as a session's log keeps them, where they are sealed; "": it cannot. nil opens none.
type Opener func(session, kept string) string

// open has the arguments of a call read by whoever may.
func (o Opener) open(session string, e *event.Event) {
	if o != nil && e.Decided != nil {
		e.Decided.Args = o(session, e.Decided.Args)
	}
}

// Row is a record and what it says.
type Row struct {
	store.Entry
	event.Event
	Broken bool // it cannot be read
}

// fits looks at what is cheap first.
func (f *Filter) fits(e *store.Entry, ev *event.Event) bool {
	at := time.Unix(0, e.Time)
	switch {
	case f.Kind != "" && e.Kind != f.Kind, f.Session != "" && e.Session != f.Session, !strings.HasPrefix(e.Session, f.Prefix):
		return false
	case !f.From.IsZero() && at.Before(f.From), !f.To.IsZero() && !at.Before(f.To):
		return false
	case f.Text != "" && !has(string(e.Body), f.Text) && (ev.Decided == nil || !has(ev.Decided.Args, f.Text)):
		return false
	}
	if f.Tool+f.Effect+f.Rule != "" {
		d := ev.Decided
		if d == nil || f.Tool != "" && d.Tool != f.Tool || f.Effect != "" && d.Effect != f.Effect || f.Rule != "" &&
			!strings.HasPrefix(d.Rule, f.Rule) {
			return false
		}
	}
	return f.Person+f.Via == "" || f.by(ev)
}

// has reports whether a text stands in another, in any case.
func has(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func (f *Filter) by(ev *event.Event) bool {
	var by, via string
	switch {
	case ev.Answer != nil:
		by, via = ev.Answer.By, ev.Answer.Via
	case ev.Person != nil:
		by, via = ev.Person.By, ev.Person.Via
	default:
		return false
	}
	_, name, _ := strings.Cut(by, ":")
	return (f.Person == "" || by == f.Person || name == f.Person) && (f.Via == "" || via == f.Via)
}

// Time reads a time of a filter: a day, or RFC 3339; empty is none. As an end a day is all of it.
func Time(text string, end bool) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		if end {
			day = day.Add(24 * time.Hour)
		}
		return day, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no time: want 2026-03-01 or 2026-03-01T15:04:05Z", text)
	}
	return at, nil
}

// maxScan bounds how many records one page of a filter looks at.
const maxScan = 50_000

// Newest reads backwards from where the filter says, newest first. next is the Before of the
// page after it; 0: there is none. Rows have their arguments opened; what the record itself says stays as it is.
func Newest(ctx context.Context, log Log, open Opener, f *Filter, most int) (rows []Row, next int64, err error) {
	head, err := log.Head(ctx)
	if err != nil {
		return nil, 0, err
	}
	end := head.Records + 1
	if f.Before > 0 {
		end = min(end, f.Before)
	}
	for scanned := int64(0); end > 1 && scanned < maxScan; {
		from := max(0, end-1-store.MaxLimit)
		page, err := log.Since(ctx, store.EntryQuery{After: from, Limit: int(end - 1 - from)})
		if err != nil {
			return nil, 0, err
		}
		for i := len(page) - 1; i >= 0; i-- {
			r := Row{Entry: page[i]}
			var bad error
			if r.Event, bad = event.FromRecord(page[i].Record); bad != nil {
				r.Broken = true
			}
			open.open(r.Session, &r.Event)
			if f.fits(&r.Entry, &r.Event) {
				if rows = append(rows, r); len(rows) == most {
					return rows, page[i].ID, nil
				}
			}
		}
		scanned += end - 1 - from
		end = from + 1
	}
	if end <= 1 {
		end = 0
	}
	return rows, end, nil
}

// Each visits the records that fit, oldest first, however many there are.
func Each(ctx context.Context, log Log, f *Filter, progress func(done, total int64), visit func(*Row) error) error {
	head, err := log.Head(ctx)
	if err != nil {
		return err
	}
	q := store.EntryQuery{Session: f.Session, Kind: f.Kind, Limit: store.MaxLimit}
	for {
		page, err := log.Since(ctx, q)
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			if page[i].ID > head.Records {
				return nil // it came after the beginning
			}
			r := Row{Entry: page[i]}
			var bad error
			if r.Event, bad = event.FromRecord(page[i].Record); bad != nil {
				r.Broken = true
			}
			if !f.fits(&r.Entry, &r.Event) {
				continue
			}
			if err := visit(&r); err != nil {
				return err
			}
		}
		if q.After = page[len(page)-1].ID; progress != nil {
			progress(q.After, head.Records)
		}
	}
}

// Sealed is what the arguments of a call are that its record keeps sealed; "": it has none, or they cannot be opened.
func Sealed(e store.Entry, open Opener) string {
	ev, err := event.FromRecord(e.Record)
	if err != nil || ev.Decided == nil || !strings.HasPrefix(ev.Decided.Args, event.SealedMark) {
		return ""
	}
	return open(e.Session, ev.Decided.Args)
}
