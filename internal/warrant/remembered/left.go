package remembered

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/warrant/commands"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// What a call names and leaves behind, by the keys that labels are kept under.

// Resources are the things a call names that outlive the session: files by their path,
// records and memories by their id or key.
func Resources(m *toolinfo.Meaning, args map[string]any) []string {
	var out []string
	for k, v := range args {
		text, ok := v.(string)
		if !ok || text == "" {
			continue
		}
		p := m.Resolve(k, text)
		switch {
		case p.Kind == toolinfo.Path || pathNames[k]:
			out = append(out, FileKey(text))
		case len(text) > maxName:
		case p.Role == toolinfo.Selector && (p.Object || p.Kind == toolinfo.ID):
			out = append(out, "record:"+text)
		}
	}
	slices.Sort(out)
	return out
}

// maxName is how long the name of something is that is kept, in bytes.
const maxName = 512

// shortKey keeps the end of a very long path, which is what tells it apart.
func shortKey(key string) string { return text.Tail(key, maxName) }

// pathNames are parameters that name files whatever else is known of the tool.
var pathNames = lists.Set("paths")

// contentNames are parameters that hold what is written, the likeliest first.
var contentNames = lists.Lines("contents")[0]

// maxLabelled bounds how many files one call labels.
const maxLabelled = 64

// Leaves are the things that a call writes: those it names or, of a command or a patch, the files
// that it would write.
func Leaves(m *toolinfo.Meaning, fields map[string]any) []string {
	var out []string
	if !tool.IsShell(m.Tool) {
		out = Resources(m, fields)
		for _, v := range fields {
			if text, ok := v.(string); ok {
				for _, f := range shell.Patched(text) {
					out = append(out, FileKey(f.File))
				}
			}
		}
	} else {
		lines, _ := commands.Of(shell.NewReader(), m, fields) // of what cannot be read nobody knows what it writes
		for _, l := range lines {
			for _, f := range l.Leaves {
				out = append(out, FileKey(f))
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxLabelled)]
}

// temporary is the folder in which agents put what they need for a moment.
const temporary = "/tmp/"

// Temporary are the files and folders below /tmp that a call puts there, or that its command names: what programs do with their words
// nobody knows. Names that are decided when it runs are not among them.
func Temporary(m *toolinfo.Meaning, args *tool.Args) []string {
	if !bytes.Contains(args.Raw(), []byte(temporary[:len(temporary)-1])) {
		return nil // most calls
	}
	fields, err := args.Fields()
	if err != nil {
		return nil
	}
	var names []string
	if tool.IsShell(m.Tool) {
		lines, _ := commands.Of(shell.NewReader(), m, fields)
		for _, l := range lines {
			names = slices.Concat(names, l.Leaves, l.Came, saidIn(l))
		}
	} else if m.Act == toolinfo.Create || m.Act == toolinfo.Change {
		for _, key := range Leaves(m, fields) {
			if name, file := strings.CutPrefix(key, "file:"); file {
				names = append(names, name)
			}
		}
	}
	var out []string
	for _, name := range names {
		name = path.Clean(name)
		plain := strings.HasPrefix(name, temporary) && len(name) < maxName && !strings.ContainsAny(name, "$*?[]{}~\\\n\x00")
		if plain && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out[:min(len(out), maxTemporary)]
}

// saidIn are the words of a line, and what stands behind a sign of equality in them.
func saidIn(l *shell.Line) []string {
	var out []string
	for i := range l.Runs {
		for _, a := range l.Runs[i].Args {
			if _, value, ok := strings.Cut(a.Text, "="); a.Known && ok {
				out = append(out, value)
			}
			if a.Known {
				out = append(out, a.Text)
			}
		}
	}
	return out
}

// maxTemporary bounds how many one call names.
const maxTemporary = 32

// Placed is a file's key with the folder that is worked in, where the name alone does not say where it lies.
func Placed(key, folder string) string {
	name, file := strings.CutPrefix(key, "file:")
	if !file || !path.IsAbs(folder) || path.IsAbs(name) || strings.HasPrefix(name, "~") || strings.Contains(name, ":") {
		return key
	}
	return FileKey(path.Join(folder, name))
}

// FileKey is what a file is labelled by.
func FileKey(file string) string {
	return "file:" + shortKey(strings.TrimPrefix(path.Clean(strings.ReplaceAll(file, "\\", "/")), "./"))
}

// Written is the hash of the content a call writes, if it shows it.
func Written(fields map[string]any) *tool.Digest {
	for _, k := range contentNames {
		if text, ok := fields[k].(string); ok && text != "" {
			h := tool.DigestOf([]byte(text))
			return &h
		}
	}
	return nil
}
