package torture_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/store/sqlite"
	"github.com/tidemark/tidemark/store/storetest"
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
		ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
		rows = append(rows, []string{strconv.Itoa(n), strconv.Itoa(open), ms(listening), ms(ready), ms(decided)})
		s.kill()
	}
	table(t, "start", []string{"records", "open questions", "listening ms", "ready ms", "a turn begun ms"}, rows)
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
