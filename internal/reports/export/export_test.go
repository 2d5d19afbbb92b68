package export_test

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/reports/export"
	"github.com/tidemark/tidemark/internal/reports/records"
	"github.com/tidemark/tidemark/store/memory"
	"github.com/tidemark/tidemark/store/storetest"
)

// filled is a log with something sealed in it, of sessions of 30 records.
func filled(t *testing.T, sessions int) *memory.Store {
	t.Helper()
	s := memory.New()
	for i := range sessions {
		events := storetest.Events("turn", i, 30)
		for _, e := range events {
			e.Key = "a key that opens it"
			if e.Seen != nil {
				e.Seen.Trace = "~sealed"
			}
			if e.Decided != nil {
				e.Decided.Ask = &event.Ask{ID: fmt.Sprint("ask-", i), Code: "~a code"}
			}
		}
		if err := s.Append(t.Context(), fmt.Sprint("session ", i), 0, events); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func write(t *testing.T, s *memory.Store, f records.Filter, format string) (out []byte, n int64) {
	t.Helper()
	var b bytes.Buffer
	n, err := export.Write(t.Context(), s, &f, format, &b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), n
}

// row is a row of a table as a reader of Parquet sees it.
type row struct {
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

// Both formats hold the same rows, and an independent reader of Parquet reads ours.
func TestBothFormatsHoldTheSameRows(t *testing.T) {
	for name, test := range map[string]struct {
		sessions int
		filter   records.Filter
		want     int64
	}{
		"an empty log":              {0, records.Filter{}, 0},
		"everything":                {3, records.Filter{}, 90},
		"one session":               {3, records.Filter{Session: "session 1"}, 30},
		"decisions":                 {3, records.Filter{Kind: string(event.CallDecided)}, 30},
		"decisions that came so":    {3, records.Filter{Effect: "confirm", Tool: "web_fetch"}, 30},
		"before there was anything": {3, records.Filter{To: time.Unix(0, 0)}, 0},
		"more than one group":       {700, records.Filter{}, 21_000},
	} {
		t.Run(name, func(t *testing.T) {
			s := filled(t, test.sessions)
			raw, n := write(t, s, test.filter, "jsonl")
			var lines []row
			for in := bufio.NewScanner(bytes.NewReader(raw)); in.Scan(); {
				var r export.Row
				if err := strictjson.Unmarshal(in.Bytes(), &r); err != nil {
					t.Fatalf("%v: %s", err, in.Bytes())
				}
				lines = append(lines, row{
					r.ID, r.Seq, r.Bytes, r.Time.Truncate(time.Microsecond), r.Session, r.Kind, r.Branch, r.Turn, r.Tool, r.Effect, r.Rule, r.Reason,
					r.Level, r.Person, r.Via, r.Pruned, r.Hash, string(r.Body),
				})
			}
			file, m := write(t, s, test.filter, "parquet")
			table, err := parquet.Read[row](bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			if n != test.want || m != n || int64(len(lines)) != n || int64(len(table)) != n {
				t.Fatalf("%d and %d records, %d lines, %d rows; want %d", n, m, len(lines), len(table), test.want)
			}
			for i := range table {
				if table[i].Time = table[i].Time.UTC(); table[i] != lines[i] {
					t.Fatalf("row %d (-line +row):\n%s", i, cmp.Diff(lines[i], table[i]))
				}
			}
			if len(file) > len(raw) && n > 0 {
				t.Errorf("%d bytes of Parquet for %d of JSON", len(file), len(raw))
			}
		})
	}
}

func TestNothingThatIsSealedIsExported(t *testing.T) {
	s := filled(t, 1)
	raw, _ := write(t, s, records.Filter{}, "jsonl")
	for _, secret := range []string{"~sealed", "a key that opens it", "~a code"} {
		if strings.Contains(string(raw), secret) {
			t.Errorf("%q is in the export", secret)
		}
	}
	if !strings.Contains(string(raw), "web_fetch") || !strings.Contains(string(raw), `"level":"external"`) {
		t.Errorf("got %.500s", raw)
	}
}

func TestAFormatThatIsNotThereIsRefused(t *testing.T) {
	var b bytes.Buffer
	if _, err := export.Write(t.Context(), memory.New(), &records.Filter{}, "xlsx", &b, nil); err == nil || b.Len() > 0 {
		t.Errorf("got %v and %d bytes", err, b.Len())
	}
}
