// Package confined keeps the tickets of commands that may run in a box and nowhere else. Each has a log of its own, named
// after its hash: first what it is for, then that it was used, then that the command ended. The place of a record in that
// log is what makes a ticket good for one use, on every server and after every restart.
//
// Invariants:
//   - a ticket is never written down, only its hash;
//   - one use: the second record of a log can be written once;
//   - a log that cannot be read opens nothing.
package confined

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
	"github.com/tidemark/tidemark/tool"
)

// Logs begins the names of the logs of tickets.
const Logs = event.BoxLogs

// Life is how long a ticket can be used.
const Life = 10 * time.Minute

// Log is where tickets are kept. Append is durable when it returns nil, and Conflict is in its error where the log has moved
// on.
type Log interface {
	Append(ctx context.Context, session string, at uint64, events []*event.Event) error
	Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error]
}

// The refusals of a ticket.
var (
	ErrUnknown  = errors.New("there is no such ticket")
	ErrUsed     = errors.New("the ticket was used already")
	ErrLate     = errors.New("the ticket is too old")
	ErrOther    = errors.New("the ticket is for another command")
	ErrNotBegun = errors.New("nothing was begun with the ticket")
	ErrOver     = errors.New("the command of the ticket has ended")
	ErrBegun    = errors.New("the broker does not run the command of the ticket, or does not refuse so")
)

// Hash is what the log has of a ticket.
func Hash(ticket string) tool.Digest { return tool.DigestOf([]byte(ticket)) }

// Command is what a ticket has of a command line: its SHA-256.
func Command(line string) string {
	h := sha256.Sum256([]byte(line))
	return hex.EncodeToString(h[:])
}

// Tickets gives tickets and takes them back.
type Tickets struct {
	Log      Log
	Conflict error // in the error of a log that has moved on
}

// Give makes a ticket for what b says.
func (t Tickets) Give(ctx context.Context, random io.Reader, b event.Box, now int64) (ticket string, hash tool.Digest, err error) {
	var raw [16]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", hash, fmt.Errorf("draw a ticket: %w", err)
	}
	ticket = hex.EncodeToString(raw[:])
	b.Ticket, b.Expires = Hash(ticket), now+int64(Life)
	e := &event.Event{Kind: event.BoxGiven, Time: now, Box: &b}
	if err := t.Log.Append(ctx, nameOf(b.Ticket), 0, []*event.Event{e}); err != nil {
		return "", hash, fmt.Errorf("record a ticket: %w", err)
	}
	return ticket, b.Ticket, nil
}

func nameOf(hash tool.Digest) string { return Logs + hash.String() }

