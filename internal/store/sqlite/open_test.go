package sqlite_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

func TestOpenErrors(t *testing.T) {
	foreign := func(t *testing.T, path string) { mustExec(t, raw(t, path), "CREATE TABLE bookmarks (url TEXT)") }
	inUse := func(t *testing.T, path string) {
		db := raw(t, path)
		mustExec(t, db, "PRAGMA journal_mode = WAL")
		mustExec(t, db, "CREATE TABLE bookmarks (url TEXT)")
	}
	newer := func(t *testing.T, path string) {
		if err := open(t, path).Close(); err != nil {
			t.Fatal(err)
		}
		mustExec(t, raw(t, path), "INSERT INTO schema_version (version_id, is_applied) VALUES (1000, 1)")
	}
	text := func(t *testing.T, path string) { write(t, path, strings.Repeat("this is a letter, not a log\n", 100)) }
	folder := func(t *testing.T, path string) {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	nothing := func(*testing.T, string) {}
	for _, test := range []struct {
		name, file  string
		prepare     func(t *testing.T, path string)
		write, read string // what the errors say; empty for none
	}{
		{"a file that is not a database", "x", text, "not a log, choose another path", "not a log, choose another path"},
		{"a database of another program", "x", foreign, "of another program, choose another path", "of another program, choose another path"},
		{"a database another program is using", "x", inUse, "of another program, choose another path", "of another program, choose another path"},
		{"a log of a newer program", "x", newer, "has version 1000 and this program knows 4: use the newer program", "use the newer program"},
		{"a directory that does not exist", "no/x", nothing, "directory must exist", "no such file"},
		{"a directory instead of a file", "x", folder, "not a file, choose another path", "not a file, choose another path"},
		{"a file that does not exist", "x", nothing, "", "no such file"},
		{"an empty file", "x", func(t *testing.T, path string) { write(t, path, "") }, "", "let the server of this version open it once"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), test.file)
			test.prepare(t, path)
			before, _ := os.ReadFile(path)
			r, err := sqlite.OpenReadOnly(t.Context(), path)
			wantSays(t, "open for reading", err, test.read)
			if err == nil {
				r.Close()
			}
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			wantSays(t, "open", err, test.write)
			if err == nil {
				s.Close()
				return
			}
			if after, _ := os.ReadFile(path); string(before) != string(after) {
				t.Error("the file was changed")
			}
		})
	}
	if _, err := sqlite.OpenReadOnly(t.Context(), filepath.Join(t.TempDir(), "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want a file that does not exist", err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantSays(t *testing.T, doing string, err error, says string) {
	t.Helper()
	if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
		t.Errorf("%s: got %v, want an error that says %q", doing, err, says)
	}
}

func TestFilesArePrivate(t *testing.T) {
	_, path := started(t, sqlite.Options{})
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("log%s has mode %o, want 600", suffix, got)
		}
	}
}

// beside runs a function beside the test, which fails with it.
func beside(t *testing.T, all *sync.WaitGroup, do func() error) {
	all.Go(func() {
		if err := do(); err != nil {
			t.Error(err)
		}
	})
}

func TestOpenByManyAtOnce(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "log.db")
		var group sync.WaitGroup
		for i := range 4 {
			beside(t, &group, func() error {
				s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
				if err != nil {
					return err
				}
				return errors.Join(s.Append(t.Context(), fmt.Sprint(i), 0, storetest.Events("turn", 0, 1)), s.Close())
			})
		}
		group.Wait()
		if report, err := open(t, path).Verify(t.Context(), nil); err != nil || !report.OK() || report.Records != 4 {
			t.Errorf("verify: error %v, report %+v", err, report)
		}
	}
}

// Nothing is left open or lying about: a closed log is one file that can be copied.
func TestClosedLogIsOneFile(t *testing.T) {
	s, path := started(t, sqlite.Options{LockWait: time.Millisecond})
	other := raw(t, path)
	mustExec(t, other, "BEGIN IMMEDIATE")
	wantDown(t, s, 2, "lock") // so that it connects more than once
	if err := errors.Join(other.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("got files %v and error %v, want the log alone", files, err)
	}
}

