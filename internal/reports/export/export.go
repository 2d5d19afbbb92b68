// Package export writes records of the log for programs that analyse them: as lines of JSON, or as a Parquet file with a
// column for what is asked about most. It does I/O through the log and the writer it is given.
//
// Invariant: what is sealed in the log, and the keys and codes in it, are in no export.
package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/reports/records"
)

// Formats are how an export can be written.
func Formats() []string { return []string{"jsonl", "parquet"} }

// Row is one record of an export. What a record does not have is empty.
type Row struct {
	ID      int64     `json:"id" parquet:"id"`
	Session string    `json:"session" parquet:"session,dict"`
	Seq     int64     `json:"seq" parquet:"seq"`
	Time    time.Time `json:"time" parquet:"time,timestamp(microsecond)"`
	Kind    string    `json:"kind" parquet:"kind,dict"`
	Branch  string    `json:"branch,omitzero" parquet:"branch,dict"`
	Turn    string    `json:"turn,omitzero" parquet:"turn,dict"`
	Tool    string    `json:"tool,omitzero" parquet:"tool,dict"`
	Effect  string    `json:"effect,omitzero" parquet:"effect,dict"`
	Rule    string    `json:"rule,omitzero" parquet:"rule,dict"`
	Reason  string    `json:"reason,omitzero" parquet:"reason"`
	Level   string    `json:"level,omitzero" parquet:"level,dict"`   // of trust: of the context a call was judged in, or of what came in
	Person  string    `json:"person,omitzero" parquet:"person,dict"` // who spoke, answered or acted
	Via     string    `json:"via,omitzero" parquet:"via,dict"`       // and through which door
	Bytes   int64     `json:"bytes,omitzero" parquet:"bytes"`        // of the content
	Pruned  string    `json:"pruned,omitzero" parquet:"pruned,dict"` // what was taken out of the record, with commas
	Hash    string    `json:"hash" parquet:"hash"`
	Body    string    `json:"-" parquet:"body"` // JSON

	Object strictjson.Value `json:"body" parquet:"-"` // the same
}

// Write writes the records that fit, oldest first, and returns how many there were.
func Write(ctx context.Context, log records.Log, f *records.Filter, format string, to io.Writer, progress func(done, total int64)) (int64, error) {
	out, err := open(format, to)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	err = records.Each(ctx, log, f, progress, func(r *records.Row) error {
		n++
		return out.write(rowOf(r))
	})
	return n, errors.Join(err, out.close())
}

type writer interface {
	write(row Row) error
	close() error
}

func open(format string, to io.Writer) (writer, error) {
	switch format {
	case "jsonl":
		return lines{bufio.NewWriterSize(to, 1<<16)}, nil
	case "parquet":
		return &columns{w: parquet.NewGenericWriter[Row](to, parquet.Compression(&parquet.Snappy))}, nil
	}
	return nil, fmt.Errorf("export: there is no format %q (there are %s)", format, strings.Join(Formats(), ", "))
}

type lines struct{ w *bufio.Writer }

func (l lines) write(row Row) error {
	raw, err := strictjson.Marshal(row)
	if err == nil {
		_, err = l.w.Write(append(raw, '\n'))
	}
	return err
}

func (l lines) close() error { return l.w.Flush() }

// columns writes in groups of rows: readers skip those they do not need.
type columns struct {
	w    *parquet.GenericWriter[Row]
	rows []Row
	n    int
}

const (
	atOnce = 256
	group  = 50_000
)

func (c *columns) write(row Row) error {
	if c.rows = append(c.rows, row); len(c.rows) < atOnce {
		return nil
	}
	return c.flush()
}

func (c *columns) flush() error {
	if _, err := c.w.Write(c.rows); err != nil {
		return err
	}
	before := c.n / group
	if c.n += len(c.rows); c.n/group > before {
		if err := c.w.Flush(); err != nil {
			return err
		}
	}
	c.rows = c.rows[:0]
	return nil
}

func (c *columns) close() error { return errors.Join(c.flush(), c.w.Close()) }

func rowOf(r *records.Row) Row {
	row := Row{
		ID: r.ID, Session: r.Session, Seq: int64(r.Seq), Time: time.Unix(0, r.Entry.Time).UTC(), Kind: r.Entry.Kind, Hash: r.Hash.String(),
		Body: "{}",
	}
	if r.Broken {
		row.Reason = "it cannot be read"
		row.Object = strictjson.Value(row.Body)
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
		row.Body = string(body)
	}
	row.Object = strictjson.Value(row.Body)
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
