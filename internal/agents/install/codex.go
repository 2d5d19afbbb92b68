package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Codex runs a hook only once it is trusted: its user settings must hold a hash of it, by
// the place of the hook in its file. The person who runs install has reviewed what is
// written, so the entries are written too, between marks.

// codexEvents are the events and the names Codex gives them in its trust entries.
var codexEvents = [][2]string{
	{"SessionStart", "session_start"}, {"UserPromptSubmit", "user_prompt_submit"}, {"PreToolUse", "pre_tool_use"},
	{"PostToolUse", "post_tool_use"}, {"SubagentStart", "subagent_start"}, {"SubagentStop", "subagent_stop"},
}

func codexAgent() *agent {
	return &agent{
		name: "codex", title: "Codex CLI", programs: []string{"codex"},
		places: at(func(w World) string { return filepath.Join(w.folder("CODEX_HOME", ".codex"), "hooks.json") }, []string{".codex", "hooks.json"}, nil),
		plan: func(path string, c command) ([]file, error) {
			var events []string
			for _, e := range codexEvents {
				events = append(events, e[0])
			}
			hooks := file{path: path, edits: list(events, func(event string) any {
				g := settings.Group{Hooks: []settings.Handler{{Type: "command", Command: c.line(""), Timeout: c.seconds()}}}
				if strings.HasSuffix(event, "ToolUse") {
					g.Matcher = ".*"
				}
				return g
			})}
			trust := file{
				path:  filepath.Join(c.w.folder("CODEX_HOME", ".codex"), "config.toml"),
				heads: strings.TrimSuffix("[hooks.state."+quoted(path+":"), `"`),
				block: func(planned map[string][]byte) (string, error) { return codexTrust(path, planned[path], c.w) },
			}
			return []file{hooks, trust}, nil
		},
		gate:  gate{path: []string{"hooks", "PreToolUse"}},
		above: codexAbove,
		open:  codexOpen,
		probe: probe{body: nestedProbe("PreToolUse", "Bash"), refused: byExit},
		try:   tryCodex, admits: codexAdmits,
		notes: []string{"the hooks are marked as trusted in Codex's config.toml, as its /hooks command would do; look at them there"},
	}
}

// codexTrust writes an entry for each of our hooks in the file.
func codexTrust(path string, hooks []byte, w World) (string, error) {
	t, err := openText(path, hooks, false)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range codexEvents {
		list := t.Find("hooks", e[0])
		if list == nil {
			continue
		}
		for i, n := range list.Values {
			if !w.ours(t.Raw(n)) {
				continue
			}
			hash, err := codexHash(e[1], t.Raw(n))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "[hooks.state.%s]\ntrusted_hash = %q\n", quoted(fmt.Sprintf("%s:%s:%d:0", path, e[1], i)), hash)
		}
	}
	return b.String(), nil
}

// codexHash is the hash of a hook as Codex makes it: sorted, compact JSON.
func codexHash(event string, raw strictjson.Value) (string, error) {
	var g settings.Group
	if err := strictjson.Unmarshal(raw, &g); err != nil {
		return "", fmt.Errorf("read hook: %w", err)
	}
	var hooks []any
	for _, h := range g.Hooks {
		hooks = append(hooks, map[string]any{"async": false, "command": h.Command, "timeout": h.Timeout, "type": h.Type})
	}
	v := map[string]any{"event_name": event, "hooks": hooks}
	if g.Matcher != "" {
		v["matcher"] = g.Matcher
	}
	canonical, err := strictjson.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write hook: %w", err)
	}
	sum := sha256.Sum256(bytes.TrimSpace(canonical))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
