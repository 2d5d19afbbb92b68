package box

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// place is something in the workspace that is guarded because it is there, or put aside because it came.
type place struct {
	path string   // below the workspace, or absolute where a repository keeps its folder elsewhere
	name string   // the name under which it is guarded
	pins []string // folders above it that must stay where they are, from the top
	link string   // where it leads to, if it is a link
	git  string   // the folder of the repository it belongs to, if it is part of one
	info fs.FileInfo
}

// survey is what stands in a workspace that a box has to know of.
type survey struct {
	root    string
	places  map[string]place
	repos   []string // folders of repositories
	links   []string // .git files: they name a repository's folder elsewhere
	kept    []string // folders of those outside that the workspace needs to be written
	sockets []string
}

// guards are the names that are looked for, by their first part.
type guards struct {
	root map[string][]string // the whole paths that begin so
	any  []string
	skip []string
	git  []string
}

func readGuards() guards {
	g := guards{root: map[string][]string{}, any: places.of("guard-any"), skip: places.of("vendored"), git: places.of("guard-git")}
	for _, p := range places.of("guard-root") {
		first, _, _ := strings.Cut(p, "/")
		g.root[first] = append(g.root[first], p)
	}
	return g
}

// look goes through a workspace. Links are never followed, and what cannot be read is passed over: a command in the box cannot
// read it either, and what it makes it can read.
func look(workspace string) *survey {
	s := &survey{root: workspace, places: map[string]place{}}
	g := readGuards()
	s.folder(".", g)
	if dir, ok := s.elsewhere(); ok {
		s.kept = append(s.kept, dir)
		s.repository(dir, g)
	}
	return s
}

// elsewhere is the folder outside that the workspace's .git file names, if that folder names the workspace in turn: a worktree of a
// repository, or a submodule. A file that came from anywhere could name any folder.
func (s *survey) elsewhere() (string, bool) {
	link := filepath.Join(s.root, ".git")
	dir, ok := gitdirOf(link)
	if !ok || strings.HasPrefix(dir, s.root+"/") {
		return "", false
	}
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
		return "", false
	}
	if back, err := os.ReadFile(filepath.Join(dir, "gitdir")); err == nil { //nolint:gosec // only compared
		common := filepath.Dir(filepath.Dir(dir))
		return common, strings.TrimSpace(string(back)) == link && filepath.Base(filepath.Dir(dir)) == "worktrees" && isRepositoryAt(common)
	}
	config, err := os.ReadFile(filepath.Join(dir, "config")) //nolint:gosec // only compared
	if err != nil || !isRepositoryAt(dir) {
		return "", false
	}
	for line := range strings.Lines(string(config)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if strings.TrimSpace(name) == "worktree" && filepath.Join(dir, strings.TrimSpace(value)) == s.root {
			return dir, true
		}
	}
	return "", false
}

// Elsewhere is the folder outside a workspace that is open to be changed with it, because its repository is kept there; "" if there
// is none.
func Elsewhere(workspace string) string {
	if dir, ok := (&survey{root: workspace}).elsewhere(); ok {
		return dir
	}
	return ""
}

func isRepositoryAt(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func (s *survey) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.root, path)
}

func (s *survey) folder(dir string, g guards) {
	f, err := os.Open(s.abs(dir))
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(-1)
	_ = f.Close()
	names := make(map[string]fs.DirEntry, len(entries))
	for _, e := range entries {
		names[e.Name()] = e
	}
	_, repo := names[".git"]
	if isRepository(names) {
		s.repository(dir, g)
		return
	}
	for name, e := range names {
		path := filepath.Join(dir, name)
		if dir == "." || repo {
			for _, p := range g.root[name] {
				s.note(dir, p, "")
			}
		}
		if slices.Contains(g.any, name) {
			s.note(dir, name, "")
		}
		switch {
		case name == ".git":
			s.git(dir, e, g)
		case e.Type()&fs.ModeSocket != 0:
			s.sockets = append(s.sockets, path)
		case e.IsDir() && !slices.Contains(g.skip, name):
			s.folder(path, g)
		}
	}
}

// isRepository reports whether a folder with these names is one that git takes for a repository without being told.
func isRepository(names map[string]fs.DirEntry) bool {
	for _, want := range []string{"HEAD", "objects", "refs"} {
		if names[want] == nil {
			return false
		}
	}
	return true
}

// git notes what .git in a folder is: the repository, or a file or link that says where it is.
func (s *survey) git(dir string, e fs.DirEntry, g guards) {
	path := filepath.Join(dir, ".git")
	if e.IsDir() {
		s.repository(path, g)
		return
	}
	s.note(dir, ".git", "")
	s.links = append(s.links, path)
}

// repository notes the guarded parts of a repository's folder, of its modules and of its worktrees.
func (s *survey) repository(dir string, g guards) {
	if slices.Contains(s.repos, dir) {
		return
	}
	s.repos = append(s.repos, dir)
	for _, name := range g.git {
		s.note(dir, name, dir)
	}
	s.modules(filepath.Join(dir, "modules"), g)
	trees, _ := os.ReadDir(s.abs(filepath.Join(dir, "worktrees")))
	for _, t := range trees {
		if t.IsDir() {
			for _, name := range g.git {
				s.note(filepath.Join(dir, "worktrees", t.Name()), name, dir)
			}
		}
	}
}

// modules goes through the folder in which a repository keeps those of its submodules, whose names may have folders.
func (s *survey) modules(dir string, g guards) {
	entries, _ := os.ReadDir(s.abs(dir))
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		below := filepath.Join(dir, e.Name())
		if _, err := os.Lstat(s.abs(filepath.Join(below, "HEAD"))); err == nil {
			s.repository(below, g)
		} else {
			s.modules(below, g)
		}
	}
}

// guard takes down a path that the caller has guarded: below the workspace, or in the repository's folder elsewhere.
func (s *survey) guard(path string) {
	if filepath.IsLocal(path) {
		s.note(".", path, "")
		return
	}
	for _, dir := range s.kept {
		if below, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(below) {
			s.note(dir, below, "")
		}
	}
}

// note takes down a guarded path below dir if it is there, without following links on the way.
func (s *survey) note(dir, path, git string) {
	p := place{path: filepath.Join(dir, path), name: path, git: git}
	at := dir
	parts := strings.Split(path, "/")
	for i, part := range parts {
		at = filepath.Join(at, part)
		info, err := os.Lstat(s.abs(at))
		if err != nil {
			return
		}
		if info.Mode()&fs.ModeSymlink != 0 { // whatever it leads to: the link is what counts
			p.path, p.info = at, info
			p.link, _ = os.Readlink(s.abs(at))
			break
		}
		if i < len(parts)-1 {
			p.pins = append(p.pins, at)
		}
		p.info = info
	}
	if git != "" {
		p.pins = append([]string{git}, p.pins...)
	}
	s.places[p.path] = p
}
