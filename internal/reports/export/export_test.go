package export_test

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/export"
	"github.com/tidemark/tidemark/internal/reports/recordsearch"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/storetest"
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

func write(t *testing.T, s *memory.Store, f recordsearch.Filter) (out []byte, n int64) {
	t.Helper()
	var b bytes.Buffer
	n, err := export.Write(t.Context(), s, &f, &b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), n
}

// Every record that fits is one line, with what is asked about most beside the whole record.
func TestEveryRecordThatFitsIsALine(t *testing.T) {
	for name, test := range map[string]struct {
		sessions int
		filter   recordsearch.Filter
		want     int64
	}{
		"an empty log":              {0, recordsearch.Filter{}, 0},
		"everything":                {3, recordsearch.Filter{}, 90},
		"one session":               {3, recordsearch.Filter{Session: "session 1"}, 30},
		"decisions":                 {3, recordsearch.Filter{Kind: string(event.CallDecided)}, 30},
		"decisions that came so":    {3, recordsearch.Filter{Effect: "confirm", Tool: "web_fetch"}, 30},
		"before there was anything": {3, recordsearch.Filter{To: time.Unix(0, 0)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			raw, n := write(t, filled(t, test.sessions), test.filter)
			lines, last := int64(0), int64(0)
			for in := bufio.NewScanner(bytes.NewReader(raw)); in.Scan(); lines++ {
				var r export.Row
				if err := strictjson.Unmarshal(in.Bytes(), &r); err != nil {
					t.Fatalf("%v: %s", err, in.Bytes())
				}
				if r.ID <= last || r.Session == "" || r.Hash == "" || r.Time.IsZero() || r.Body.Kind() != '{' {
					t.Fatalf("a line lacks what every record has, or its place: %s", in.Bytes())
				}
				if f := test.filter; f.Kind != "" && r.Kind != f.Kind || f.Session != "" && r.Session != f.Session || f.Tool != "" && r.Tool != f.Tool {
					t.Fatalf("it does not fit: %s", in.Bytes())
				}
				last = r.ID
			}
			if n != test.want || lines != n {
				t.Fatalf("%d records, %d lines; want %d", n, lines, test.want)
			}
		})
	}
}

func TestNothingThatIsSealedIsExported(t *testing.T) {
	s := filled(t, 1)
	raw, _ := write(t, s, recordsearch.Filter{})
	for _, secret := range []string{"~sealed", "a key that opens it", "~a code"} {
		if strings.Contains(string(raw), secret) {
			t.Errorf("%q is in the export", secret)
		}
	}
	if !strings.Contains(string(raw), "web_fetch") || !strings.Contains(string(raw), `"level":"external"`) {
		t.Errorf("got %.500s", raw)
	}
}
