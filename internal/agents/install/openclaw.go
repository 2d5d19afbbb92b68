package install

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/plugins/openclaw"
)

// openclawExtra writes the plugin's files to the data folder, before the gateway is told to
// load them from there.
func openclawExtra() extra {
	return extra{files: openclawFiles, parse: parseJSON5, settings: openclawSettings}
}

func openclawFiles(w World, plan []file, _ catalogue.Command) ([]file, error) {
	folder := catalogue.OpenClawFolder(w.Data)
	var out []file
	err := fs.WalkDir(openclaw.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(openclaw.Files, name)
		out = append(out, file{File: catalogue.File{Path: filepath.Join(folder, filepath.FromSlash(name)), Own: body}})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read plugin: %w", err)
	}
	return append(out, plan...), nil
}

// openclawSettings are those of a trial: of the real ones, our plugin's entry and what switches plugins off.
func openclawSettings(r *rig, with map[string]any) ([]byte, error) {
	path, err := r.agent.path(r.w)
	if err != nil {
		return nil, err
	}
	src, err := r.w.readFile(path)
	if err != nil {
		return nil, err
	}
	real, err := parseJSON5(src, true)
	if err != nil {
		return nil, fmt.Errorf("read settings %s: %w", path, err)
	}
	entry := real.Find("plugins", "entries", "tidemark")
	if entry == nil {
		return nil, errNoHook
	}
	plugins := map[string]any{
		"load":    map[string]any{"paths": []string{catalogue.OpenClawFolder(r.w.Data)}},
		"entries": map[string]any{"tidemark": real.Raw(entry)},
	}
	for _, name := range []string{"enabled", "deny", "allow"} {
		if n := real.Find("plugins", name); n != nil {
			plugins[name] = real.Raw(n)
		}
	}
	all := map[string]any{"plugins": plugins}
	maps.Copy(all, with)
	return strictjson.Marshal(all)
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
