package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

func sessions(t *testing.T, s Store) {
	ctx := t.Context()
	var want []store.Session
	for i := range 7 {
		name := fmt.Sprintf("%s:%d", []string{"chat", "mail"}[i%2], i)
		events := Events("turn", 100*i, 1+i)
		mustAppend(t, s, name, 0, events)
		want = append(want, store.Session{Name: name, FirstTime: events[0].Time, LastTime: events[i].Time, Records: uint64(1 + i)})
	}
	mustAppend(t, s, "chat:0", 1, Events("turn", 900, 1)) // activity does not move it
	want[0].LastTime, want[0].Records = Event("turn", 900).Time, 2
	slices.Reverse(want)
	mustAppend(t, s, store.Own+"labels", 0, Events("turn", 950, 1)) // no session
	for _, limit := range []int{0, 1, 2, 3, 7, 100_000} {
		var got []store.Session
		q := store.SessionQuery{Limit: limit}
		for page := range 9 {
			rows, err := s.Sessions(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) == 0 {
				break
			}
			if page == 8 || limit > 0 && len(rows) > limit {
				t.Fatalf("limit %d: page %d has %d rows", limit, page, len(rows))
			}
			got = append(got, rows...)
			q.After = rows[len(rows)-1].Name
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
		}
	}
	for prefix, names := range map[string][]string{
		"mail": {"mail:5", "mail:3", "mail:1"}, "mail:3": {"mail:3"}, "Mail": {}, "mail:%": {}, "zzz": {},
		"chat:":   {"chat:6", "chat:4", "chat:2", "chat:0"},
		store.Own: {},
	} {
		rows, err := s.Sessions(ctx, store.SessionQuery{Prefix: prefix})
		got := []string{}
		for _, row := range rows {
			got = append(got, row.Name)
		}
		if diff := cmp.Diff(names, got); diff != "" || err != nil {
			t.Errorf("prefix %q: error %v (-want +got):\n%s", prefix, err, diff)
		}
	}
	ownLogs(t, s)
	if _, err := s.Sessions(ctx, store.SessionQuery{After: "nobody"}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("after an unknown session: got %v, want not found", err)
	}
}

// ownLogs lists the logs that are no sessions.
func ownLogs(t *testing.T, s Store) {
	t.Helper()
	mustAppend(t, s, store.Own+"tools:1", 0, Events("turn", 960, 1))
	for prefix, want := range map[string]string{"": "tools:1 labels", store.Own + "tools:": "tools:1", "chat": ""} {
		rows, err := s.Sessions(t.Context(), store.SessionQuery{Prefix: prefix, Own: true})
		var got []string
		for _, row := range rows {
			got = append(got, strings.TrimPrefix(row.Name, store.Own))
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("own logs with prefix %q: got %v, %v; want %q", prefix, got, err, want)
		}
	}
}

