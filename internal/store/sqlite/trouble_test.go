package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

// wantDown checks that nothing can be written, twice in a row, and that the error says why.
func wantDown(t *testing.T, s *sqlite.Store, at uint64, cause string) {
	t.Helper()
	for range 2 {
		for name, err := range map[string]error{
			"append":           s.Append(t.Context(), "s", at, storetest.Events("turn", int(at), 1)),
			"append elsewhere": s.Append(t.Context(), "new", 0, storetest.Events("turn", 0, 1)),
			"ping":             s.Ping(t.Context()),
		} {
			if !errors.Is(err, engine.ErrUnavailable) || errors.Is(err, engine.ErrConflict) || !strings.Contains(fmt.Sprint(err), cause) {
				t.Errorf("%s: got %v, want it unavailable because %q", name, err, cause)
			}
		}
	}
}

// wantUp checks that the session goes on where it was.
func wantUp(t *testing.T, s *sqlite.Store, at uint64) {
	t.Helper()
	if err := s.Append(t.Context(), "s", at, storetest.Events("turn", int(at), 1)); err != nil {
		t.Errorf("append after the trouble: %v", err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("ping after the trouble: %v", err)
	}
	report, err := s.Verify(t.Context(), nil)
	if err != nil || !report.OK() || report.Sessions != 1 {
		t.Errorf("verify after the trouble: error %v, report %+v", err, report)
	}
}

func started(t *testing.T, o sqlite.Options) (*sqlite.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "logs", "log.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	s := openWith(t, path, o)
	if err := s.Append(t.Context(), "s", 0, storetest.Events("turn", 0, 2)); err != nil {
		t.Fatal(err)
	}
	return s, path
}

func TestLockHeldByAnother(t *testing.T) {
	s, path := started(t, sqlite.Options{LockWait: time.Millisecond})
	other := raw(t, path)
	mustExec(t, other, "BEGIN IMMEDIATE")
	wantDown(t, s, 2, "write lock")
	if n := count(t, s, "s"); n != 2 {
		t.Errorf("while locked %d records can be read, want 2", n)
	}
	mustExec(t, other, "ROLLBACK")
	wantUp(t, s, 2)
}

func count(t *testing.T, s engine.Store, session string) (n int) {
	t.Helper()
	for _, err := range s.Load(t.Context(), session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func TestFilesGone(t *testing.T) {
	for name, file := range map[string]func(path string) string{
		"the directory":       filepath.Dir,
		"the file":            func(path string) string { return path },
		"the write-ahead log": func(path string) string { return path + "-wal" },
	} {
		t.Run(name, func(t *testing.T) {
			s, path := started(t, sqlite.Options{})
			gone := file(path)
			if err := os.Rename(gone, gone+".away"); err != nil {
				t.Fatal(err)
			}
			wantDown(t, s, 2, "moved, removed or replaced")
			if err := os.WriteFile(gone, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			wantDown(t, s, 2, "the log's file") // another file in its place is no better
			if err := errors.Join(os.Remove(gone), os.Rename(gone+".away", gone)); err != nil {
				t.Fatal(err)
			}
			wantUp(t, s, 2)
		})
	}
}

// Requests that the database refuses are in the same batch as good ones, for the same
// sessions too. Each gets what it would get alone.
func TestBadRequestInBatch(t *testing.T) {
	for _, action := range []string{"ABORT", "ROLLBACK", "FAIL"} {
		t.Run(action, func(t *testing.T) {
			s, path := started(t, sqlite.Options{})
			other := raw(t, path)
			mustExec(t, other, fmt.Sprintf(`CREATE TRIGGER refuse AFTER INSERT ON records WHEN NEW.kind = 'turn.sealed'
				BEGIN SELECT RAISE(%s, 'refused'); END`, action))
			refused := storetest.Event("turn", 2)
			refused.Kind = event.TurnSealed
			bad := []*event.Event{storetest.Event("turn", 0), refused}
			good := storetest.Events("turn", 2, 2)
			steps := []sqlite.Step{
				{Session: "s", At: 2, Events: good}, {Session: "a", At: 0, Events: bad}, {Session: "a", At: 0, Events: good},
				{Session: "b", At: 1, Events: good}, {Session: "s", At: 2, Events: good}, {Session: "s", At: 4, Events: bad},
				{Session: "s", At: 6, Events: good}, {Session: "s", At: 4, Events: good}, {Session: "c", At: 0, Events: good},
			}
			want := []string{"", "refused", "", "moved on", "moved on", "refused", "moved on", "", ""}
			got, err := sqlite.Together(path, steps)
			if err != nil {
				t.Fatal(err)
			}
			for i, err := range got {
				wantSays(t, fmt.Sprintf("step %d, to %q at %d", i, steps[i].Session, steps[i].At), err, want[i])
			}
			mustExec(t, other, "DROP TRIGGER refuse")
			for session, n := range map[string]int{"s": 6, "a": 2, "b": 0, "c": 2} {
				if got := count(t, s, session); got != n {
					t.Errorf("session %q has %d records, want %d", session, got, n)
				}
			}
			report, err := s.Verify(t.Context(), nil)
			if err != nil || !report.OK() || report.Records != 10 {
				t.Errorf("verify: error %v, report %+v", err, report)
			}
		})
	}
}

// Where the store itself is in trouble, everybody in the batch is told, conflicts too:
// they were judged by what was then not written.
func TestLockedBatch(t *testing.T) {
	_, path := started(t, sqlite.Options{})
	other := raw(t, path)
	mustExec(t, other, "BEGIN IMMEDIATE")
	good := storetest.Events("turn", 2, 1)
	got, err := sqlite.Together(path, []sqlite.Step{{Session: "s", At: 2, Events: good}, {Session: "s", At: 2, Events: good}, {Session: "x", At: 0, Events: good}})
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range got {
		wantSays(t, fmt.Sprint("step ", i), err, "database is locked")
	}
}

// A caller that stops waiting does not hold up the writer, and nothing is half done.
func TestCallerGivesUpWhileQueued(t *testing.T) {
	s, path := started(t, sqlite.Options{LockWait: time.Minute})
	other := raw(t, path)
	mustExec(t, other, "BEGIN IMMEDIATE")
	ctx, cancel := context.WithCancel(t.Context())
	var all, begun sync.WaitGroup
	begun.Add(10)
	for i := range 10 {
		all.Go(func() {
			begun.Done()
			err := s.Append(ctx, fmt.Sprint("session ", i), 0, storetest.Events("turn", 0, 2))
			if !errors.Is(err, context.Canceled) || !errors.Is(err, engine.ErrUnavailable) {
				t.Errorf("append: got %v, want it cancelled and unavailable", err)
			}
		})
	}
	begun.Wait()
	cancel()
	all.Wait()
	mustExec(t, other, "ROLLBACK")
	if err := s.Append(t.Context(), "s", 2, storetest.Events("turn", 2, 1)); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		session := fmt.Sprint("session ", i)
		n := count(t, s, session)
		if n != 0 && n != 2 {
			t.Errorf("%s has %d records, want none or 2", session, n)
		}
		if err := s.Append(t.Context(), session, uint64(n), storetest.Events("turn", n, 1)); err != nil {
			t.Errorf("append after loading again: %v", err)
		}
	}
}

// What was acknowledged before Close is there; what was not is refused clearly.
func TestCloseUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := open(t, path)
	const sessions = 32
	var acks [sessions]int
	var all sync.WaitGroup
	begun := make(chan struct{}, sessions)
	for i := range sessions {
		all.Go(func() {
			for {
				err := s.Append(t.Context(), fmt.Sprint("session ", i), uint64(acks[i]), storetest.Events("turn", acks[i], 1))
				if err != nil {
					if !errors.Is(err, engine.ErrUnavailable) {
						t.Errorf("append: got %v, want it unavailable", err)
					}
					return
				}
				if acks[i]++; acks[i] == 3 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range sessions {
		<-begun
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	again := open(t, path)
	for i, want := range acks {
		if got := count(t, again, fmt.Sprint("session ", i)); got != want {
			t.Errorf("session %d has %d records, %d were acknowledged", i, got, want)
		}
	}
}
