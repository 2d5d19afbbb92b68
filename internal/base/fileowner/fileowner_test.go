//go:build unix

package fileowner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/internal/base/fileowner"
)

func TestAFileIsOpenWhereItsModeSaysSo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode][2]bool{0o600: {false, false}, 0o640: {true, false}, 0o620: {true, true}, 0o602: {true, true}} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{fileowner.Open(info, 0o077), fileowner.Open(info, 0o022)}; got != want {
			t.Errorf("mode %o: got %v, want %v (open at all, open to be written)", mode, got, want)
		}
	}
}

func TestAFileIsWhosItIs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || !fileowner.Mine(info) {
		t.Errorf("a file of one's own: %v", err)
	}
	if os.Geteuid() != 0 {
		return // only root can give a file away
	}
	if err := os.Chown(name, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if info, err = os.Stat(name); err != nil || fileowner.Mine(info) {
		t.Errorf("somebody else's file counts as one's own (%v)", err)
	}
}
