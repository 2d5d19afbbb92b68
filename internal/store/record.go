package store

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
)

// MaxName is the longest name of a session, in bytes.
const MaxName = 1024

// Encode turns events into records of a session, not yet linked to its chain. It is
// called by whoever appends, so that the one writer of a store does not have to.
func Encode(session string, events []*event.Event) ([]audit.Record, error) {
	if err := checkName(session); err != nil {
		return nil, err
	}
	records := make([]audit.Record, len(events))
	for i, e := range events {
		rec, err := e.Record(session)
		if err != nil {
			return nil, fmt.Errorf("session %q: %w", session, err)
		}
		records[i] = rec
	}
	return records, nil
}

// checkName refuses names that two databases could keep differently.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("session has no name")
	case len(name) > MaxName:
		return fmt.Errorf("session name is longer than %d bytes", MaxName)
	case !IsText(name):
		return fmt.Errorf("session name %q is not plain text", name)
	}
	return nil
}

// IsText reports whether every database can keep a string as it is.
func IsText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// Ask is that a question was asked, and until when it can be answered.
type Ask struct {
	ID      string
	Expires int64 // Unix nanoseconds
}

// Asked is a question and the session that asked it.
type Asked struct {
	Session string
	Ask
}

// AsksOf are the questions that events ask.
func AsksOf(events []*event.Event) []Ask {
	var out []Ask
	for _, e := range events {
		if e.Decided != nil && e.Decided.Ask != nil && IsText(e.Decided.Ask.ID) {
			out = append(out, Ask{e.Decided.Ask.ID, e.Decided.Ask.Expires})
		}
	}
	return out
}

// Place is where in its session a record belongs.
type Place struct {
	Turn   string `json:"turn"`
	Branch string `json:"branch"`
}

// PlaceOf reads a record's place from its body. It is kept nowhere else: a copy in a
// column of its own would not be covered by the hash, and could hide a record.
func PlaceOf(rec audit.Record) (Place, error) {
	var p Place
	if err := strictjson.Unmarshal(rec.Body, &p); err != nil {
		return Place{}, fmt.Errorf("read record %d of session %q: %w", rec.Seq, rec.Session, err)
	}
	return p, nil
}

// TurnOf is the line for a record that began a turn.
func TurnOf(rec audit.Record) (Turn, error) {
	p, err := PlaceOf(rec)
	if err != nil {
		return Turn{}, err
	}
	return Turn{ID: p.Turn, Branch: p.Branch, Time: rec.Time, Seq: rec.Seq}, nil
}

// OfTurn keeps the records that belong to the turn. One that cannot be read is passed
// on as an error: it might have been one of them.
func OfTurn(records iter.Seq2[audit.Record, error], turn string) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for rec, err := range records {
			var p Place
			if err == nil {
				p, err = PlaceOf(rec)
			}
			if err != nil {
				yield(audit.Record{}, err)
				return
			}
			if p.Turn == turn && !yield(rec, nil) {
				return
			}
		}
	}
}
