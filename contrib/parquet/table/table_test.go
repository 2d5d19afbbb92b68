package table_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/tidemark/tidemark/contrib/parquet/table"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/reports/export"
)

// lines are an export.
func lines(t *testing.T, n int) (text []byte, want []table.Row) {
	t.Helper()
	for i := range n {
		at := time.Date(2026, 3, 1, 12, 0, i, 123456789, time.UTC)
		r := export.Row{
			ID: int64(i + 1), Session: fmt.Sprint("session ", i%7), Seq: int64(i), Time: at, Kind: "call.decided", Branch: "b", Turn: "t", Tool: "exec",
			Effect: "confirm", Rule: "r", Reason: "because\nof “that”", Level: "external", Person: "alice", Via: "http", Bytes: 12, Pruned: "previews",
			Hash: "h", Body: strictjson.Value(`{"a":1}`),
		}
		raw, err := strictjson.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, raw...), '\n')
		want = append(want, table.Row{
			ID: r.ID, Session: r.Session, Seq: r.Seq, Time: at.Truncate(time.Microsecond), Kind: r.Kind, Branch: r.Branch, Turn: r.Turn, Tool: r.Tool,
			Effect: r.Effect, Rule: r.Rule, Reason: r.Reason, Level: r.Level, Person: r.Person, Via: r.Via, Bytes: r.Bytes, Pruned: r.Pruned, Hash: r.Hash,
			Body: `{"a":1}`,
		})
	}
	return text, want
}

// The table holds the rows of the lines.
func TestTheTableHoldsTheLines(t *testing.T) {
	for _, n := range []int{0, 1, 90, 20_001} {
		text, want := lines(t, n)
		var file bytes.Buffer
		rows, err := table.Write(&file, bytes.NewReader(text))
		if err != nil || rows != int64(n) {
			t.Fatalf("%d lines: %d rows, %v", n, rows, err)
		}
		got, err := parquet.Read[table.Row](bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil || len(got) != n {
			t.Fatalf("%d lines: %d rows read, %v", n, len(got), err)
		}
		for i := range got {
			if got[i].Time = got[i].Time.UTC(); got[i] != want[i] {
				t.Fatalf("row %d: got %+v, want %+v", i, got[i], want[i])
			}
		}
		if n > 1 && file.Len() > len(text) {
			t.Errorf("%d bytes of Parquet for %d of JSON", file.Len(), len(text))
		}
	}
}

// A line that is none of an export ends it: half a table is no table.
func TestALineOfSomethingElseIsRefused(t *testing.T) {
	text, _ := lines(t, 1)
	for _, bad := range []string{"{", "[]", `{"id":1,"more":2}`, "not JSON"} {
		if _, err := table.Write(&bytes.Buffer{}, strings.NewReader(string(text)+bad+"\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
