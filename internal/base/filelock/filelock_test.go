package filelock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/internal/base/filelock"
)

func TestAFileIsOneHoldersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	if ok, err := filelock.Try(first); !ok || err != nil {
		t.Fatalf("the first: %v, %v; want it to have the file", ok, err)
	}
	if ok, err := filelock.Try(second); ok || err != nil {
		t.Errorf("the second beside the first: %v, %v; want it refused", ok, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if ok, err := filelock.Try(second); !ok || err != nil {
		t.Errorf("the second once the first has let go: %v, %v; want it to have the file", ok, err)
	}
}
