package entry_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
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

// What an agent puts around a line changes nothing about the line: a shell runs it with its own bytes, and it has no hold of the file that
// the folder is written to.
func TestWhatIsAroundALine(t *testing.T) {
	for _, line := range []string{"echo it's; exit 3", "cd /; printf 'a\\tb'", `echo "$A" >&3; cat`, "true", "echo '\n'"} {
		r := entry.Request{Line: []byte(line), Around: &entry.Around{Before: []byte("A=before"), Quiet: true, Where: true}}
		near, far, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		plain := exec.Command("/bin/bash", "-c", "A=before; exec 3>&- </dev/null\n"+line)
		around := exec.Command("/bin/bash", "-c", r.Text())
		around.ExtraFiles, around.Stdin = []*os.File{far}, strings.NewReader("typed")
		want, _ := plain.Output()
		got, _ := around.Output()
		_ = far.Close()
		if string(got) != string(want) || around.ProcessState.ExitCode() != plain.ProcessState.ExitCode() || r.Files() != 4 {
			t.Errorf("%s: got %q %v, want %q %v", line, got, around.ProcessState, want, plain.ProcessState)
		}
		if said, _ := io.ReadAll(near); strings.Contains(string(said), "before") || line == "true" && !filepath.IsAbs(string(said)) {
			t.Errorf("%s: it wrote %q where the folder is written", line, said)
		}
	}
	if r := (entry.Request{Line: []byte("x")}); r.Text() != "x" || r.Files() != 3 {
		t.Errorf("got %q", r.Text())
	}
}
