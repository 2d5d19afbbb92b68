package checkpoints_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/store/checkpoints"
)

var key = []byte("0123456789abcdef0123456789abcdef")

func open(t *testing.T, path string, most int64) *checkpoints.Folder {
	t.Helper()
	f, err := checkpoints.Open(path, key, most)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func filesOf(t *testing.T, path string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTheLatestCheckpointOfASessionIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoints")
	f := open(t, path, 1<<20)
	if got := f.Get("alice@harbour.example"); got != nil {
		t.Errorf("there is none, and it is %q", got)
	}
	f.Put("alice@harbour.example", []byte("one"))
	f.Put("alice@harbour.example", []byte("two"))
	f.Put("bob", []byte("his"))
	for _, f := range []*checkpoints.Folder{f, open(t, path, 1<<20)} {
		if got := f.Get("alice@harbour.example"); string(got) != "two" {
			t.Errorf("got %q", got)
		}
	}
	for _, e := range filesOf(t, path) {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 || strings.Contains(e.Name(), "alice") {
			t.Errorf("%s has mode %v (%v)", e.Name(), info.Mode(), err)
		}
	}
	f.Drop("alice@harbour.example")
	f.Drop("nobody")
	if got := f.Get("alice@harbour.example"); got != nil || len(filesOf(t, path)) != 1 {
		t.Errorf("it is still there: %q, %d files", got, len(filesOf(t, path)))
	}
}

func TestTheOldestGoFirst(t *testing.T) {
	path := t.TempDir()
	f := open(t, path, 1000)
	for i := range 20 {
		f.Put(fmt.Sprint(i), bytes.Repeat([]byte{byte(i)}, 100))
	}
	for i := range 20 {
		if kept := f.Get(fmt.Sprint(i)) != nil; kept != (i >= 10) {
			t.Errorf("%d: kept %v", i, kept)
		}
	}
	f.Put("too large", make([]byte, 600))
	if f.Get("too large") != nil || f.Get("19") == nil {
		t.Error("one took the place of the others")
	}
	if open(t, path, 250); len(filesOf(t, path)) != 2 {
		t.Errorf("a smaller bound leaves %d files", len(filesOf(t, path)))
	}
}

func TestClearLeavesWhatIsNoCheckpoint(t *testing.T) {
	path := t.TempDir()
	open(t, path, 1000).Put("a", []byte("x"))
	if err := os.WriteFile(filepath.Join(path, "notes.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkpoints.Clear(path); err != nil {
		t.Fatal(err)
	}
	if list := filesOf(t, path); len(list) != 1 || list[0].Name() != "notes.txt" {
		t.Errorf("left: %v", list)
	}
	if err := checkpoints.Clear(filepath.Join(path, "none")); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatCannotBeWrittenKeepsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone")
	f := open(t, path, 1000)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	f.Put("a", []byte("x"))
	if got := f.Get("a"); got != nil {
		t.Errorf("got %q", got)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := checkpoints.Open(path, key, 1000); err == nil {
		t.Error("a file is no folder")
	}
}
