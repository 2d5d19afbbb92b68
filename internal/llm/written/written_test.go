package written_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/written"
)

// reopen reads what the file holds, as another process would.
func reopen(t *testing.T, path, key string) (w *written.File, records []string, whole bool) {
	t.Helper()
	w, err := written.Open(path, []byte(key), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	whole = w.Kept(func(r []byte) { records = append(records, string(r)) })
	return w, records, whole
}

func TestWhatWasWrittenIsThereAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "written.bin")
	w, got, whole := reopen(t, path, "k")
	if len(got) != 0 || !whole {
		t.Fatalf("a new file: %q, whole %v", got, whole)
	}
	for _, r := range []string{"one", "two", ""} {
		w.Keep([]byte(r))
	}
	w, got, whole = reopen(t, path, "k")
	if !slices.Equal(got, []string{"one", "two", ""}) || !whole {
		t.Fatalf("got %q, whole %v", got, whole)
	}
	w.Replace(func(yield func([]byte) bool) { yield([]byte("anew")) })
	w.Keep([]byte("more"))
	if _, got, whole = reopen(t, path, "k"); !slices.Equal(got, []string{"anew", "more"}) || !whole {
		t.Errorf("written anew: %q, whole %v", got, whole)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
}

func TestWhatIsWrongWithTheFileIsSaidAndTheRestGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func([]byte) []byte
		key   string
		want  []string
	}{
		"cut off in a record":   {func(b []byte) []byte { return b[:len(b)-1] }, "k", []string{"one"}},
		"cut off in a length":   {func(b []byte) []byte { return b[:len(b)-8] }, "k", []string{"one"}},
		"a bit in the last one": {func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, "k", []string{"one"}},
		"not our file":          {func([]byte) []byte { return []byte("something else") }, "k", nil},
		"another key":           {func(b []byte) []byte { return b }, "other", nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "written.bin")
			w, _, _ := reopen(t, path, "k")
			w.Keep([]byte("one"))
			w.Keep([]byte("two"))
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.spoil(raw), 0o600); err != nil {
				t.Fatal(err)
			}
			w, got, whole := reopen(t, path, c.key)
			if !slices.Equal(got, c.want) || whole {
				t.Errorf("got %q, whole %v", got, whole)
			}
			w.Keep([]byte("three"))
			if _, got, whole = reopen(t, path, c.key); !slices.Equal(got, append(c.want, "three")) || !whole {
				t.Errorf("after it: %q, whole %v", got, whole)
			}
		})
	}
}

func TestTheFileIsWrittenAnewWhenItHasGrown(t *testing.T) {
	w, _, _ := reopen(t, filepath.Join(t.TempDir(), "written.bin"), "k")
	if w.Full() {
		t.Error("an empty file is full")
	}
	for range 17 {
		w.Keep(bytes.Repeat([]byte("x"), 1<<20))
	}
	if !w.Full() {
		t.Error("it is not full")
	}
	w.Replace(func(yield func([]byte) bool) {
		for i := range 3 {
			yield(fmt.Append(nil, i))
		}
	})
	if w.Full() {
		t.Error("it is full after it was written anew")
	}
}
