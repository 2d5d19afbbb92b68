package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// verify compares the settings with the record. The record is nil where there is none, or
// none that can be read, which is a problem like any other.
func verify(w World, a *agent) (*settings.Record, []string) {
	m, err := readRecord(w, a.Name)
	var problems []string
	switch {
	case err != nil:
		problems = append(problems, err.Error()+"; install again")
	case m == nil:
		if a.hooked(w) {
			problems = append(problems, "Tidemark's hooks are in the settings, but there is no record of the installation; install again")
		}
		problems = append(problems, a.foreign(w)...)
	default:
		problems = append(problems, a.reader(w).Compare(m)...)
		problems = append(problems, a.trusted(w.since(m), m)...)
		problems = append(problems, program(m)...)
	}
	problems = append(problems, a.turnedOff(w, m)...)
	if m == nil && !a.hooked(w) {
		return m, problems
	}
	problems = append(problems, a.shadowed(w)...)
	if why := a.skips(w); why != "" {
		problems = append(problems, why)
	}
	if a.above != nil {
		problems = append(problems, a.above(w, a)...)
	}
	return m, problems
}

// program compares the hook program with the one that was installed.
func program(m *settings.Record) []string {
	info, err := os.Stat(m.Hook)
	if err != nil {
		return []string{fmt.Sprintf("the hook program %s is not there", m.Hook)}
	}
	if info.Mode().Perm()&0o111 == 0 {
		return []string{fmt.Sprintf("the hook program %s cannot be started any more", m.Hook)}
	}
	if hash, err := hashProgram(m.Hook); err != nil || hash != m.HookHash {
		return []string{fmt.Sprintf(
			"the hook program %s was replaced since it was installed; if that was an update, install again", m.Hook)}
	}
	return nil
}

// foreign reports commands that bear our name where calls are decided and are not ours.
// They are never started: anybody can write them into a project.
func (a *agent) foreign(w World) []string {
	path, err := a.path(w)
	if err != nil {
		return nil
	}
	switch {
	case a.Inside():
		return nil // a plugin inside its host is no command
	case a.script != nil:
		return a.foreignFile(w, path)
	}
	d, err := a.reader(w).Open(path)
	if err != nil {
		return nil // not there, or said by turnedOff
	}
	n := d.Find(a.Gate.Path...)
	if n == nil {
		return nil
	}
	var out []string
	for _, v := range n.Values {
		raw := d.Raw(v)
		if settings.LooksLikeOurs(raw) && a.argvOf(w, raw) == nil {
			out = append(out, fmt.Sprintf("%s: a hook bears Tidemark's name and is not of this installation (program %s, data folder %s); "+
				"it was not started: %s", path, w.Hook, w.Data, shorten(string(raw))))
		}
	}
	return out
}

// foreignFile is the same for agents whose hook is a file.
func (a *agent) foreignFile(w World, path string) []string {
	src, err := w.readFile(path)
	if err != nil || !settings.LooksLikeOurs(src) {
		return nil // not there, or somebody else's business
	}
	if _, err := a.gateCommand(w); err == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s bears Tidemark's name and is not as this installation writes it; it was not started", path)}
}

// trusted looks whether what Codex has been told to trust is what stands there now: a hook
// that moved within its list is skipped without a word.
func (a *agent) trusted(w World, m *settings.Record) []string {
	files, err := a.files(w, optionsOf(m))
	if err != nil {
		return nil
	}
	contents := map[string][]byte{}
	for _, f := range files {
		src, err := w.readFile(f.Path)
		if err != nil {
			continue // said by Compare
		}
		contents[f.Path] = src
		if f.block == nil {
			continue
		}
		want, err := f.block(contents)
		if err != nil {
			continue // said by Compare
		}
		if !holdsBlock(src, want) && !w.Managed { // of the administrator's, see codexUnpinned
			return []string{fmt.Sprintf(
				"%s: the hooks are not at the place that is trusted, so %s skips them; install again", f.Path, a.Title)}
		}
	}
	return nil
}

// turnedOff looks for settings that turn hooks off, in every file where they can stand.
// The administrator's hooks are out of reach of other files.
func (a *agent) turnedOff(w World, m *settings.Record) []string {
	var files []string
	if m != nil {
		for _, e := range m.Files {
			if !e.Own && e.Block == "" {
				files = append(files, e.Path)
			}
		}
	} else if path, err := a.path(w); err == nil && len(a.Switches) > 0 {
		files = append(files, path)
	}
	if !w.Managed {
		for _, folder := range w.folders() {
			files = append(files, settings.Below(folder, a.Watched)...)
		}
	}
	return a.reader(w).Off(a.Switches, files...)
}

// shadowed looks whether a project has what the agent takes in place of our hooks.
func (a *agent) shadowed(w World) []string {
	if a.Shadow == "" || w.Managed {
		return nil
	}
	var out []string
	for _, folder := range w.folders() {
		path := filepath.Join(folder, filepath.FromSlash(a.Shadow))
		if folder == w.Home || slices.ContainsFunc(out, func(s string) bool { return strings.HasPrefix(s, path) }) {
			continue
		}
		here := w
		here.Project = folder
		if _, err := os.Lstat(path); os.IsNotExist(err) || a.hooked(here) {
			continue
		}
		out = append(out, fmt.Sprintf("%s: in this folder %s takes it in place of our hooks", path, a.Title))
	}
	return out
}

// folders are where other settings can stand: at home, and in the project worked on.
func (w World) folders() []string {
	out := []string{w.Home, w.Project}
	if w.Getenv != nil {
		out = append(out, w.Getenv("PWD"))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// locked looks at the administrator's settings, which can lock out a user's hooks. Where our
// own hooks stand there too, locking others out is what they are for.
func locked(w World, a *agent) []string {
	off := slices.Clone(a.Switches)
	managed := w
	managed.Managed, managed.Project = true, ""
	if !a.hooked(managed) {
		off = append(off, a.Locks...)
	}
	path := filepath.Join(w.Root, a.Place.Managed)
	files := []string{path}
	more := strings.TrimSuffix(path, ".json") + ".d"
	entries, err := os.ReadDir(more)
	var out []string
	if err != nil && !os.IsNotExist(err) {
		out = append(out, fmt.Sprintf("the administrator's settings cannot be read: %v", err))
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			files = append(files, filepath.Join(more, e.Name()))
		}
	}
	return append(out, a.reader(w).Off(off, files...)...)
}
