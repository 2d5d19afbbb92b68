package torture_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

// A start reads no session: how long it takes to listen does not depend on how much the log holds, nor on how many questions
// are open in it. The queue is complete all the same.
//
// SEQ-09
func TestStart(t *testing.T) {
	records := many("TORTURE_RECORDS", 2000, 1_000_000)
	var rows [][]string
	for _, n := range []int{records / 100, records} {
		h := newHouse(t, "")
		h.must(t).kill()
		open := fillLog(t, h, n)
		say("a log of %d records is there", n)
		began := time.Now()
		s := h.must(t)
		listening := time.Since(began)
		if err := s.call(t.Context(), http.MethodGet, "/readyz", nil, nil); err != nil {
			t.Fatal(err)
		}
		ready := time.Since(began)
		begin(t, s, "new")
		decided := time.Since(began)
		m, err := s.metrics(t.Context())
		if err != nil || m["tidemark_open_questions"] != float64(open) {
			t.Errorf("%v questions are open (%v), want %d", m["tidemark_open_questions"], err, open)
		}
		if m["tidemark_sessions_in_memory"] > 10 {
			t.Errorf("the start read %v sessions", m["tidemark_sessions_in_memory"])
		}
		counted, first := reported(t, s)
		_, second := reported(t, s)
		s.kill()
		s = h.must(t)
		again, third := reported(t, s)
		if again != counted || counted == 0 {
			t.Errorf("a report of %d calls says %d after kill -9", counted, again)
		}
		ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
		rows = append(rows, []string{strconv.Itoa(n), strconv.Itoa(open), ms(listening), ms(ready), ms(decided), ms(first), ms(second), ms(third)})
		s.kill()
	}
	table(t, "start", []string{
		"records", "open questions", "listening ms", "ready ms", "a turn begun ms", "first report ms", "second", "after kill -9",
	}, rows)
}

// reported is how many calls a report counts, and how long it took.
func reported(t testing.TB, s *server) (calls int, took time.Duration) {
	t.Helper()
	var r struct {
		Totals struct {
			Calls int `json:"calls"`
		} `json:"totals"`
	}
	s.http.Timeout = 10 * time.Minute // the first one counts everything
	began := time.Now()
	if err := s.call(t.Context(), http.MethodGet, "/v1/report", nil, &r); err != nil {
		t.Fatal(err)
	}
	return r.Totals.Calls, time.Since(began)
}

// fillLog writes records into the log of a house, in sessions of a hundred with one open question each.
func fillLog(t testing.TB, h *house, records int) (sessions int) {
	t.Helper()
	log, err := sqlite.Open(t.Context(), filepath.Join(h.data, "tidemark.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const each = 100
	sessions = max(1, records/each)
	names := make(chan int)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range names {
				events := storetest.Events("turn", 0, each)
				for _, e := range events {
					e.Branch, e.Time = "", time.Now().UnixNano()
				}
				events[1].Decided.Ask = &event.Ask{ID: fmt.Sprintf("ask-%012x", i), Expires: time.Now().Add(time.Hour).UnixNano()}
				if err := log.Append(t.Context(), fmt.Sprint("old-", i), 0, events); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range sessions {
		names <- i
	}
	close(names)
	all.Wait()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return sessions
}
