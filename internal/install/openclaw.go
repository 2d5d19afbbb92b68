package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tidemark/tidemark/plugins/openclaw"
)

// openclawAgent writes the plugin's files to the data folder and tells the gateway to load
// them from there.
func openclawAgent() *agent {
	return &agent{
		name: "openclaw", title: "OpenClaw", programs: []string{"openclaw"},
		places: func(w World) (string, error) {
			if w.Project != "" {
				return "", errors.New("install openclaw: it has no project settings; leave --project out")
			}
			if w.Getenv != nil {
				if p := w.Getenv("OPENCLAW_CONFIG_PATH"); p != "" {
					return p, nil
				}
			}
			return filepath.Join(w.folder("OPENCLAW_STATE_DIR", ".openclaw"), "openclaw.json"), nil
		},
		plan: openclawPlan,
		off: []toggle{
			{[]string{"plugins", "enabled"}, "false"}, {[]string{"plugins", "deny"}, `["tidemark"]`},
			{[]string{"plugins", "entries", "tidemark", "enabled"}, "false"},
			{[]string{"plugins", "entries", "tidemark", "config", "failClosed"}, "false"},
		},
		open: always("the gateway cannot load the plugin: it then runs without it", "\"openclaw agent exec\" fires no hooks",
			"tools of other harnesses (claude-cli, Codex) that the gateway does not relay"),
		notes: []string{
			"restart the gateway, then look: openclaw plugins inspect tidemark --runtime",
			"where the data folder is not the usual one, start the gateway with TIDEMARK_DATA set to it",
		},
	}
}

func openclawFolder(w World) string { return filepath.Join(w.Data, "plugins", "openclaw") }

func openclawPlan(path string, c command) ([]file, error) {
	folder := openclawFolder(c.w)
	var out []file
	err := fs.WalkDir(openclaw.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(openclaw.Files, name)
		out = append(out, file{path: filepath.Join(folder, filepath.FromSlash(name)), own: body})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read plugin: %w", err)
	}
	entry := []string{"plugins", "entries", "tidemark"}
	edits := []edit{
		{path: []string{"plugins", "load", "paths"}, value: value(folder), list: true},
		{path: append(entry[:3:3], "enabled"), value: value(true)},
		{path: append(entry[:3:3], "hooks", "allowConversationAccess"), value: value(true)},
	}
	if c.o.Timeout > 0 {
		edits = append(edits, edit{path: append(entry[:3:3], "config", "timeoutMs"), value: value(c.o.Timeout.Milliseconds())})
	}
	if c.o.Wait > 0 {
		edits = append(edits, edit{path: append(entry[:3:3], "config", "approvalWaitSeconds"), value: value(int(c.o.Wait.Seconds()))})
	}
	return append(out, file{path: path, edits: edits}), nil
}
