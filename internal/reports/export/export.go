// Package export writes records of the log for programs that analyse them, as lines of JSON with a member for what is asked
// about most. It does I/O through the log and the writer it is given.
//
// Invariant: what is sealed in the log, and the keys and codes in it, are in no export.
package export

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/recordsearch"
)

// Row is one record of an export. What a record does not have is empty.
type Row struct {
	ID      int64     `json:"id"`
	Session string    `json:"session"`
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`
	Branch  string    `json:"branch,omitzero"`
	Turn    string    `json:"turn,omitzero"`
	Tool    string    `json:"tool,omitzero"`
	Effect  string    `json:"effect,omitzero"`
	Rule    string    `json:"rule,omitzero"`
	Reason  string    `json:"reason,omitzero"`
	Level   string    `json:"level,omitzero"`  // of trust: of the context a call was judged in, or of what came in
	Person  string    `json:"person,omitzero"` // who spoke, answered or acted
	Via     string    `json:"via,omitzero"`    // and through which door
	Bytes   int64     `json:"bytes,omitzero"`  // of the content
	Pruned  string    `json:"pruned,omitzero"` // what was taken out of the record, with commas
	Hash    string    `json:"hash"`

	Body strictjson.Value `json:"body"`
}

// Write writes the records that fit, oldest first, and returns how many there were.
func Write(ctx context.Context, log recordsearch.Log, f *recordsearch.Filter, to io.Writer,
	progress func(done, total int64)) (int64, error) {
	out := bufio.NewWriterSize(to, 1<<16)
	n := int64(0)
	err := recordsearch.Each(ctx, log, f, progress, func(r *recordsearch.Row) error {
		n++
		raw, err := strictjson.Marshal(rowOf(r))
		if err == nil {
			_, err = out.Write(append(raw, '\n'))
		}
		return err
	})
	return n, errors.Join(err, out.Flush())
}

func rowOf(r *recordsearch.Row) Row {
	row := Row{
		ID: r.ID, Session: r.Session, Seq: int64(r.Seq), Time: time.Unix(0, r.Entry.Time).UTC(), Kind: r.Entry.Kind, Hash: r.Hash.String(),
		Body: strictjson.Value("{}"),
	}
	if r.Broken {
		row.Reason = "it cannot be read"
		return row
	}
	e := &r.Event
	row.Branch, row.Turn = e.Branch, e.Turn
	if r.Entry.Pruned != (audit.Hash{}) {
		row.Pruned = strings.Join(e.Pruned, ",")
	}
	fill(&row, e)
	e.Unseal()
	if body, err := e.Body(); err == nil {
		row.Body = body
	}
	return row
}

// fill puts what records are asked about most into columns.
func fill(row *Row, e *event.Event) {
	switch {
	case e.Began != nil:
		row.Level, row.Rule = e.Began.Level.String(), e.Began.Rule
		row.Person, row.Via = e.Began.Sender.ID, e.Began.Sender.Provider
		row.Bytes = size(e.Began.Message)
	case e.Decided != nil:
		d := e.Decided
		row.Tool, row.Effect, row.Rule, row.Reason, row.Level = d.Tool, d.Effect, d.Rule, d.Reason, d.Level.String()
	case e.Seen != nil:
		row.Tool, row.Level, row.Reason = e.Seen.Tool, e.Seen.Label.Level.String(), e.Seen.Reason
		row.Bytes = size(e.Seen.Content)
	case e.Model != nil:
		row.Rule, row.Reason = e.Model.Rule, e.Model.Reason
	case e.Answer != nil:
		row.Person, row.Via, row.Effect, row.Reason = e.Answer.By, e.Answer.Via, e.Answer.Verdict, e.Answer.Reason
	case e.Person != nil:
		row.Person, row.Via, row.Effect, row.Reason = e.Person.By, e.Person.Via, e.Person.Act, e.Person.Detail
	case e.Pruning != nil:
		row.Person, row.Reason = e.Pruning.By, e.Pruning.Why
	case e.Hold != nil:
		row.Person, row.Reason = e.Hold.By, e.Hold.Why
	}
}

func size(c *event.Content) int64 {
	if c == nil {
		return 0
	}
	return int64(c.Bytes)
}
