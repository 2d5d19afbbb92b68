package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

func TestEncode(t *testing.T) {
	e := storetest.Event("turn", 1)
	records, err := store.Encode("s", []*event.Event{e})
	if err != nil || len(records) != 1 {
		t.Fatalf("got %d records and error %v, want one", len(records), err)
	}
	back, err := event.FromRecord(records[0])
	if diff := cmp.Diff(*e, back); diff != "" || err != nil {
		t.Errorf("decode: error %v (-want +got):\n%s", err, diff)
	}
	for _, name := range []string{"", "a\x00b", "a\xff", strings.Repeat("a", store.MaxName+1)} {
		if _, err := store.Encode(name, nil); err == nil {
			t.Errorf("session name %.20q is accepted", name)
		}
	}
	if _, err := store.Encode(strings.Repeat("ü", store.MaxName/2), nil); err != nil {
		t.Errorf("the longest name: %v", err)
	}
}

func TestPage(t *testing.T) {
	for limit, want := range map[int]int{-1: store.DefaultLimit, 0: store.DefaultLimit, 1: 1, store.MaxLimit: store.MaxLimit, store.MaxLimit + 1: store.MaxLimit} {
		if got := store.Page(limit); got != want {
			t.Errorf("limit %d: got a page of %d, want %d", limit, got, want)
		}
	}
}

// A record that cannot be read may belong to the turn, so it is never left out silently.
func TestOfTurnPassesOnWhatItCannotRead(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		err  error
	}{
		"a body that is not JSON": {body: "{"},
		"an error of the store":   {body: "{}", err: errDisk},
	} {
		records := func(yield func(audit.Record, error) bool) {
			_ = yield(audit.Record{Seq: 1, Body: []byte(`{"turn":"x"}`)}, nil) &&
				yield(audit.Record{Seq: 2, Body: []byte(`{"turn":"y"}`)}, nil) && yield(audit.Record{Seq: 3, Body: []byte(test.body)}, test.err)
		}
		var seqs []uint64
		var last error
		for rec, err := range store.OfTurn(records, "x") {
			if last = err; err == nil {
				seqs = append(seqs, rec.Seq)
			}
		}
		if last == nil || test.err != nil && !errors.Is(last, test.err) || !cmp.Equal(seqs, []uint64{1}) {
			t.Errorf("%s: got records %v and error %v, want the first and an error", name, seqs, last)
		}
	}
}

// FuzzPlaceOf never panics, and agrees with the decoder of whole events.
func FuzzPlaceOf(f *testing.F) {
	for i := range 3 {
		body, err := storetest.Event("turn", i).Body()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"turn":"a","turn":"b"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		place, err := store.PlaceOf(audit.Record{Body: body})
		for _, kind := range []event.Kind{event.TurnBegan, event.CallDecided, event.ResultSeen} {
			event, eventErr := event.FromRecord(audit.Record{Kind: string(kind), Body: body})
			if eventErr != nil {
				continue
			}
			if err != nil || place.Turn != event.Turn || place.Branch != event.Branch {
				t.Errorf("got place %+v and error %v, the event is in turn %q of branch %q", place, err, event.Turn, event.Branch)
			}
		}
	})
}
