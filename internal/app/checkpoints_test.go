package app_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/store/retention"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// A server with little room keeps checkpoints in its data folder, the next start uses them, and nothing of them is left after something was
// pruned, or where none are wanted.
func TestCheckpointsOfADataFolder(t *testing.T) {
	p := datafolder.Paths{Data: t.TempDir()}
	p.Config = filepath.Join(p.Data, "tidemark.yaml")
	serve := func(checkpointMB int, do func(*engine.Monitor)) int {
		t.Helper()
		policy := fmt.Sprintf("preset: balanced\nserver: {sessionMemoryMB: 1, checkpointMB: %d}\n", checkpointMB)
		if err := os.WriteFile(p.Config, []byte(policy), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := app.New(t.Context(), app.Options{Paths: p, Listen: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		do(a.Monitor)
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		return files(t, p)
	}
	read := func(m *engine.Monitor) {
		for i := range 4 {
			ref, text := engine.Ref{Session: fmt.Sprint("s", i)}, "Read the page"
			if _, err := m.Begin(t.Context(), engine.Turn{Ref: ref, Sender: trust.Sender{Provider: "cli", ID: "u", IsOwner: true}, Message: &text}); err != nil {
				t.Fatal(err)
			}
			page := tool.Result{Name: "web_fetch", Args: []byte(`{"url":"https://tides.example"}`), Content: []byte(strings.Repeat(fmt.Sprint("tide ", i, " "), 40_000))}
			if _, err := m.Observe(t.Context(), engine.Observation{Ref: ref, Result: page}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := serve(100, read); n == 0 {
		t.Fatal("there are no checkpoints")
	}
	serve(100, func(m *engine.Monitor) {
		if _, err := m.Decide(t.Context(), engine.Ref{Session: "s0"}, tool.Call{Name: "read", Args: []byte(`{"path":"notes.txt"}`)}); err != nil {
			t.Fatal(err)
		}
		if resumed, rebuilt := m.Returns(); resumed != 1 || rebuilt != 0 {
			t.Errorf("after a restart %d came back from a checkpoint and %d from the log", resumed, rebuilt)
		}
	})
	out, err := installation.Prune(t.Context(), p, retention.Request{
		Limits: retention.Limits{event.PruneContent: {Age: time.Nanosecond}}, Now: time.Now().Add(time.Hour), By: "ops",
	})
	if n := files(t, p); err != nil || out.Records == 0 || n > 0 {
		t.Errorf("%d checkpoints are left after %d records were pruned (%v)", n, out.Records, err)
	}
	if err := os.WriteFile(filepath.Join(p.Checkpoints(), "00.checkpoint"), []byte("of before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := serve(0, read); n > 0 {
		t.Errorf("there are %d checkpoints where none are wanted", n)
	}
}

func files(t *testing.T, p datafolder.Paths) int {
	t.Helper()
	list, err := os.ReadDir(p.Checkpoints())
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
