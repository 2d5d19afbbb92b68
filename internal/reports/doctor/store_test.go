package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/reports/doctor"
	"github.com/tidemark/tidemark/internal/store"
)

// written is a log of records of two sessions, whole unless somebody changes it.
type written struct {
	entries []store.Entry
	err     error
}

func newLog(n int) *written {
	w := &written{}
	heads := map[string]audit.Head{}
	for i := range n {
		rec := audit.Record{Session: fmt.Sprintf("s%d", i%2), Kind: "k", Body: []byte(`{}`)}
		heads[rec.Session] = audit.Next(heads[rec.Session], &rec)
		w.entries = append(w.entries, store.Entry{ID: int64(i + 1), Record: rec})
	}
	return w
}

func (w *written) Head(context.Context) (store.Head, error) {
	return store.Head{Records: int64(len(w.entries))}, w.err
}

func (w *written) Since(_ context.Context, q store.EntryQuery) ([]store.Entry, error) {
	return w.entries[q.After:min(int(q.After)+q.Limit, len(w.entries))], w.err
}

func TestStore(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "file")
	readOnly, others, seen := filepath.Join(folder, "ro"), filepath.Join(folder, "others"), filepath.Join(folder, "seen")
	for name, mode := range map[string]os.FileMode{readOnly: 0o500, others: 0o777, seen: 0o755} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	changed := func(n, at int) *written {
		w := newLog(n)
		w.entries[at].Body = []byte(`{"x":1}`)
		return w
	}
	good := map[string]string{"store/data folder": "good", "store/chain": "good", "store/writable": "good"}
	tests := map[string]struct {
		folder string
		absent bool
		log    *written
		open   error
		write  error
		want   map[string]string
	}{
		"whole":                     {folder, false, newLog(20), nil, nil, good},
		"others look into it":       {seen, false, newLog(20), nil, nil, map[string]string{"store/data folder": "limit", "store/chain": "good", "store/writable": "good"}},
		"empty":                     {folder, false, newLog(0), nil, nil, good},
		"long":                      {folder, false, newLog(2500), nil, nil, good},
		"an old change in a long":   {folder, false, changed(2500, 3), nil, nil, good}, // audit verify is for that
		"a changed record":          {folder, false, changed(20, 10), nil, nil, map[string]string{"store/data folder": "good", "store/chain": "broken", "store/writable": "good"}},
		"a changed last record":     {folder, false, changed(2500, 2499), nil, nil, map[string]string{"store/data folder": "good", "store/chain": "broken", "store/writable": "good"}},
		"no log yet":                {folder, true, nil, nil, nil, map[string]string{"store/data folder": "good", "store/log": "off"}},
		"no folder yet":             {filepath.Join(folder, "none"), true, nil, nil, nil, map[string]string{"store/data folder": "off"}},
		"a file for a folder":       {file, false, nil, nil, nil, map[string]string{"store/data folder": "broken"}},
		"a read-only folder":        {readOnly, false, newLog(2), nil, nil, map[string]string{"store/data folder": "broken", "store/chain": "good", "store/writable": "good"}},
		"a folder open to others":   {others, false, newLog(2), nil, nil, map[string]string{"store/data folder": "broken", "store/chain": "good", "store/writable": "good"}},
		"a log nobody can open":     {folder, false, nil, errTest, nil, map[string]string{"store/data folder": "good", "store/log": "broken"}},
		"a log nobody can read":     {folder, false, &written{err: errTest}, nil, nil, map[string]string{"store/data folder": "good", "store/log": "broken", "store/writable": "good"}},
		"a log that is not written": {folder, false, newLog(2), nil, errTest, map[string]string{"store/data folder": "good", "store/chain": "good", "store/writable": "broken"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				r := examine(t, doctor.CheckStore(doctor.Store{
					Folder: tt.folder, Exists: !tt.absent, Write: func(context.Context) error { return tt.write },
					Read: func(context.Context) (doctor.Log, func() error, error) {
						return tt.log, func() error { return nil }, tt.open
					},
				}))
				wantGrades(t, r, tt.want)
			}
		})
	}
}

// A key or a log that others can read is a fault, wherever the folder stands.
func TestFilesThatOthersReadAreFound(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"words.key", "tidemark.db"} {
		if err := errors.Join(os.WriteFile(filepath.Join(folder, name), nil, 0o600), os.Chmod(filepath.Join(folder, name), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	r := examine(t, doctor.CheckStore(doctor.Store{Folder: folder}))
	for _, name := range []string{"words.key", "tidemark.db"} {
		if got := text(r, "store", name); !strings.Contains(got, "other users") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestALongLogIsNotSaidToBeWhole(t *testing.T) {
	r := examine(t, doctor.CheckStore(doctor.Store{Folder: t.TempDir(), Exists: true,
		Read: func(context.Context) (doctor.Log, func() error, error) {
			return newLog(2500), func() error { return errTest }, nil
		}}))
	if got := text(r, "store", "chain"); !strings.Contains(got, "the last 1000 of 2500 records") || !strings.Contains(got, "log verify") {
		t.Errorf("got %q", got)
	}
	if got := text(r, "store", "log"); !strings.Contains(got, errTest.Error()) {
		t.Errorf("a log that does not close: got %q", got)
	}
}
