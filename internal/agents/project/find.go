package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/text"
)

// Finding is a setting of a project's that is not known to be harmless.
type Finding struct {
	File  string
	Key   string // by its names; "" is the file itself
	Value string // as it stands there, or why nobody can say
	Sum   string // what a person accepts: it is another where anything of it is
}

// String is the finding for people. The value is cut: it is the project's text.
func (f Finding) String() string {
	if f.Key == "" {
		return fmt.Sprintf("%s (%s)", shown(f.File), shown(f.Value))
	}
	return fmt.Sprintf("%s in %s (%s)", shown(f.Key), shown(f.File), shown(f.Value))
}

// Look says where to look.
type Look struct {
	Agent   string
	Folders []string // the working folder, and the project's where the agent says it
	Home    string   // the user's own folder, whose settings are no project's; "": it is not known
	Texts   bool     // into the heads of texts too, of which there may be many
	// Ours are the parts of a file that an installation wrote, and whether the file is all ours.
	Ours func(path string) (parts []settings.Part, whole bool)
}

// Agents are those of which it is known what is harmless.
func Agents() []string {
	all, err := known()
	if err != nil {
		return nil // the test of the list says so
	}
	var out []string
	for name := range all {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Find lists what a project sets that is not known to be harmless. Of an agent that nobody knows it finds nothing.
func Find(l Look) ([]Finding, error) {
	all, err := known()
	if err != nil {
		return nil, fmt.Errorf("read what is harmless: %w", err)
	}
	r := all[l.Agent]
	if r == nil {
		return nil, nil
	}
	f := &finder{Look: l, rules: r}
	for _, dir := range f.folders() {
		for _, p := range r.places {
			for _, name := range p.names {
				f.at(p, filepath.Join(dir, filepath.FromSlash(name)))
			}
		}
	}
	return f.found, nil
}

// finder collects findings.
type finder struct {
	Look
	rules *rules
	found []Finding
	files int // texts that were opened
}

// folders are those that an agent may take settings from: the ones it names and, for some, all above them in the same
// repository.
func (f *finder) folders() []string {
	var out []string
	add := func(dir string) {
		if dir != f.Home && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	for _, dir := range f.Folders {
		if !filepath.IsAbs(dir) {
			continue
		}
		dir = filepath.Clean(dir)
		add(dir)
		if !f.rules.up {
			continue
		}
		var above []string
		for up := dir; up != f.Home && up != filepath.Dir(up); up = filepath.Dir(up) {
			if above = append(above, up); repository(up) {
				for _, a := range above {
					add(a)
				}
				break
			}
		}
	}
	return out
}

// repository reports whether a folder is the top of one.
func repository(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ".git"))
	if err != nil {
		return false
	}
	if info.Mode().IsRegular() {
		return true
	}
	_, err = os.Stat(filepath.Join(dir, ".git", "HEAD"))
	return err == nil
}

func (f *finder) add(file, key, value string) {
	sum := settings.Hash([]byte(strings.Join([]string{f.Agent, file, key, value}, "\x00")))
	f.found = append(f.found, Finding{File: file, Key: key, Value: value, Sum: sum})
}

// at looks at one file or folder.
func (f *finder) at(p *place, path string) {
	switch p.form {
	case inJSON:
		f.object(p, path)
	case inTOML:
		f.tables(p, path)
	case inVars:
		f.vars(path)
	case inHeads:
		if f.Texts {
			f.heads(p, path, 0)
		}
	case noneThen:
		f.programs(path)
	}
}

// read is a file; false where there is none. One that cannot be read is a finding.
func (f *finder) read(path string) ([]byte, bool) {
	src, err := settings.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false
	case err != nil:
		f.add(path, "", "it cannot be read: "+err.Error())
		return nil, false
	}
	return src, true
}

// object looks at a file of JSON.
func (f *finder) object(p *place, path string) {
	src, ok := f.read(path)
	if !ok {
		return
	}
	d, err := settings.Parse(src, true)
	if err != nil { // some agents take a comma at the end
		d, err = settings.ParseLoose(src)
	}
	if err != nil {
		f.add(path, "", "it cannot be read for certain: "+err.Error())
		return
	}
	if i := slices.IndexFunc(f.rules.never, func(s string) bool { return bytes.Contains(src, []byte(s)) }); i >= 0 {
		f.add(path, f.rules.never[i], settings.Hash(src)[:12])
	}
	parts, _ := f.ours(path)
	f.members(&file{p, path, d, parts}, d.Root, nil)
}

// file is a file of JSON that is looked at.
type file struct {
	*place
	path  string
	doc   *settings.Doc
	parts []settings.Part
}

// members looks at the members of an object.
func (f *finder) members(o *file, n *settings.Node, path []string) {
	for i, name := range n.Names {
		v, at := n.Values[i], append(slices.Clone(path), name)
		raw := string(o.doc.Raw(v))
		switch {
		case o.mine(v, at) || o.holds(at, raw):
		case v.Kind == '{' && (o.above(at) || slices.ContainsFunc(o.parts, func(p settings.Part) bool { return beyond(p.Path, at) })):
			f.members(o, v, at)
		default:
			f.add(o.path, strings.Join(at, "."), raw)
		}
	}
}

