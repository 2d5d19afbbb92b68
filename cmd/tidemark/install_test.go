package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// installHere runs a command in a home of its own.
func installHere(t *testing.T, home string, args ...string) (code int, out, errOut string) {
	t.Helper()
	t.Setenv("HOME", home)
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", filepath.Join(home, "bin"))
	hook := filepath.Join(home, "bin", "tidemark-hook")
	if err := os.MkdirAll(filepath.Dir(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexit $(cat '"+home+"/code')\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	code = run(t.Context(), append(args, "--data", filepath.Join(home, "data"), "--hook", hook), strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// A hook that points into a checkout is gone after the next clean: who installs is told.
func TestInstallWarnsOfAHookInACheckout(t *testing.T) {
	home := t.TempDir()
	if _, out, _ := installHere(t, home, "install", "claude", "--trial", "none"); strings.Contains(out, "checkout") {
		t.Errorf("outside of one: %q", out)
	}
	if err := os.Mkdir(filepath.Join(home, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := installHere(t, home, "install", "claude", "--trial", "none"); code != exitOK || !strings.Contains(out, "lies in the checkout "+home) {
		t.Errorf("below one: code %d, %q; want a warning that names it", code, out)
	}
	if _, out, _ := installHere(t, home, "install", "claude", "--trial", "none", "--json"); !strings.Contains(out, "lies in the checkout") {
		t.Errorf("as JSON: %q; want a note", out)
	}
}

func TestInstallShowsChangesAndUndoesThem(t *testing.T) {
	home := t.TempDir()
	settings := filepath.Join(home, ".claude", "settings.json")
	code, out, errOut := installHere(t, home, "install", "claude", "--dry-run")
	if _, err := os.Stat(settings); code != exitOK || err == nil || !strings.Contains(out, "+++ "+settings) || !strings.Contains(out, `+    "PreToolUse": [`) {
		t.Fatalf("dry run: code %d, %q %q; want a diff and no file", code, out, errOut)
	}
	if code, out, errOut = installHere(t, home, "install", "claude", "--trial", "none"); code != exitOK || !strings.Contains(out, "wrote "+settings) {
		t.Fatalf("install: code %d, %q %q", code, out, errOut)
	}
	if code, out, _ = installHere(t, home, "install", "claude", "--trial", "none"); code != exitOK || !strings.Contains(out, "nothing to change") {
		t.Errorf("again: code %d, %q; want it said that nothing changes", code, out)
	}
	if code, out, _ = installHere(t, home, "uninstall", "claude", "--json"); code != exitOK || !strings.Contains(out, settings) {
		t.Errorf("uninstall: code %d, %q; want the file named", code, out)
	}
	if _, err := os.Stat(filepath.Dir(settings)); err == nil {
		t.Error("the folder that was made is still there")
	}
}

// A hook that does not refuse ends in exit code 1, whatever was written.
func TestInstallExitsWithAFaultWhenNothingIsBlocked(t *testing.T) {
	for name, tt := range map[string]struct {
		code string
		want int
		says string
	}{
		"it lets the call pass":    {"0", exitFault, "NOT BLOCKED"},
		"it refuses without words": {"2", exitFault, "NOT BLOCKED"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, "code"), []byte(tt.code), 0o600); err != nil {
				t.Fatal(err)
			}
			if code, out, errOut := installHere(t, home, "install", "claude", "--trial", "hook"); code != tt.want || !strings.Contains(out, tt.says) {
				t.Errorf("code %d, %q %q; want %d and %q", code, out, errOut, tt.want, tt.says)
			}
		})
	}
}

func TestInstallRefusesWhatItCannotRead(t *testing.T) {
	home := t.TempDir()
	settings := filepath.Join(home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte("{\n  \"a\": tru\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := installHere(t, home, "install", "codex", "claude")
	if code != exitUsage || !strings.Contains(errOut, settings+":2:8: want a JSON value\n") || !strings.Contains(errOut, "\n           ^\n") {
		t.Errorf("code %d, %q; want the place with a caret", code, errOut)
	}
	if _, err := os.Stat(filepath.Join(home, ".codex")); err == nil {
		t.Error("the other agent was installed into all the same")
	}
	for _, args := range [][]string{{"install", "nobody"}, {"install"}, {"install", "claude", "--trial", "some"}, {"install", "claude", "--sender", "me"}, {"install", "claude", "--wait", "1ms"}, {"install", "claude", "--project", "/not/there"}} {
		if code, _, _ := installHere(t, home, args...); code != exitUsage {
			t.Errorf("%v: code %d, want %d", args, code, exitUsage)
		}
	}
}