// read is what the log of a ticket says: what it is for, and how many records there are.
func (t Tickets) read(ctx context.Context, hash tool.Digest) (given event.Box, records uint64, err error) {
	for rec, err := range t.Log.Load(ctx, nameOf(hash), 0) {
		if err != nil {
			return given, 0, fmt.Errorf("read a ticket: %w", err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return given, 0, fmt.Errorf("read a ticket: %w", err)
		}
		if records++; records == 1 && e.Box != nil {
			given = *e.Box
		}
	}
	if records == 0 || given.Ticket != hash {
		return given, 0, ErrUnknown
	}
	return given, records, nil
}

// Look is what a ticket is for, where it could be used for a command now.
func (t Tickets) Look(ctx context.Context, ticket, command string, now int64) (event.Box, error) {
	given, records, err := t.read(ctx, Hash(ticket))
	switch {
	case err != nil:
		return event.Box{}, err
	case records > 1:
		return event.Box{}, ErrUsed
	case now >= given.Expires:
		return event.Box{}, ErrLate
	case command == "" || command != given.Command:
		return event.Box{}, ErrOther
	}
	return given, nil
}

// Redeem uses a ticket up for a command, once.
func (t Tickets) Redeem(ctx context.Context, ticket, command string, pid int, now int64) (event.Box, error) {
	given, err := t.Look(ctx, ticket, command, now)
	if err != nil {
		return event.Box{}, err
	}
	used := &event.Event{Kind: event.BoxRedeemed, Time: now, Box: &event.Box{Ticket: given.Ticket, PID: pid}}
	err = t.Log.Append(ctx, nameOf(given.Ticket), 1, []*event.Event{used})
	if errors.Is(err, t.Conflict) {
		return event.Box{}, ErrUsed // somebody was faster
	}
	if err != nil {
		return event.Box{}, fmt.Errorf("redeem a ticket: %w", err)
	}
	return given, nil
}

// Begun is what a ticket is for that was used, whether its command has ended or not.
func (t Tickets) Begun(ctx context.Context, ticket string) (event.Box, error) {
	given, records, err := t.read(ctx, Hash(ticket))
	switch {
	case err != nil:
		return event.Box{}, err
	case records == 1:
		return event.Box{}, ErrNotBegun
	}
	return given, nil
}

// Redeemed reports whether the ticket with a hash was used.
func (t Tickets) Redeemed(ctx context.Context, hash tool.Digest) (bool, error) {
	_, records, err := t.read(ctx, hash)
	if errors.Is(err, ErrUnknown) {
		return false, nil
	}
	return records > 1, err
}

// End notes that the command of a ticket has ended, once; and once more, with another report, that its box has: what was found in the
// workspace then only.
func (t Tickets) End(ctx context.Context, ticket string, exit int, report string, now int64) (event.Box, error) {
	given, records, err := t.read(ctx, Hash(ticket))
	switch {
	case err != nil:
		return event.Box{}, err
	case records == 1:
		return event.Box{}, ErrNotBegun
	case records == 3:
		said, err := t.said(ctx, given.Ticket)
		if err != nil || report == "" || said == report {
			return event.Box{}, errors.Join(ErrUsed, err)
		}
	case records > 3:
		return event.Box{}, ErrUsed
	}
	return given, t.note(ctx, records, event.Box{Ticket: given.Ticket, Exit: exit, Report: report}, now)
}

// note writes how a command ended.
func (t Tickets) note(ctx context.Context, records uint64, b event.Box, now int64) error {
	ended := &event.Event{Kind: event.BoxEnded, Time: now, Box: &b}
	err := t.Log.Append(ctx, nameOf(b.Ticket), records, []*event.Event{ended})
	if errors.Is(err, t.Conflict) {
		return ErrUsed
	}
	if err != nil {
		return fmt.Errorf("note the end of a command: %w", err)
	}
	return nil
}

// Refuse is End for a command that the broker was to run, and of which it began nothing. It is the first that is heard of its end: what
// has ended otherwise, or was run in the box, was begun.
func (t Tickets) Refuse(ctx context.Context, ticket string, why outgoing.Refusal, report string, now int64) (event.Box, error) {
	given, records, err := t.read(ctx, Hash(ticket))
	switch {
	case err != nil:
		return event.Box{}, err
	case records == 1:
		return event.Box{}, ErrNotBegun
	case records > 2:
		return event.Box{}, ErrUsed
	case !given.Leaves || !why.Known():
		return event.Box{}, ErrBegun
	}
	return given, t.note(ctx, records, event.Box{Ticket: given.Ticket, Exit: NotRun, Report: report, Refused: string(why)}, now)
}

// NotRun is the exit code of a command that was not run.
const NotRun = 125

// Refused is why nothing of a ticket's command was begun; empty: it may have been.
func (t Tickets) Refused(ctx context.Context, hash tool.Digest) (outgoing.Refusal, error) {
	why, records := outgoing.Refusal(""), 0
	for rec, err := range t.Log.Load(ctx, nameOf(hash), 0) {
		if err != nil {
			return "", fmt.Errorf("read a ticket: %w", err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return "", fmt.Errorf("read a ticket: %w", err)
		}
		if records++; records == 3 && e.Kind == event.BoxEnded {
			why = outgoing.Refusal(e.Box.Refused)
		}
	}
	return why, nil
}

// said is the report of the last record of a ticket.
func (t Tickets) said(ctx context.Context, hash tool.Digest) (report string, err error) {
	for rec, err := range t.Log.Load(ctx, nameOf(hash), 0) {
		if err != nil {
			return "", fmt.Errorf("read a ticket: %w", err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return "", fmt.Errorf("read a ticket: %w", err)
		}
		if e.Box != nil {
			report = e.Box.Report
		}
	}
	return report, nil
}
