package install

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/plugins/openclaw"
)

// openclawExtra writes the plugin's files to the data folder, before the gateway is told to
// load them from there.
func openclawExtra() extra { return extra{files: openclawFiles, parse: parseJSON5} }

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
