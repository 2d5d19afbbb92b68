//go:build unix

package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/agents/install"
)

// A file keeps its owner, and what is new belongs to whom its folder belongs to.
func TestTheOwnerOfAFileStays(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.Home, files["claude"])
	write(t, path, "{}", 0o600)
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 { // only root can give files away
		uid, gid = 4321, 4322
		for _, p := range []string{w.Home, filepath.Dir(path), path} {
			if err := os.Chown(p, uid, gid); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(t, w, "claude", install.Options{})
	put(t, w, "codex", install.Options{})
	for _, p := range []string{path, filepath.Join(w.Home, ".codex"), filepath.Join(w.Home, files["codex"]), filepath.Join(w.Home, ".codex/config.toml")} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != uid || int(st.Gid) != gid {
			t.Errorf("%s belongs to %d:%d, want %d:%d", p, st.Uid, st.Gid, uid, gid)
		}
	}
	take(t, w, "claude")
	info, err := os.Stat(path)
	if err != nil || int(info.Sys().(*syscall.Stat_t).Uid) != uid {
		t.Errorf("afterwards: %v, %v; want the owner kept", info, err)
	}
}

// However many install and uninstall at once: the record and the settings agree.
func TestInstallingAtTheSameTimeEndsInOneState(t *testing.T) {
	w := newWorld(t)
	once := func(plan func() (*install.Plan, error)) error {
		unlock, err := install.Lock(t.Context(), w)
		if err != nil {
			return err
		}
		p, err := plan()
		if err == nil {
			err = p.Apply(time.Unix(1, 0))
		}
		if err := unlock(); err != nil {
			return err
		}
		return err
	}
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			err := once(func() (*install.Plan, error) {
				if i%2 == 0 {
					return install.Prepare(t.Context(), w, "claude", install.Options{})
				}
				return install.Removal(w, "claude")
			})
			if err != nil {
				t.Errorf("number %d: %v", i, err)
			}
		})
	}
	all.Wait()
	_, err := os.Stat(filepath.Join(w.Data, "installed", "claude.json"))
	s, inspected := install.Inspect(t.Context(), w, "claude")
	if inspected != nil || s.Hooked != (err == nil) || s.Hooked != s.Intact {
		t.Errorf("got %+v, %v with a record: %v", s, inspected, err == nil)
	}
}

// A plan that somebody else overtook is refused, lock or no lock.
func TestAPlanThatWasOvertakenIsRefused(t *testing.T) {
	w := newWorld(t)
	late, err := install.Removal(w, "claude")
	if err != nil {
		t.Fatal(err)
	}
	put(t, w, "claude", install.Options{})
	for range 2 {
		if err := late.Apply(time.Unix(1, 0)); err == nil {
			t.Error("got no error")
		}
	}
	if s, err := install.Inspect(t.Context(), w, "claude"); err != nil || !s.Intact {
		t.Errorf("got %+v, %v; want it intact", s, err)
	}
}

// A script that cannot be started is noticed, said as what it is, and mended.
func TestTheModeOfAScriptIsMended(t *testing.T) {
	w := realHook(t, newWorld(t))
	put(t, w, "cline", install.Options{})
	path := filepath.Join(w.Home, ".cline/hooks/PreToolUse")
	for range 2 {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := install.Inspect(t.Context(), w, "cline")
		if err != nil || s.Intact || !strings.Contains(strings.Join(s.Problems, " "), "the agent cannot start it") {
			t.Errorf("got %+v, %v; want the mode said", s, err)
		}
		trial, err := install.TryHook(t.Context(), w, "cline")
		if err != nil || !trial.Ran || trial.Blocked || !strings.Contains(trial.How, "the hook could not be started") {
			t.Errorf("got %+v, %v; want it said that it did not start", trial, err)
		}
		p := put(t, w, "cline", install.Options{})
		if len(p.Changes) != 1 || !strings.Contains(p.Changes[0].Diff(), "(mode 755)") {
			t.Errorf("got changes %+v, want the mode alone", p.Changes)
		}
		if s, err := install.Inspect(t.Context(), w, "cline"); err != nil || !s.Intact {
			t.Errorf("mended: got %+v, %v", s, err)
		}
	}
}

func TestUninstallingWithoutARecordLeavesNoLitter(t *testing.T) {
	for name, file := range files {
		w := newWorld(t)
		path := filepath.Join(w.Home, file)
		write(t, path, `{"model": "m"}`, 0o600)
		put(t, w, name, install.Options{})
		if err := os.RemoveAll(filepath.Join(w.Data, "installed")); err != nil {
			t.Fatal(err)
		}
		take(t, w, name)
		got := read(t, path)
		if strings.Contains(got, "[]") || strings.Contains(got, "hooks") && name != "openclaw" {
			t.Errorf("%s: left %s", name, got)
		}
	}
}

