package entry_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/entry"
)

// Whatever is wrong with how it was called, nothing runs and it is said.
func TestWhatIsNotUnderstoodRunsNothing(t *testing.T) {
	data := t.TempDir()
	for _, args := range [][]string{
		{}, {"ticket"}, {"--data", data, "ticket"}, {"--data", data, "ticket", "--", "one", "two"}, {"--data", "relative", "ticket", "--", "line"},
		{"ticket", "--", "line"}, {"--nothing", "ticket", "--", "line"}, {"--data", filepath.Join(data, "nowhere"), "ticket", "--", "line"},
	} {
		var said bytes.Buffer
		if code := entry.Main(args, &said); code != box.ExitNoBox || said.Len() == 0 {
			t.Errorf("%q: %d %s", args, code, said.String())
		}
	}
}

// A path of any length leads to the socket, and what is no socket of a keeper's is told apart from none.
func TestAskingWithoutAKeeper(t *testing.T) {
	data := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Ask(data, entry.Request{Do: entry.List}); !errors.Is(err, entry.ErrNoKeeper) {
		t.Error(err)
	}
	dir, err := os.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	t.Chdir(data)
	l, err := net.Listen("unix", filepath.Base(entry.Socket(data)))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if c, err := l.Accept(); err == nil {
			_ = c.Close()
		}
	}()
	if _, err := entry.Ask(data, entry.Request{Do: entry.List}); err == nil || errors.Is(err, entry.ErrNoKeeper) {
		t.Errorf("somebody who hangs up: %v", err)
	}
	_ = l.Close()
}
