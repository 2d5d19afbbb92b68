package install_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/install"
)

// BEY-13
func TestEveryInstalledHookRefusesTheCanary(t *testing.T) {
	for _, name := range install.Names() {
		if name == "openclaw" { // its plugin is tried by its own tests
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := here(t, realHook(t, newWorld(t)), name)
			put(t, w, name, install.Options{})
			down, err := install.TryHook(t.Context(), w, name)
			if err != nil || !down.Ran || !down.Blocked || !strings.Contains(down.How, "no server is running") {
				t.Errorf("without a server: %+v, %v; want it refused for that", down, err)
			}
			serve(t, w)
			for range 2 {
				got, err := install.TryHook(t.Context(), w, name)
				if err != nil || !got.Ran || !got.Blocked || !strings.Contains(got.How, "rule canary") {
					t.Errorf("got %+v, %v; want it refused by the server", got, err)
				}
			}
		})
	}
}

// BEY-13
func TestAHookThatLetsTheCanaryPassIsSaidTo(t *testing.T) {
	yes := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"block":false,"tidemark":{"taint":"owner","verdict":"allow"}}`))
	})
	for _, name := range install.Names() {
		if name == "openclaw" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := here(t, realHook(t, newWorld(t)), name)
			put(t, w, name, install.Options{})
			announce(t, w, yes)
			got, err := install.TryHook(t.Context(), w, name)
			if err != nil || !got.Ran || got.Blocked {
				t.Errorf("got %+v, %v; want it said that nothing was blocked", got, err)
			}
		})
	}
}

func TestAHookThatIsNotThereCannotBeTried(t *testing.T) {
	w := newWorld(t)
	if got, err := install.TryHook(t.Context(), w, "claude"); err != nil || got.Ran || got.Blocked {
		t.Errorf("nothing installed: got %+v, %v; want it not tried", got, err)
	}
	put(t, w, "claude", install.Options{})
	if err := os.Remove(w.Hook); err != nil {
		t.Fatal(err)
	}
	if got, err := install.TryHook(t.Context(), w, "claude"); err != nil || !got.Ran || got.Blocked {
		t.Errorf("no program: got %+v, %v; want it not blocked", got, err)
	}
}

// Whether the real agent heeds the hook is told by what happened, not by what it says.
func TestTheAgentItselfIsTried(t *testing.T) {
	tests := map[string]struct {
		ran, blocked bool
		how          string
	}{
		"obeys":   {true, true, "rule canary"},
		"ignores": {true, false, "RAN"},
		"refuses": {false, false, "not because of us"},
		"mute":    {false, false, "did not ask the scripted model"},
	}
	for manner, want := range tests {
		t.Run(manner, func(t *testing.T) {
			w := realHook(t, newWorld(t))
			serve(t, w)
			bin := filepath.Join(w.Home, "bin", manner)
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(self, filepath.Join(bin, "claude")); err != nil {
				t.Fatal(err)
			}
			w.Getenv = func(name string) string {
				if name == "PATH" {
					return bin + ":/usr/bin:/bin"
				}
				return ""
			}
			// A key and an address in the person's settings must not reach the trial.
			write(t, filepath.Join(w.Home, ".claude/settings.json"), `{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:1"},"apiKeyHelper":"touch `+w.Home+`/leaked"}`, 0o600)
			put(t, w, "claude", install.Options{})
			got, err := install.TryAgent(t.Context(), w, "claude")
			if err != nil || got.Ran != want.ran || got.Blocked != want.blocked || !strings.Contains(got.How, want.how) {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
			if _, err := os.Stat(filepath.Join(w.Home, "leaked")); err == nil {
				t.Error("the person's key helper was run")
			}
		})
	}
}

func TestAnAgentThatIsNotThereCannotBeTried(t *testing.T) {
	for _, name := range install.Names() {
		w := here(t, newWorld(t), name)
		if got, err := install.TryAgent(t.Context(), w, name); err != nil || got.Ran || got.Blocked || got.How == "" {
			t.Errorf("%s: got %+v, %v; want it not tried, and why", name, got, err)
		}
	}
}