func since(t *testing.T, s Store) {
	for i := range 30 {
		mustAppend(t, s, fmt.Sprint("s", i%3), uint64(i/3), Events("turn", i, 1))
	}
	all := walk(t, s, store.EntryQuery{Limit: 1000})
	if len(all) != 30 {
		t.Fatalf("got %d entries, want 30", len(all))
	}
	for i, e := range all {
		if e.ID != int64(i+1) || e.Session != fmt.Sprint("s", i%3) || e.Seq != uint64(i/3+1) {
			t.Errorf("entry %d is record %d of %q with ID %d", i+1, e.Seq, e.Session, e.ID)
		}
		if loaded := collect(t, s.Load(t.Context(), e.Session, e.Seq-1))[0]; !cmp.Equal(loaded, e.Record) {
			t.Errorf("entry %d differs from the loaded record: %s", e.ID, cmp.Diff(loaded, e.Record))
		}
	}
	filter := func(keep func(store.Entry) bool) []store.Entry {
		return slices.DeleteFunc(slices.Clone(all), func(e store.Entry) bool { return !keep(e) })
	}
	kind := string(event.CallDecided)
	for _, limit := range []int{1, 4, 7, 30} {
		for name, test := range map[string]struct {
			q    store.EntryQuery
			keep func(store.Entry) bool
		}{
			"all":        {store.EntryQuery{}, func(store.Entry) bool { return true }},
			"from 11 on": {store.EntryQuery{After: 10}, func(e store.Entry) bool { return e.ID > 10 }},
			"a session":  {store.EntryQuery{Session: "s1"}, func(e store.Entry) bool { return e.Session == "s1" }},
			"a kind":     {store.EntryQuery{Kind: kind}, func(e store.Entry) bool { return e.Kind == kind }},
			"both": {
				store.EntryQuery{Session: "s1", Kind: kind, After: 5},
				func(e store.Entry) bool { return e.Session == "s1" && e.Kind == kind && e.ID > 5 },
			},
			"nobody":       {store.EntryQuery{Session: "nobody"}, func(store.Entry) bool { return false }},
			"past the end": {store.EntryQuery{After: 1000}, func(store.Entry) bool { return false }},
		} {
			test.q.Limit = limit
			if diff := cmp.Diff(filter(test.keep), walk(t, s, test.q)); diff != "" {
				t.Errorf("%s in pages of %d (-want +got):\n%s", name, limit, diff)
			}
		}
	}
}

// walk reads all pages of a query.
func walk(t *testing.T, s Store, q store.EntryQuery) []store.Entry {
	t.Helper()
	all := []store.Entry{}
	for {
		page, err := s.Since(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > q.Limit {
			t.Fatalf("a page has %d entries, want at most %d", len(page), q.Limit)
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		q.After = page[len(page)-1].ID
	}
}

func turns(t *testing.T, s Store) {
	ctx := t.Context()
	began := func(turn, branch string, number int) *event.Event {
		e := Event(turn, 3*number)
		e.Branch = branch
		return e
	}
	late := Event("one", 8)
	late.Late = true
	events := []*event.Event{
		began("one", "main", 1), Event("one", 4), began("two", "fork", 2), Event("two", 7), Event("one", 5), late, began("three", "", 3),
	}
	mustAppend(t, s, "s", 0, events)
	mustAppend(t, s, "no turns", 0, []*event.Event{Event("one", 1)})
	got, err := s.Turns(ctx, "s")
	want := []store.Turn{
		{ID: "one", Branch: "main", Time: events[0].Time, Seq: 1}, {ID: "two", Branch: "fork", Time: events[2].Time, Seq: 3},
		{ID: "three", Time: events[6].Time, Seq: 7},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("turns: error %v (-want +got):\n%s", err, diff)
	}
	if got, err := s.Turns(ctx, "no turns"); err != nil || len(got) != 0 {
		t.Errorf("turns of a session without any: got %v and error %v, want none", got, err)
	}
	if _, err := s.Turns(ctx, "nobody"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("turns of an unknown session: got %v, want not found", err)
	}
	for turn, want := range map[string][]uint64{"one": {1, 2, 5, 6}, "two": {3, 4}, "three": {7}} {
		got := []uint64{}
		for _, rec := range collect(t, s.LoadTurn(ctx, "s", turn)) {
			got = append(got, rec.Seq)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("records of turn %q (-want +got):\n%s", turn, diff)
		}
	}
	for rec := range s.LoadTurn(ctx, "s", "one") {
		if rec.Seq != 1 {
			t.Errorf("the first record of a turn is %d, want 1", rec.Seq)
		}
		break
	}
	for _, place := range []struct{ session, turn string }{{"s", "four"}, {"nobody", "one"}, {"no turns", "one"}} {
		var last error
		var records []audit.Record
		for rec, err := range s.LoadTurn(ctx, place.session, place.turn) {
			if last = err; err == nil {
				records = append(records, rec)
			}
		}
		if !errors.Is(last, engine.ErrNotFound) || len(records) != 0 {
			t.Errorf("turn %q of %q: got %d records and %v, want not found", place.turn, place.session, len(records), last)
		}
	}
}