// What others wrote into a file that we made stays there.
func TestWhatOthersAddedStays(t *testing.T) {
	tests := map[string]struct{ agent, file, old, add string }{
		"a hook for Copilot": {"copilot", ".copilot/hooks/tidemark.json", `"preToolUse": [`, `"preToolUse": [{"type":"command","exec":"/opt/mine"},`},
		"a rule for Kiro":    {"kiro", "project/.kiro/hooks/tidemark.json", `"hooks": [`, `"hooks": [{"name":"mine","trigger":"PreToolUse","action":{"command":"/opt/mine"}},`},
		"a hook for Goose":   {"goose", ".agents/plugins/tidemark/hooks/hooks.json", `"PreToolUse": [`, `"PreToolUse": [{"hooks":[{"command":"/opt/mine"}]},`},
		"a script for Cline": {"cline", ".cline/hooks/PreToolUse", "exec ", "/opt/mine; exec "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := here(t, newWorld(t), tt.agent)
			put(t, w, tt.agent, install.Options{})
			path := filepath.Join(w.Home, tt.file)
			before := read(t, path)
			after := strings.Replace(before, tt.old, tt.add, 1)
			if before == after {
				t.Fatalf("%s does not hold %q", before, tt.old)
			}
			write(t, path, after, 0o600)
			p, err := install.Removal(w, tt.agent)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Apply(time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			got := read(t, path)
			if !strings.Contains(got, "/opt/mine") {
				t.Errorf("left %q, want what others wrote", got)
			}
			if tt.agent == "cline" {
				if !strings.Contains(strings.Join(p.Notes, " "), "was changed by somebody else, so it stays") {
					t.Errorf("notes %q, want it said", p.Notes)
				}
			} else if strings.Contains(got, w.Hook) {
				t.Errorf("left %q, want ours gone", got)
			}
		})
	}
}

func TestAnEmptyFileHoldsNothing(t *testing.T) {
	for name, file := range files {
		for _, before := range []string{"", "\n", " \r\n\t"} {
			w := newWorld(t)
			path := filepath.Join(w.Home, file)
			write(t, path, before, 0o640)
			put(t, w, name, install.Options{})
			put(t, w, name, install.Options{Wait: time.Minute})
			if s, err := install.Inspect(t.Context(), w, name); err != nil || !s.Hooked || !s.Intact {
				t.Errorf("%s on %q: got %+v, %v", name, before, s, err)
			}
			take(t, w, name)
			if got := read(t, path); got != before {
				t.Errorf("%s: afterwards %q, want %q", name, got, before)
			}
		}
	}
}

// OpenClaw's file is read as OpenClaw reads it.
func TestAnOpenClawFileMayBeWrittenAsPeopleDo(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.Home, files["openclaw"])
	write(t, path, "{\n  // mine\n  \"plugins\": {\"allow\": [\"other\"]}\n}\n", 0o600)
	put(t, w, "openclaw", install.Options{})
	if got := read(t, path); !strings.Contains(got, "// mine") || !strings.Contains(got, `["other", "tidemark"]`) {
		t.Errorf("settings\n%s\nwant the comment kept and the plugin among those allowed", got)
	}
	loose := strings.NewReplacer(`"plugins":`, "plugins:", `"enabled":`, "enabled:", "\"tidemark\"]", "'tidemark',]").Replace(read(t, path))
	write(t, path, loose, 0o600)
	if s, err := install.Inspect(t.Context(), w, "openclaw"); err != nil || !s.Hooked || !s.Intact {
		t.Errorf("on %s\ngot %+v, %v; want it intact", loose, s, err)
	}
	write(t, path, strings.Replace(loose, "'tidemark',]", "]", 1), 0o600)
	s, err := install.Inspect(t.Context(), w, "openclaw")
	if err != nil || s.Intact || !strings.Contains(strings.Join(s.Problems, " "), "plugins.allow is there and lacks") {
		t.Errorf("got %+v, %v; want the missing name said", s, err)
	}
}

// What turns Codex's hooks off is off in the trial as well.
func TestTheTrialOfCodexHasItsSwitches(t *testing.T) {
	for name, tt := range map[string]struct{ config, want string }{
		"off":              {"[features]\nhooks = false\n", "hooks = false"},
		"off, older name":  {"[features]\ncodex_hooks = false\n", "codex_hooks = false"},
		"off in a profile": {"profile = \"p\"\n[profiles.p.features]\nhooks = false\n", "hooks = false"},
		"on":               {"[features]\nhooks = true\n", "hooks = true"},
		"on in capitals":   {"[features]\nhooks = false\n[Features]\nhooks = true\n", "hooks = false"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			seen := filepath.Join(w.Home, "seen")
			write(t, filepath.Join(w.Getenv("PATH"), "codex"), "#!/bin/sh\n/bin/cp \"$CODEX_HOME/config.toml\" "+seen+" 2>/dev/null\necho 0.166.0\n", 0o755)
			write(t, filepath.Join(w.Home, ".codex/config.toml"), tt.config, 0o600)
			put(t, w, "codex", install.Options{})
			if _, err := install.TryAgent(t.Context(), w, "codex"); err != nil {
				t.Fatal(err)
			}
			if got := read(t, seen); !strings.Contains(got, "[features]\n"+tt.want+"\n") || !strings.Contains(got, "trusted_hash") {
				t.Errorf("the trial's settings are\n%s\nwant %q", got, tt.want)
			}
		})
	}
}
