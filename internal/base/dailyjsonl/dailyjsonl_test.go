package dailyjsonl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/dailyjsonl"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, folder, from string) []string {
	t.Helper()
	var out []string
	for l, err := range dailyjsonl.Lines(folder, from) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l.Day+" "+string(l.Data))
	}
	return out
}

func write(t *testing.T, b *dailyjsonl.Book, at time.Time, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if err := b.Write(at, []byte(l)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEachDayHasAFileThatIsReadInOrder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "book")
	b := &dailyjsonl.Book{Folder: folder}
	write(t, b, noon, `{"n":1}`, `{"n":2}`)
	write(t, b, noon.Add(24*time.Hour), `{"n":3}`)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, b, noon.Add(24*time.Hour), `{"n":4}`) // opened again
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{`2026-03-01 {"n":1}`, `2026-03-01 {"n":2}`, `2026-03-02 {"n":3}`, `2026-03-02 {"n":4}`}
	if diff := cmp.Diff(want, read(t, folder, "")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[2:], read(t, folder, "2026-03-02")); diff != "" {
		t.Errorf("from the second day on (-want +got):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(folder, "2026-03-01.jsonl"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a file for its owner alone", info, err)
	}
}

func TestWhatACrashCutOffIsNeitherReadNorInTheWay(t *testing.T) {
	for name, left := range map[string]string{
		"half a line": `{"n":`, "a long one": `{"n":"` + strings.Repeat("x", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "2026-03-01.jsonl")
			if err := os.WriteFile(path, []byte("{\"n\":1}\n"+left), 0o600); err != nil {
				t.Fatal(err)
			}
			want := []string{`2026-03-01 {"n":1}`}
			if diff := cmp.Diff(want, read(t, folder, "")); diff != "" {
				t.Errorf("before the next line (-want +got):\n%s", diff)
			}
			b := &dailyjsonl.Book{Folder: folder}
			write(t, b, noon, `{"n":2}`)
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append(want, `2026-03-01 {"n":2}`), read(t, folder, "")); diff != "" {
				t.Errorf("after it (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOldDaysArePrunedAndOtherFilesStay(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"2026-02-01.jsonl", "2026-03-01.jsonl", "notes.txt", "mine.jsonl"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gone, err := dailyjsonl.Prune(folder, "2026-03-01")
	if diff := cmp.Diff([]string{"2026-02-01"}, gone); diff != "" || err != nil {
		t.Errorf("pruned (-want +got):\n%s%v", diff, err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) != 3 {
		t.Errorf("left %v, %v", left, err)
	}
	if got := read(t, filepath.Join(folder, "none"), ""); got != nil {
		t.Errorf("a folder that is not there has %v", got)
	}
	var nowhere dailyjsonl.Book
	write(t, &nowhere, noon, "{}")
}

func TestAFolderThatCannotBeWrittenIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := &dailyjsonl.Book{Folder: file}
	if err := b.Write(noon, []byte("{}")); err == nil {
		t.Error("got no error")
	}
	for _, err := range dailyjsonl.Lines(file, "") {
		if err == nil {
			t.Error("a file was read as a folder")
		}
	}
}
