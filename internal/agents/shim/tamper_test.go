package shim_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

const ourHook = `{"matcher":"*","hooks":[{"type":"command","command":"/bin/tidemark-hook"}]}`

// hooked is a file with our hook for two events; both have the same text.
const hooked = `{ "model": "m", "hooks": { "PreToolUse": [ ` + ourHook + ` ], "PostToolUse": [ ` + ourHook + ` ] } }`

// installed writes settings with our hooks and the record of the installation.
func (w *world) installed(name string) (settings, plugin string) {
	w.t.Helper()
	settings, plugin = filepath.Join(w.data, "settings.json"), filepath.Join(w.data, "plugin.js")
	w.write("settings.json", hooked)
	w.write("plugin.js", "ours")
	sum := sha256.Sum256([]byte("ours"))
	part := func(event string) any {
		return map[string]any{"path": []string{"hooks", event}, "list": true, "value": strictjson.Value(ourHook)}
	}
	raw, err := strictjson.Marshal(map[string]any{"files": []any{
		map[string]any{"path": settings, "hash": "-", "parts": []any{part("PreToolUse"), part("PostToolUse")}},
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
	edit := func(old, new string) func(*world, string, string, string) {
		return func(w *world, _, _, _ string) {
			w.t.Helper()
			after := strings.Replace(hooked, old, new, 1)
			if after == hooked {
				w.t.Fatalf("%s does not hold %q", hooked, old)
			}
			w.write("settings.json", after)
		}
	}
	quoted := func(s string) string {
		raw, err := strictjson.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	tests := map[string]struct {
		do   func(w *world, settings, plugin, project string)
		want string // "" passes
	}{
		"nothing": {func(*world, string, string, string) {}, ""},
		"another layout": {func(w *world, _, _, _ string) {
			w.write("settings.json", "{\n\"hooks\":{\"PostToolUse\":["+ourHook+"],\"PreToolUse\":[\n"+strings.ReplaceAll(ourHook, ",", ",\n\t")+"]}}")
		}, ""},
		"another setting":   {edit(`"m"`, `"n"`), ""},
		"another hook":      {edit(`"PreToolUse": [`, `"PreToolUse": [{"hooks":[{"type":"command","command":"/opt/mine"}]},`), ""},
		"all hooks removed": {func(w *world, _, _, _ string) { w.write("settings.json", `{"hooks":{}}`) }, "the hook for PreToolUse was removed"},
		"the hook for calls removed": {func(w *world, _, _, _ string) {
			w.write("settings.json", `{"hooks":{"PostToolUse":[`+ourHook+`]}}`)
		}, "the hook for PreToolUse was removed"},
		"an empty list": {func(w *world, _, _, _ string) {
			w.write("settings.json", `{"hooks":{"PreToolUse":[],"PostToolUse":[`+ourHook+`]}}`)
		}, "the hook for PreToolUse was removed"},
		"the event renamed":     {edit(`"PreToolUse"`, `"PreToolUze"`), "the hook for PreToolUse was removed"},
		"the hooks renamed":     {edit(`"hooks": {`, `"hooks_": {`), "the hook for PreToolUse was removed"},
		"a matcher for nothing": {edit(`"matcher":"*"`, `"matcher":"Nothing"`), "the hook for PreToolUse was changed"},
		"moved into a text":     {func(w *world, _, _, _ string) { w.write("settings.json", `{"x":`+quoted(hooked)+`}`) }, "the hook for PreToolUse was removed"},
		"hooks off, escaped":    {edit("{ ", `{ "disable\u0041llHooks": true, `), "turns the hooks off"},
		"a name twice":          {edit("{ ", `{ "hooks": {}, `), "cannot be read for certain"},
		"off in a project twice": {func(w *world, _, _, project string) {
			w.write(project+"/.claude/settings.json", `{"disableAllHooks":false,"disableAllHooks":true}`)
		}, "cannot be read for certain"},
		"the record gone":       {func(w *world, _, _, _ string) { _ = os.Remove(filepath.Join(w.data, "installed/claude.json")) }, "is gone"},
		"all records gone":      {func(w *world, _, _, _ string) { _ = os.RemoveAll(filepath.Join(w.data, "installed")) }, "is gone"},
		"a folder for settings": {func(w *world, settings, _, _ string) { _ = os.Remove(settings); _ = os.Mkdir(settings, 0o700) }, "not a regular file"},
		"the settings gone":     {func(_ *world, settings, _, _ string) { _ = os.Remove(settings) }, "is gone"},
		"a plugin changed":      {func(w *world, _, _, _ string) { w.write("plugin.js", "theirs") }, "plugin.js was changed"},
		"hooks turned off": {func(w *world, _, _, _ string) {
			w.write("settings.json", strings.Replace(hooked, "{", `{"disableAllHooks" : true,`, 1))
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
				start := w.run("claude", "", body("SessionStart", cwd, ""), "--installed", "claude")
				if got := start.code == 0 && strings.Contains(start.out, `"systemMessage"`) && strings.Contains(start.err, tt.want) && strings.Contains(start.err, "tidemark doctor claude"); got != (tt.want != "") {
					t.Errorf("start: got %+v, want it told: %q", start, tt.want)
				}
				change := w.run("claude", "", body("ConfigChange", cwd, settings), "--installed", "claude")
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

// A hook that nobody installed has no record, and a record's name must be one.
func TestTheRecordIsAskedForOnlyOfAnInstalledHook(t *testing.T) {
	w := open(t)
	if p := w.run("claude", "", body("SessionStart", "/home/user/work", "")); p.code != 0 || p.err != "" {
		t.Errorf("put there by hand: got %+v, want silence", p)
	}
	if p := w.run("claude", "", body("SessionStart", "/home/user/work", ""), "--installed", "claude@managed"); !strings.Contains(p.out, `"systemMessage"`) || !strings.Contains(p.err, "is gone") {
		t.Errorf("installed: got %+v, want the lost record told", p)
	}
	for _, name := range []string{"codex", "claude@../x", "../claude"} {
		if p := w.run("claude", "", body("PreToolUse", "/home/user/work", ""), "--installed", name); !refuses("claude", p) {
			t.Errorf("%q: got %+v, want it refused", name, p)
		}
	}
}

// A data folder may have any name.
func TestRecordsAreFoundInAnyFolder(t *testing.T) {
	w := open(t)
	odd := filepath.Join(w.data, "da[ta*?")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tokens.json", "server.json"} {
		if err := os.Rename(filepath.Join(w.data, name), filepath.Join(odd, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.data = odd
	w.installed("claude")
	w.write("settings.json", "{}")
	if p := w.run("claude", "", body("SessionStart", "/home/user/work", "")); !strings.Contains(p.out, `"systemMessage"`) || !strings.Contains(p.err, "was removed") {
		t.Errorf("got %+v, want it told", p)
	}
}
