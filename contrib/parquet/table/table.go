// Package table makes a Parquet file of the lines that tidemark log export writes.
package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/gzip"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/reports/export"
)

// Row is a row of the table. What a record does not have is empty.
type Row struct {
	ID      int64     `parquet:"id"`
	Seq     int64     `parquet:"seq"`
	Bytes   int64     `parquet:"bytes"`
	Time    time.Time `parquet:"time,timestamp(microsecond)"`
	Session string    `parquet:"session"`
	Kind    string    `parquet:"kind"`
	Branch  string    `parquet:"branch"`
	Turn    string    `parquet:"turn"`
	Tool    string    `parquet:"tool"`
	Effect  string    `parquet:"effect"`
	Rule    string    `parquet:"rule"`
	Reason  string    `parquet:"reason"`
	Level   string    `parquet:"level"`
	Person  string    `parquet:"person"`
	Via     string    `parquet:"via"`
	Pruned  string    `parquet:"pruned"`
	Hash    string    `parquet:"hash"`
	Body    string    `parquet:"body"`
}

// The bounds of a group of rows, which is held until it is written.
const (
	maxGroupRows  = 20_000
	maxGroupBytes = 64 << 20
	maxLine       = 256 << 20
)

// Write reads lines to their end and writes the table. It returns how many rows there are.
func Write(to io.Writer, lines io.Reader) (rows int64, err error) {
	out := parquet.NewGenericWriter[Row](to, parquet.Compression(&gzip.Codec{}))
	in := bufio.NewScanner(lines)
	in.Buffer(make([]byte, 1<<16), maxLine)
	group, bytes := 0, 0
	for in.Scan() {
		var r export.Row
		if err := strictjson.UnmarshalKnown(in.Bytes(), &r); err != nil {
			return rows, fmt.Errorf("line %d is none of tidemark log export: %w", rows+1, err)
		}
		row := Row{
			r.ID, r.Seq, r.Bytes, r.Time.Truncate(time.Microsecond), r.Session, r.Kind, r.Branch, r.Turn, r.Tool, r.Effect, r.Rule, r.Reason,
			r.Level, r.Person, r.Via, r.Pruned, r.Hash, string(r.Body),
		}
		if _, err := out.Write([]Row{row}); err != nil {
			return rows, err
		}
		rows++
		if group, bytes = group+1, bytes+len(in.Bytes()); group == maxGroupRows || bytes > maxGroupBytes {
			if err := out.Flush(); err != nil {
				return rows, err
			}
			group, bytes = 0, 0
		}
	}
	return rows, errors.Join(in.Err(), out.Close())
}
