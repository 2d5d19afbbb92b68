package sqlite_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

var folderKey = []byte("the key of the folder, 32 bytes long")

// signed is a log of six commits that was closed as it should be.
func signed(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Key: folderKey})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if err := s.Append(t.Context(), "s", uint64(i), storetest.Events("turn", i, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// takeEnd takes the last commit off the log, so that nothing in it tells of it.
func takeEnd(t *testing.T, path string) {
	t.Helper()
	db := raw(t, path)
	for _, query := range []string{
		`DELETE FROM records WHERE id = (SELECT max(id) FROM records)`, `DELETE FROM ledger WHERE batch = (SELECT max(batch) FROM ledger)`,
		`UPDATE heads SET seq = (SELECT max(seq) FROM records), hash = (SELECT hash FROM records ORDER BY seq DESC LIMIT 1)`,
	} {
		mustExec(t, db, query)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// agree writes a mark that fits the log as it is, as far as somebody can who has no key or another one.
func agree(t *testing.T, path string, form string) {
	t.Helper()
	r, err := sqlite.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	head, err := r.Head(t.Context())
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("%020d:%s", head.Batch, head.Hash)
	if form != "" {
		line += fmt.Sprintf(":%08x", crc32.ChecksumIEEE([]byte(line))) + strings.TrimPrefix(form, "sum")
	}
	if err := os.WriteFile(path+"-head", []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// BEY-12: who writes the folder and has not its key cannot take commits off a log, also one that was closed, and have the mark agree.
func TestAMarkIsBelievedOnlyWithTheKey(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		says   string // "": it is opened
	}{
		"nothing is changed":               {func(*testing.T, string) {}, ""},
		"an end that was taken away":       {takeEnd, "the end of the log was cut off"},
		"a mark as earlier programs wrote": {func(t *testing.T, path string) { takeEnd(t, path); agree(t, path, "") }, "is not signed"},
		"one with a sum":                   {func(t *testing.T, path string) { takeEnd(t, path); agree(t, path, "sum") }, "is not signed"},
		"one that says it has no key":      {func(t *testing.T, path string) { takeEnd(t, path); agree(t, path, ":"+strings.Repeat("0", 32)) }, "is not signed"},
		"one of another key":               {func(t *testing.T, path string) { takeEnd(t, path); agree(t, path, ":"+strings.Repeat("a1", 16)) }, "not signed with the key"},
		"one that tells of no commit": {func(t *testing.T, path string) {
			takeEnd(t, path)
			agreeNothing(t, path)
		}, "is not signed"},
		"somebody vouches for it": {func(t *testing.T, path string) {
			takeEnd(t, path)
			if err := os.Remove(path + "-head"); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := signed(t)
			c.damage(t, path)
			r, err := sqlite.OpenReader(t.Context(), path, sqlite.Options{Key: folderKey})
			if err != nil {
				t.Fatal(err)
			}
			report, err := r.Verify(t.Context(), nil)
			if (err == nil && report.OK()) != (c.says == "") {
				t.Errorf("verify found %v, %v", report.Breaks, err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{Key: folderKey})
			if c.says == "" {
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, audit.ErrBroken) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "tidemark log restore") {
				t.Errorf("got %v, want %q and what to do", err, c.says)
			}
		})
	}
}

// A folder of an earlier program opens, whatever its mark was, is signed from then on, and tells where its sessions stood.
func TestAFolderOfAnEarlierProgramIsSigned(t *testing.T) {
	for name, old := range map[string]func(t *testing.T, path string){
		"closed as it should be": func(t *testing.T, path string) {
			if err := os.Remove(path + "-head"); err != nil {
				t.Fatal(err)
			}
		},
		"killed":                       func(t *testing.T, path string) { agree(t, path, "sum") },
		"killed, and older still":      func(t *testing.T, path string) { agree(t, path, "") },
		"killed before its first word": func(t *testing.T, path string) { agreeNothing(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := signed(t)
			old(t, path)
			db := raw(t, path)
			for _, query := range []string{`DROP TABLE heads`, `DELETE FROM schema_version WHERE version_id > 3`} {
				mustExec(t, db, query)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			for round := range 2 {
				s, err := sqlite.Open(t.Context(), path, sqlite.Options{Key: folderKey})
				if err != nil {
					t.Fatalf("start %d: %v", round, err)
				}
				n := 0
				for _, err := range s.Load(t.Context(), "s", 0) {
					if err != nil {
						t.Fatal(err)
					}
					n++
				}
				report, err := s.Verify(t.Context(), nil)
				if err != nil || !report.OK() || n != 6 {
					t.Errorf("start %d: %d records, %v, %v", round, n, report.Breaks, err)
				}
				line, err := os.ReadFile(path + "-head")
				if err != nil || strings.Count(string(line), ":") != 3 || strings.Contains(string(line), ":"+strings.Repeat("0", 32)+"\n") {
					t.Errorf("start %d: the mark is %q, %v", round, line, err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			takeEnd(t, path)
			if _, err := sqlite.Open(t.Context(), path, sqlite.Options{Key: folderKey}); !errors.Is(err, audit.ErrBroken) {
				t.Errorf("an end that was taken away: got %v", err)
			}
		})
	}
}

// agreeNothing writes a mark that tells of no commit.
func agreeNothing(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path+"-head", fmt.Appendf(nil, "%020d:%064d\n", 0, 0), 0o600); err != nil {
		t.Fatal(err)
	}
}
