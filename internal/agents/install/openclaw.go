package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
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
		plan:  openclawPlan,
		parse: parseJSON5,
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
		{path: []string{"plugins", "allow"}, value: value("tidemark"), list: true, join: true},
		{path: append(entry[:3:3], "enabled"), value: value(true)},
		{path: append(entry[:3:3], "hooks", "allowConversationAccess"), value: value(true)},
	}
	if c.o.Timeout > 0 {
		edits = append(edits, edit{path: append(entry[:3:3], "config", "timeoutMs"), value: value(c.o.Timeout.Milliseconds())})
	}
	if c.o.Wait > 0 {
		edits = append(edits, edit{path: append(entry[:3:3], "config", "approvalWaitSeconds"), value: value(int(c.o.Wait.Seconds()))})
	}
	return append(out, file{path: path, edits: edits, comments: true}), nil
}

// parseJSON5 reads the file as the host does, and as "serve" reads it. Offsets are those of
// a copy in plain JSON, so nothing can be spliced into it.
func parseJSON5(src []byte, comments bool) (*settings.Doc, error) {
	if d, err := settings.Parse(src, comments); err == nil {
		return d, nil
	}
	root, faults := configfile.ParseJSON5("", src)
	if root == nil {
		return nil, &settings.Fault{Message: faults.Error()}
	}
	var b bytes.Buffer
	if err := writeNode(&b, root); err != nil {
		return nil, &settings.Fault{Message: err.Error()}
	}
	return settings.Parse(b.Bytes(), false)
}

// writeNode writes a value as plain JSON.
func writeNode(b *bytes.Buffer, n *configfile.Node) error {
	switch n.Kind {
	case configfile.Map:
		b.WriteByte('{')
		for i, k := range n.Keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoted(k.Name) + ":")
			if err := writeNode(b, k.Value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case configfile.List:
		b.WriteByte('[')
		for i, v := range n.List {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeNode(b, v); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	raw, err := strictjson.Marshal(scalarOf(n))
	b.Write(raw)
	return err
}

// scalarOf is a value without parts. A number that is no whole one is kept as its text: no
// setting of ours is one.
func scalarOf(n *configfile.Node) any {
	switch n.Kind {
	case configfile.Bool:
		return n.Bool
	case configfile.Int:
		return n.Int
	case configfile.Null:
		return nil
	}
	return n.Text
}
