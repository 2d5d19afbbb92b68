package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

// crashed is a log as a server leaves it that is killed: three commits in the file, and three more in its
// write-ahead log.
func crashed(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.db")
	for round := range 2 {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			at := 3*round + i
			if err := s.Append(t.Context(), "s", uint64(at), storetest.Events("turn", at, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if round == 1 {
			to := filepath.Join(t.TempDir(), "log.db")
			for _, suffix := range []string{"", "-wal", "-head"} {
				raw, err := os.ReadFile(path + suffix)
				if err == nil {
					err = os.WriteFile(to+suffix, raw, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			path = to
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// BEY-12: acknowledged commits cannot vanish with the end of the write-ahead log.
func TestALogWhoseEndIsGoneIsNotOpened(t *testing.T) {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		whole  bool
	}{
		"nothing is damaged":        {func(*testing.T, string) {}, true},
		"its end is cut off":        {func(t *testing.T, path string) { must(t, os.Truncate(path+"-wal", size(t, path+"-wal")-100)) }, false},
		"half of it is cut off":     {func(t *testing.T, path string) { must(t, os.Truncate(path+"-wal", size(t, path+"-wal")/2)) }, false},
		"it is gone":                {func(t *testing.T, path string) { must(t, os.Remove(path+"-wal")) }, false},
		"a bit of it has flipped":   {func(t *testing.T, path string) { flip(t, path+"-wal") }, false},
		"somebody vouches for it":   {func(t *testing.T, path string) { must(t, errors.Join(os.Remove(path+"-wal"), os.Remove(path+"-head"))) }, true},
		"the mark cannot be read":   {func(t *testing.T, path string) { must(t, os.WriteFile(path+"-head", []byte("\x00\x00"), 0o600)) }, false},
		"the mark is empty":         {func(t *testing.T, path string) { must(t, os.Truncate(path+"-head", 0)) }, false},
		"a bit of the mark flipped": {func(t *testing.T, path string) { flipAt(t, path+"-head", 40) }, false},
		"its number is another":     {func(t *testing.T, path string) { flipAt(t, path+"-head", 19) }, false},
		"the mark was taken away":   {func(t *testing.T, path string) { must(t, os.Remove(path+"-head")) }, false},
		"an earlier program's mark": {func(t *testing.T, path string) { must(t, os.Truncate(path+"-head", 85)) }, true},
		"the mark is an older one":  {func(t *testing.T, path string) { older(t, path) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := crashed(t)
			c.damage(t, path)
			r, err := sqlite.OpenReadOnly(t.Context(), path)
			must(t, err)
			report, err := r.Verify(t.Context(), nil)
			must(t, r.Close())
			if err != nil && !errors.Is(err, audit.ErrBroken) {
				t.Fatal(err)
			}
			if (err == nil && report.OK()) != c.whole {
				t.Errorf("verify found %v, %v", report.Breaks, err)
			}
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if c.whole {
				must(t, err)
				must(t, s.Close())
				return
			}
			if !errors.Is(err, audit.ErrBroken) || !strings.Contains(err.Error(), "tidemark log restore") {
				t.Errorf("got %v, want that it is broken and what to do", err)
			}
		})
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// flip changes a bit in the last page.
func flip(t *testing.T, path string) { flipAt(t, path, int(size(t, path))-50) }

func flipAt(t *testing.T, path string, at int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[at] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// older puts the mark back to where the log stood after its third commit.
func older(t *testing.T, path string) {
	t.Helper()
	r, err := sqlite.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	head, err := r.HeadAt(t.Context(), 3)
	err = errors.Join(err, r.Close())
	if err == nil {
		err = os.WriteFile(path+"-head", []byte("3:"+head.Hash.String()+"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
