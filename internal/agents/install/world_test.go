package install_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/test/prooftest"
	"github.com/tidemark/tidemark/policy"
)

// The test program plays the hook and an agent too, under their names.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "tidemark-hook":
		os.Exit(shim.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "claude":
		os.Exit(playClaude(filepath.Base(filepath.Dir(os.Args[0]))))
	}
	goleak.VerifyTestMain(m)
}

// playClaude is an agent with one tool. The folder it stands in says how it treats hooks.
func playClaude(manner string) int {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		say("2.1.325 (Claude Code)")
		return 0
	}
	if manner == "mute" {
		return 1
	}
	ask := func(messages string) string {
		body := `{"stream":false,"tools":[{"name":"Bash"}],"messages":[` + messages + `]}`
		res, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			return ""
		}
		var b bytes.Buffer
		_, _ = b.ReadFrom(res.Body)
		_ = res.Body.Close()
		return b.String()
	}
	var answer struct {
		Content []struct {
			Input struct {
				Command string `json:"command"`
			} `json:"input"`
		} `json:"content"`
	}
	if json.Unmarshal([]byte(ask(`{"role":"user","content":"go"}`)), &answer) != nil || len(answer.Content) == 0 {
		return 1
	}
	command := answer.Content[0].Input.Command
	result := "done"
	switch reason := askHook(command); {
	case manner == "obeys" && reason != "":
		result, command = reason, "true"
	case manner == "refuses":
		result, command = "the agent's own rules forbid this", "true"
	}
	_ = exec.Command("/bin/sh", "-c", command).Run()
	raw, _ := json.Marshal(result)
	ask(`{"role":"user","content":[{"type":"tool_result","content":` + string(raw) + `}]}`)
	return 0
}

func say(s string) { _, _ = os.Stdout.WriteString(s + "\n") }

// askHook runs the hook of the settings and returns its reason.
func askHook(command string) string {
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string   `json:"command"`
				Args    []string `json:"args"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	raw, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".claude", "settings.json"))
	if err != nil || json.Unmarshal(raw, &settings) != nil || len(settings.Hooks["PreToolUse"]) == 0 {
		return ""
	}
	h := settings.Hooks["PreToolUse"][0].Hooks[0]
	cmd := exec.Command(h.Command, h.Args...)
	in, _ := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "played", "tool_name": "Bash", "tool_use_id": "t", "tool_input": map[string]any{"command": command},
	})
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.CombinedOutput()
	exit := new(exec.ExitError)
	if errors.As(err, &exit) && exit.ExitCode() == 2 {
		return string(out)
	}
	return ""
}

// newWorld is an empty machine with a hook program that is only a file.
func newWorld(t testing.TB) install.World {
	t.Helper()
	dir := t.TempDir()
	w := install.World{
		Home: filepath.Join(dir, "home"), Data: filepath.Join(dir, "data"), Hook: filepath.Join(dir, "bin", "tidemark-hook"), Root: filepath.Join(dir, "root"),
		Getenv: func(name string) string {
			if name == "PATH" {
				return filepath.Join(dir, "path")
			}
			return ""
		},
	}
	write(t, w.Hook, "#!/bin/sh\nexit 2\n", 0o755)
	return w
}

// realHook makes the hook program the real one.
func realHook(t testing.TB, w install.World) install.World {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.Hook); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, w.Hook); err != nil {
		t.Fatal(err)
	}
	return w
}

// serve starts the real API for the data folder.
func serve(t testing.TB, w install.World) {
	t.Helper()
	store := &memory.Store{}
	f := notify.New(store)
	monitor, err := engine.New(engine.Options{Policy: policy.Default(), Store: f, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatalf("monitor: %v", err)
	}
	quiet := slog.New(slog.DiscardHandler)
	api, err := httpapi.New(httpapi.Options{
		Unheld:  true,
		Monitor: monitor, Log: store, Feed: f, Bus: hook.New(hook.Options{Logger: quiet}), Logger: quiet, Now: time.Now,
		Tokens: httpapi.Tokens{Agent: "agent-token-0123456789", Approver: "approver-token-0123456789", Admin: "admin-token-0123456789"},
	})
	if err != nil {
		t.Fatalf("door: %v", err)
	}
	announce(t, w, api.Handler())
}

func announce(t testing.TB, w install.World, h http.Handler) {
	t.Helper()
	srv := httptest.NewServer(prooftest.Handler("agent-token-0123456789", h))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	write(t, filepath.Join(w.Data, "tokens.json"), `{"agent":"agent-token-0123456789","approver":"approver-token-0123456789","admin":"admin-token-0123456789"}`, 0o600)
	write(t, filepath.Join(w.Data, "server.json"), `{"url":"`+srv.URL+`","pid":1}`, 0o600)
}

func write(t testing.TB, path, contents string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(contents), mode); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// put installs and returns the plan.
func put(t testing.TB, w install.World, name string, o install.Options) *install.Plan {
	t.Helper()
	p, err := install.Prepare(t.Context(), w, name, o)
	if err != nil {
		t.Fatalf("prepare %s: %v", name, err)
	}
	if err := p.Apply(time.Unix(1_800_000_000, 0)); err != nil {
		t.Fatalf("apply %s: %v", name, err)
	}
	return p
}

func take(t testing.TB, w install.World, name string) {
	t.Helper()
	p, err := install.Removal(w, name)
	if err != nil {
		t.Fatalf("plan removal of %s: %v", name, err)
	}
	if err := p.Apply(time.Unix(1_800_000_000, 0)); err != nil {
		t.Fatalf("remove %s: %v", name, err)
	}
}

// here is the world an agent is tried in: Kiro has project settings alone.
func here(t testing.TB, w install.World, name string) install.World {
	t.Helper()
	if name == "kiro" {
		w.Project = filepath.Join(w.Home, "project")
		if err := os.MkdirAll(w.Project, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// tree is every file below a folder.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, root)] = string(raw)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}
