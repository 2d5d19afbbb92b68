package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Codex runs a hook only once it is trusted: its user settings must hold a hash of it, by
// the place of the hook in its file. The person who runs install has reviewed what is
// written, so the entries are written too, between marks.

// codexExtra writes them, and looks at what is said about hooks elsewhere.
func codexExtra(s *catalogue.Setup) extra {
	return extra{
		files: func(w World, plan []file, _ catalogue.Command) ([]file, error) {
			if w.Managed {
				return codexManaged(w, plan)
			}
			path := plan[0].Path
			return append(plan, file{
				File:  catalogue.File{Path: w.file(s.Config)},
				heads: strings.TrimSuffix("[hooks.state."+quoted(path+":"), `"`),
				block: func(planned map[string][]byte) (string, error) { return codexTrust(path, planned[path], w) },
			}), nil
		},
		above:  codexAbove,
		admits: func(w World) (bool, error) { return codexAdmits(w, w.file(s.Config)) },
		stage:  codexStage,
	}
}

// codexTrust writes an entry for each of our hooks in the file.
func codexTrust(path string, hooks []byte, w World) (string, error) {
	t, err := openText(path, hooks, false)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, h := range catalogue.CodexHooks() {
		list := t.Find("hooks", h.Event)
		if list == nil {
			continue
		}
		for i, n := range list.Values {
			if !w.ours(t.Raw(n)) {
				continue
			}
			hash, err := codexHash(h.Entry, t.Raw(n))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "[hooks.state.%s]\ntrusted_hash = %q\n", quoted(fmt.Sprintf("%s:%s:%d:0", path, h.Entry, i)), hash)
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