// beyond reports whether a path goes on where another ends.
func beyond(path, at []string) bool { return len(path) > len(at) && slices.Equal(path[:len(at)], at) }

// mine reports whether a value is what an installation of ours wrote, and nothing else.
func (o *file) mine(v *settings.Node, at []string) bool {
	written := func(raw *settings.Node, list bool) bool {
		return slices.ContainsFunc(o.parts, func(p settings.Part) bool {
			return p.List == list && slices.Equal(p.Path, at) && settings.Same(o.doc.Raw(raw), p.Value)
		})
	}
	if v.Kind != '[' || len(v.Values) == 0 {
		return written(v, false)
	}
	return !slices.ContainsFunc(v.Values, func(e *settings.Node) bool { return !written(e, true) })
}

func (f *finder) ours(path string) (parts []settings.Part, whole bool) {
	if f.Ours == nil {
		return nil, false
	}
	return f.Ours(path)
}

// tables looks at a file of TOML.
func (f *finder) tables(p *place, path string) {
	src, ok := f.read(path)
	if !ok {
		return
	}
	tables, err := settings.ReadTables(src)
	if err != nil {
		f.add(path, "", "it cannot be read for certain: "+err.Error())
		return
	}
	for _, t := range tables {
		if len(t.Keys) == 0 && !p.above(t.Path) {
			f.add(path, strings.Join(t.Path, "."), "")
		}
		for _, k := range t.Keys {
			at, raw := slices.Concat(t.Path, k.Path), string(src[k.Start:k.End])
			if !p.holds(at, raw) {
				f.add(path, strings.Join(at, "."), raw)
			}
		}
	}
}

// vars looks at a file of variables: none is harmless, and none of their values is for anybody to see.
func (f *finder) vars(path string) {
	src, ok := f.read(path)
	if !ok {
		return
	}
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		f.add(path, strings.TrimSpace(name), "a variable, "+settings.Hash([]byte(line))[:12])
	}
}

// The bounds of a walk through folders of texts.
const (
	maxTexts  = 400
	maxLevels = 6
	maxHead   = 64 << 10
)

// entries are what a folder holds; nothing where there is none.
func (f *finder) entries(dir string) []os.DirEntry {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !isFile(dir) {
		f.add(dir, "", "it cannot be read: "+err.Error())
	}
	return list
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// heads looks at the heads of the texts below a folder. Links are followed, as the agents do.
func (f *finder) heads(p *place, dir string, level int) {
	for _, e := range f.entries(dir) {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil: // a link to nowhere
		case info.IsDir() && level < maxLevels:
			f.heads(p, path, level+1)
		case info.IsDir():
			f.add(path, "", "it lies too deep to be looked at")
		case strings.EqualFold(filepath.Ext(path), ".md"):
			if f.files++; f.files == maxTexts {
				f.add(dir, "", "there are more texts than can be looked at")
			}
			if f.files < maxTexts {
				f.head(p, path)
			}
		}
	}
}

// head looks at the head of a text: each line of it that begins at the margin must be a key that is known.
func (f *finder) head(p *place, path string) {
	src, ok := f.read(path)
	if !ok {
		return
	}
	src = bytes.TrimLeft(bytes.TrimPrefix(src, []byte("\ufeff")), " \t\r\n")
	if !bytes.HasPrefix(src, []byte("---")) {
		return
	}
	src = src[:min(len(src), maxHead)]
	name, value := "", ""
	flush := func() {
		if value != "" && !p.holds([]string{name}, "null") {
			f.add(path, name, strings.TrimSpace(value))
		}
		value = ""
	}
	for i, line := range strings.Split(string(src), "\n") {
		line = strings.TrimRight(line, " \t\r")
		switch {
		case i == 0 && line == "---":
		case line == "---":
			flush()
			return
		case line == "" || strings.HasPrefix(line, "#"):
		case line[0] == ' ' || line[0] == '\t' || strings.HasPrefix(line, "- "):
			value += line + "\n"
		default:
			flush()
			before, after, colon := strings.Cut(line, ":")
			if name, value = before, line+"\n"; !colon || after != "" && after[0] != ' ' && after[0] != '\t' {
				name = line
			}
		}
	}
	flush()
}

// programs looks at a folder in which every file is a program of the project's.
func (f *finder) programs(dir string) {
	for _, e := range f.entries(dir) {
		path := filepath.Join(dir, e.Name())
		if _, whole := f.ours(path); whole {
			continue
		}
		if e.IsDir() {
			f.add(path, "", "a folder of programs that run inside the agent")
			continue
		}
		src, ok := f.read(path)
		if ok {
			f.add(path, "", "a program that runs inside the agent, "+settings.Hash(src)[:12])
		}
	}
}

// shown is a value as a person is shown it: on one line, and not much of it.
func shown(value string) string {
	line := strings.Join(strings.FieldsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }), " ")
	if len(line) <= maxShown {
		return line
	}
	return text.Head(line, maxShown) + "…"
}

const maxShown = 120