// The log survives being closed and opened again, and readers come and go beside it.
//
// SEQ-09
func TestReopen(t *testing.T) {
	s, path := started(t, sqlite.Options{})
	r, err := sqlite.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := s.Append(t.Context(), "s", 2, storetest.Events("turn", 2, 3)); err != nil {
		t.Fatal(err)
	}
	got, err := r.Since(t.Context(), store.EntryQuery{After: 2})
	if err != nil || len(got) != 3 {
		t.Errorf("a reader beside the writer sees %d new records and error %v, want 3", len(got), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path)
	wantUp(t, again, 5)
	if report, err := r.Verify(t.Context(), nil); err != nil || !report.OK() || report.Records != 6 {
		t.Errorf("verify by the reader: error %v, report %+v", err, report)
	}
}

// Two servers on one file: neither trusts what it remembers once the other has written.
func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	stores := []*sqlite.Store{open(t, path), open(t, path)}
	for step := range 20 {
		mine, other := stores[step%2], stores[(step+1)%2]
		if err := mine.Append(t.Context(), "s", uint64(step), storetest.Events("turn", step, 1)); err != nil {
			t.Fatalf("append at %d: %v", step, err)
		}
		if err := other.Append(t.Context(), "s", uint64(step), storetest.Events("turn", step, 1)); !errors.Is(err, engine.ErrConflict) {
			t.Fatalf("append at %d by the other: got %v, want a conflict", step, err)
		}
	}
	const writers, steps = 4, 15
	var group sync.WaitGroup
	for i := range writers {
		beside(t, &group, func() error {
			s := stores[i%2]
			for done := 0; done < steps; {
				n := 0
				for _, err := range s.Load(t.Context(), "shared", 0) {
					if err != nil {
						return err
					}
					n++
				}
				err := s.Append(t.Context(), "shared", uint64(n), storetest.Events(fmt.Sprint(i), n, 1))
				if err == nil {
					done++
				} else if !errors.Is(err, engine.ErrConflict) {
					return err
				}
			}
			return nil
		})
	}
	group.Wait()
	for _, s := range stores {
		if report, err := s.Verify(t.Context(), nil); err != nil || !report.OK() || report.Records != 20+writers*steps {
			t.Errorf("verify: error %v, report %+v", err, report)
		}
	}
}

func TestHeadsAreForgotten(t *testing.T) {
	var h sqlite.Heads
	for i := range 5 * sqlite.MaxHeads {
		h.Put("used", uint64(i))
		h.Put(fmt.Sprint("session ", i), uint64(i))
		if seq, ok := h.Get("used"); !ok || seq != uint64(i) {
			t.Fatalf("after %d sessions: got %d, %v for the one in use", i, seq, ok)
		}
	}
	if h.Len() > 2*sqlite.MaxHeads {
		t.Errorf("%d heads are held, want at most %d", h.Len(), 2*sqlite.MaxHeads)
	}
	if _, ok := h.Get("session 0"); ok {
		t.Error("a session not used for long is still held")
	}
	if _, ok := h.Get(fmt.Sprint("session ", 5*sqlite.MaxHeads-1)); !ok {
		t.Error("the last session is not held")
	}
}

// A damaged file is cited in errors, and no byte of it goes to a terminal as it is.
func TestADamagedFileIsCitedQuoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(text), "CREATE TABLE records")
	kind := strings.Index(string(text[at:]), "TEXT") + at
	text[kind] = 0x80 // SQLite cites the type that it does not know
	write(t, path, string(text))
	_, err = sqlite.OpenReadOnly(t.Context(), path)
	wantSays(t, "open", err, "the file is damaged")
	if !strings.Contains(err.Error(), `"\x80EXT"`) || !utf8.ValidString(err.Error()) {
		t.Errorf("got %q, want its bytes quoted", err)
	}
}
