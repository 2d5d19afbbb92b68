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

	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/reports/records"
)

// Formats are how an export can be written.
func Formats() []string { return []string{"jsonl", "parquet"} }

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
func Write(
	ctx context.Context, log records.Log, f *records.Filter, format string, to io.Writer, progress func(done, total int64),
) (int64, error) {
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
		return tableOf(to), nil
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

// columns writes a table, in groups of rows: readers skip those they do not need.
type columns struct {
	table
	bytes int
}

// The bounds of a group: it is held until it is written.
const (
	maxGroupRows  = 20_000
	maxGroupBytes = 64 << 20
)

// tableOf is a table with the columns of a Row.
func tableOf(to io.Writer) *columns {
	c := &columns{table: table{to: to}}
	add := func(kind, converted int32, names ...string) {
		for _, name := range names {
			c.columns = append(c.columns, &column{name: name, kind: kind, converted: converted})
		}
	}
	add(kindInt64, -1, "id", "seq", "bytes")
	add(kindInt64, isMicros, "time")
	add(kindBytes, isText, "session", "kind", "branch", "turn", "tool", "effect", "rule", "reason", "level", "person", "via", "pruned",
		"hash", "body")
	return c
}

func (c *columns) write(row Row) error {
	for i, v := range []int64{row.ID, row.Seq, row.Bytes, row.Time.UnixMicro()} {
		c.columns[i].number(v)
	}
	for i, v := range []string{
		row.Session, row.Kind, row.Branch, row.Turn, row.Tool, row.Effect, row.Rule, row.Reason, row.Level, row.Person, row.Via, row.Pruned,
		row.Hash, string(row.Body),
	} {
		c.columns[4+i].text(v)
		c.bytes += len(v)
	}
	if c.rows++; c.rows < maxGroupRows && c.bytes < maxGroupBytes {
		return nil
	}
	c.bytes = 0
	return c.flush()
}

func rowOf(r *records.Row) Row {
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
