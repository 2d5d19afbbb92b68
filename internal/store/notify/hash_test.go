package notify_test

import (
	"context"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/patient"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// recordsAlone is a log that says whether it takes records.
type recordsAlone struct{ engine.Store }

func (recordsAlone) Ping(context.Context) error { return nil }

// The hash of a record is the one that the record has, whichever store is asked.
func TestTheHashOfARecord(t *testing.T) {
	file, err := sqlite.Open(t.Context(), t.TempDir()+"/log.db", sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	other, err := sqlite.Open(t.Context(), t.TempDir()+"/log.db", sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	hurried := patient.New(other, time.Hour)
	defer hurried.Close()
	alone := patient.New(recordsAlone{memory.New()}, time.Hour)
	defer alone.Close()
	for name, inner := range map[string]engine.Store{
		"that knows hashes": file, "that knows records alone": memory.New(), "with a limit": hurried, "with a limit, that knows records alone": alone,
	} {
		t.Run(name, func(t *testing.T) {
			s := notify.New(inner)
			for at := range uint64(3) {
				e := &event.Event{Kind: event.TryFailed, Time: time.Date(2026, 3, 1, 9, 0, int(at), 0, time.UTC).UnixNano()}
				if err := s.Append(t.Context(), "s", at, []*event.Event{e}); err != nil {
					t.Fatal(err)
				}
			}
			for rec, err := range s.Load(t.Context(), "s", 0) {
				if got, failed := s.HashAt(t.Context(), "s", rec.Seq); err != nil || failed != nil || got != rec.Hash || got == (audit.Hash{}) {
					t.Errorf("record %d: got %v, want %v (%v, %v)", rec.Seq, got, rec.Hash, err, failed)
				}
			}
			for _, none := range []struct {
				session string
				at      uint64
			}{{"s", 4}, {"nobody's", 1}} {
				if got, err := s.HashAt(t.Context(), none.session, none.at); err != nil || got != (audit.Hash{}) {
					t.Errorf("%v: got %v, %v", none, got, err)
				}
			}
		})
	}
}
