package datafolder_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/datafolder"
)

// VER-09
func TestTheKeyOfAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.key")
	first, err := datafolder.LoadKey(path)
	if err != nil || len(first) != 32 {
		t.Fatalf("got %d bytes, %v", len(first), err)
	}
	if again, err := datafolder.LoadKey(path); err != nil || !bytes.Equal(first, again) {
		t.Errorf("at the next start: got %x, %v; want %x", again, err, first)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v; want a file of its owner's alone", info.Mode(), err)
	}
	for name, spoil := range map[string]func() error{
		"delete the file":    func() error { return os.WriteFile(path, []byte("0123\n"), 0o600) },
		"readable by others": func() error { return os.Chmod(path, 0o644) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if got, err := datafolder.LoadKey(path); err == nil || got != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %x, %v; want an error that says %q", got, err, name)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
