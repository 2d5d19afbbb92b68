package agent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/strictjson"
)

const ourHook = `{"hooks":[{"type":"command","command":"/bin/tidemark-hook"}]}`

// installed writes settings with our hook and the record of the installation.
func (w *world) installed(name string) (settings, plugin string) {
	w.t.Helper()
	settings, plugin = filepath.Join(w.data, "settings.json"), filepath.Join(w.data, "plugin.js")
	w.write("settings.json", `{ "model": "m", "hooks": { "PreToolUse": [ `+ourHook+` ] } }`)
	w.write("plugin.js", "ours")
	sum := sha256.Sum256([]byte("ours"))
	raw, err := strictjson.Marshal(map[string]any{"files": []any{
		map[string]any{"path": settings, "hash": "-", "parts": []any{map[string]any{"text": ourHook}}},
		map[string]any{"path": plugin, "hash": hex.EncodeToString(sum[:]), "own": true},
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(w.data, "installed"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.write("installed/"+name+".json", string(raw))
	return settings, plugin
}

func body(event, cwd, path string) []byte {
	raw, err := strictjson.Marshal(map[string]any{"hook_event_name": event, "session_id": "s", "cwd": cwd, "source": "startup", "file_path": path})
	if err != nil {
		return nil
	}
	return raw
}

// What is done to the settings is told at the next start of a session, and a change that
// takes the hooks out does not take effect.
func TestChangedSettingsAreNoticed(t *testing.T) {
	tests := map[string]struct {
		do   func(w *world, settings, plugin, project string)
		want string // "" passes
	}{
		"nothing": {func(*world, string, string, string) {}, ""},
		"another layout": {func(w *world, _, _, _ string) {
			w.write("settings.json", "{\n\"hooks\":{\"PreToolUse\":[\n"+ourHook+"]}}")
		}, ""},
		"another setting": {func(w *world, _, _, _ string) {
			w.write("settings.json", `{"model":"n","hooks":{"PreToolUse":[`+ourHook+`]}}`)
		}, ""},
		"a hook removed":    {func(w *world, _, _, _ string) { w.write("settings.json", `{"hooks":{}}`) }, "was removed from"},
		"the settings gone": {func(_ *world, settings, _, _ string) { _ = os.Remove(settings) }, "is gone"},
		"a plugin changed":  {func(w *world, _, _, _ string) { w.write("plugin.js", "theirs") }, "plugin.js was changed"},
		"hooks turned off": {func(w *world, _, _, _ string) {
			w.write("settings.json", `{"disableAllHooks" : true,"hooks":[`+ourHook+`]}`)
		}, "turns the hooks off"},
		"off in a project": {func(w *world, _, _, project string) {
			w.write(project+"/.claude/settings.json", `{"disableAllHooks":true}`)
		}, "turns the hooks off"},
		"the record unusable": {func(w *world, _, _, _ string) { w.write("installed/claude.json", "{") }, "cannot be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			settings, plugin := w.installed("claude")
			if err := os.MkdirAll(filepath.Join(w.data, "project", ".claude"), 0o700); err != nil {
				t.Fatal(err)
			}
			tt.do(w, settings, plugin, "project")
			cwd := filepath.Join(w.data, "project")
			for range 2 {
				start := w.run("claude", "", body("SessionStart", cwd, ""))
				if got := start.code == 1 && strings.Contains(start.err, tt.want) && strings.Contains(start.err, "tidemark doctor claude"); got != (tt.want != "") {
					t.Errorf("start: got %+v, want it told: %q", start, tt.want)
				}
				change := w.run("claude", "", body("ConfigChange", cwd, settings))
				if got := refuses("claude", change) && strings.Contains(change.err, "does not take effect: "); got != (tt.want != "") {
					t.Errorf("change: got %+v, want it refused: %q", change, tt.want)
				}
			}
			read := w.run("claude", "", []byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"c","tool_input":{"command":"rm -r build"}}`))
			if got := refuses("claude", read); got != (tt.want != "") {
				t.Errorf("a command in that session: got %+v, want it held only where the settings were changed", read)
			}
		})
	}
}

// A record of another agent, or of a project elsewhere, is none of this session's business.
func TestOtherRecordsDoNotMatter(t *testing.T) {
	w := open(t)
	w.installed("claude")
	w.write("settings.json", "{}")
	if err := os.Rename(filepath.Join(w.data, "installed/claude.json"), filepath.Join(w.data, "installed/codex.json")); err != nil {
		t.Fatal(err)
	}
	w.write("installed/claude@elsewhere.json", `{"project":"/elsewhere","files":[{"path":"/elsewhere/gone"}]}`)
	if p := w.run("claude", "", body("SessionStart", "/home/user/work", "")); p.code != 0 || p.err != "" {
		t.Errorf("got %+v, want silence", p)
	}
}
