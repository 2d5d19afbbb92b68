package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/test/watchtest"
)

// scripted is a server that says what a test tells it to, announced in a data folder as
// the real one is.
func scripted(t *testing.T, data string) *watchtest.Server {
	t.Helper()
	return watchtest.Start(t, data, tokensOf(t, data))
}

// BEY-10: piped, every question is a line of JSON, and nothing comes twice.
func TestLines(t *testing.T) {
	s := scripted(t, t.TempDir())
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var errOut bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"approvals", "watch", "--data", s.Data}, strings.NewReader(""), w, &errOut)
	}()
	out := linesOf(r)
	first, second := watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"tool": "x\u202e\x1b\x7f"}), watchtest.Held(t, "ask-2", watchtest.Noon, nil)
	s.Snapshot <- first
	expect := func(id, state string) string {
		t.Helper()
		printed := <-out
		var q engine.Question
		if err := strictjson.Unmarshal([]byte(printed), &q); err != nil {
			t.Fatalf("%q: %v", printed, err)
		}
		if q.ID != id || q.State != state {
			t.Fatalf("printed %s %s, want %s %s", q.ID, q.State, id, state)
		}
		for _, c := range strings.TrimSpace(printed) {
			if text.Drawable(c) != c {
				t.Errorf("printed %q in %q", c, printed)
			}
		}
		return q.Tool
	}
	if got := expect("ask-1", "pending"); got != "x\u202e\x1b\x7f" {
		t.Errorf("the tool is %q, want its value unchanged", got)
	}
	s.Question(second)
	expect("ask-2", "pending")
	s.Lose()
	s.Snapshot <- first + "," + watchtest.Held(t, "ask-2", watchtest.Noon, map[string]any{"state": "approved"})
	expect("ask-2", "approved")
	s.Question(watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"state": "denied"}))
	expect("ask-1", "denied")
	cancel()
	if got := <-code; got != exitOK {
		t.Errorf("ended with %d, %s; want %d", got, errOut.String(), exitOK)
	}
	if !strings.Contains(errOut.String(), "connection lost: the server ended the stream; trying again in") {
		t.Errorf("stderr is %q, want the lost connection said", errOut.String())
	}
}

func linesOf(r io.Reader) <-chan string {
	out := make(chan string, 16)
	go func() {
		defer close(out)
		var all []byte
		buf := make([]byte, 4096)
		for {
			n, err := r.Read(buf)
			all = append(all, buf[:n]...)
			for i := bytes.IndexByte(all, '\n'); i >= 0; i = bytes.IndexByte(all, '\n') {
				out <- string(all[:i])
				all = all[i+1:]
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// A reader that went away ends the watch.
func TestABrokenPipeEndsTheWatch(t *testing.T) {
	s := scripted(t, t.TempDir())
	s.Snapshot <- watchtest.Held(t, "ask-1", watchtest.Noon, nil)
	r, w := io.Pipe()
	_ = r.Close()
	var errOut bytes.Buffer
	if code := run(t.Context(), []string{"approvals", "watch", "--json", "--data", s.Data}, strings.NewReader(""), w, &errOut); code != exitUsage || !strings.Contains(errOut.String(), "print question") {
		t.Errorf("exit %d, %q; want it ended with a reason", code, errOut.String())
	}
}

// Without a server there is nothing to watch, and it says what to do.
func TestWatchWithoutAServer(t *testing.T) {
	data := t.TempDir()
	s := scripted(t, data)
	s.Stop() // its announcement stays behind
	for range 2 {
		for _, stale := range []bool{true, false} {
			if !stale {
				if err := os.Remove(filepath.Join(data, "server.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
			_, errOut, code := command(t, "approvals", "watch", "--data", data)
			if code != exitUsage || !strings.Contains(errOut, "no server is running") || !strings.Contains(errOut, "tidemark serve --data "+data) {
				t.Errorf("exit %d, %q; want how to start one", code, errOut)
			}
		}
	}
}
