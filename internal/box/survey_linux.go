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
	path   string   // below the workspace, or absolute where a repository keeps its folder elsewhere
	name   string   // the name under which it is guarded
	pins   []string // folders above it that must stay where they are, from the top
	link   string   // where it leads to, if it is a link
	git    string   // the folder of the repository it belongs to, if it is part of one
	judged bool     // it may be changed, and what it says then counts
	info   fs.FileInfo
	born   int64  // when it came into being, if the file system says so: numbers of files are given again
	text   string // what it held before the box was made, if it is a small file
	saved  bool
	back   bool // it was put back: its guard is gone, and what it holds counts
}

// survey is what stands in a workspace that a box has to know of.
type survey struct {
	root    string
	places  map[string]place
	repos   []string // folders of repositories
	links   []string // .git files: they name a repository's folder elsewhere
	kept    []string // folders of those outside that the workspace needs to be written
	named   []string // what is guarded because settings or links lead to it, below the root
	closed  []string // folders that could not be listed
	sockets []string

	home   string
	guards guards
	held   map[string]held // copies of what is guarded, in a reduced box
	before *survey         // the look before the box was made, if this is a later one
}

// look goes through a workspace before a box is made for it. Links are never followed.
func look(workspace, home string) *survey {
	s := &survey{root: workspace, home: home, places: map[string]place{}, guards: readGuards()}
	s.folder(".")
	if dir, ok := s.elsewhere(); ok {
		s.kept = append(s.kept, dir)
		s.repository(dir)
	}
	s.readSettings()
	s.followLinks()
	for _, path := range s.named {
		s.note(".", path, "")
	}
	s.sockets = append(s.sockets, listeningBelow(workspace)...)
	return s
}

// again goes through the workspace once more. Where settings and links led is what it was: commands could have changed them.
func (s *survey) again() *survey {
	now := &survey{root: s.root, home: s.home, places: map[string]place{}, guards: s.guards, kept: s.kept, named: s.named, before: s}
	now.folder(".")
	for _, dir := range s.kept {
		now.repository(dir)
	}
	for _, path := range s.named {
		now.note(".", path, "")
	}
	return now
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
	if back, ok := readPlain(filepath.Join(dir, "gitdir")); ok {
		common := filepath.Dir(filepath.Dir(dir))
		return common, strings.TrimSpace(back) == link && filepath.Base(filepath.Dir(dir)) == "worktrees" && isRepositoryAt(common)
	}
	config, ok := readPlain(filepath.Join(dir, "config"))
	if !ok || !isRepositoryAt(dir) {
		return "", false
	}
	for line := range strings.Lines(config) {
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

// list opens a folder. One that a command closed is opened by its owner: it could be gone through all the same.
func (s *survey) list(dir string) []fs.DirEntry {
	f, err := os.Open(s.abs(dir))
	if err != nil && s.before != nil && !slices.Contains(s.before.closed, dir) && s.unlock(dir) {
		f, err = os.Open(s.abs(dir))
	}
	if err != nil {
		s.closed = append(s.closed, dir)
		return nil
	}
	entries, _ := f.ReadDir(-1)
	_ = f.Close()
	return entries
}

// unlock gives the owner of a folder their rights over it, without leaving the workspace.
func (s *survey) unlock(dir string) bool {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Lstat(dir)
	return err == nil && info.IsDir() && root.Chmod(dir, info.Mode().Perm()|0o700) == nil
}

func (s *survey) folder(dir string) {
	entries := s.list(dir)
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	if names["HEAD"] && names["objects"] && names["refs"] { // git takes it for a repository without being told
		s.repository(dir)
	}
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(dir, name)
		for _, p := range s.guards.of(name, dir == "." || names[".git"]) {
			s.note(dir, p, "")
			if first, rest, _ := strings.Cut(p, "/"); first != name && name[0] == '.' { // on other file systems it is the same name
				s.note(dir, filepath.Join(name, rest), "")
			}
		}
		switch {
		case strings.EqualFold(name, ".git"):
			s.git(dir, e)
		case e.Type()&fs.ModeSocket != 0:
			s.sockets = append(s.sockets, path)
		case e.IsDir() && !slices.Contains(s.guards.skip, name):
			s.folder(path)
		}
	}
}

// git notes what .git in a folder is: the repository, or a file or link that says where it is.
func (s *survey) git(dir string, e fs.DirEntry) {
	path := filepath.Join(dir, ".git")
	if e.IsDir() {
		s.repository(path)
		return
	}
	s.note(dir, ".git", "")
	s.links = append(s.links, path)
}

// repository notes the guarded parts of a repository's folder, of its modules and of its worktrees.
func (s *survey) repository(dir string) {
	if slices.Contains(s.repos, dir) {
		return
	}
	s.repos = append(s.repos, dir)
	s.parts(dir, dir)
	s.modules(filepath.Join(dir, "modules"))
	for _, t := range s.list(filepath.Join(dir, "worktrees")) {
		if t.IsDir() {
			s.parts(filepath.Join(dir, "worktrees", t.Name()), dir)
		}
	}
	for _, e := range s.list(dir) {
		if e.Type()&fs.ModeSocket != 0 {
			s.sockets = append(s.sockets, filepath.Join(dir, e.Name()))
		}
	}
}

// parts notes what has git run something, in the folder of a repository or of a worktree.
func (s *survey) parts(dir, git string) {
	for _, name := range slices.Concat(s.guards.git, s.guards.judged) {
		s.note(dir, name, git)
	}
}

// modules goes through the folder in which a repository keeps those of its submodules, whose names may have folders.
func (s *survey) modules(dir string) {
	for _, e := range s.list(dir) {
		if !e.IsDir() {
			continue
		}
		below := filepath.Join(dir, e.Name())
		if _, err := os.Lstat(s.abs(filepath.Join(below, "HEAD"))); err == nil {
			s.repository(below)
		} else {
			s.modules(below)
		}
	}
}

// note takes down a guarded path below dir if it is there, without following links on the way.
func (s *survey) note(dir, path, git string) {
	p := place{path: filepath.Join(dir, path), name: path, git: git, judged: slices.Contains(s.guards.judged, path)}
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
	p.born = bornAt(s.abs(p.path))
	if s.before == nil && p.link == "" && p.info.Mode().IsRegular() {
		p.text, p.saved = readPlain(s.abs(p.path))
	}
	s.places[p.path] = p
}

// guard takes down a path that the caller has guarded: below the workspace, or in the repository's folder elsewhere.
func (s *survey) guard(path string) {
	if filepath.IsLocal(path) {
		s.named = append(s.named, path)
		s.note(".", path, "")
		return
	}
	for _, dir := range s.kept {
		if below, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(below) {
			s.note(dir, below, "")
		}
	}
}

// followLinks names what guarded links lead to, if that is in the workspace: whoever changes it changes what is guarded.
func (s *survey) followLinks() {
	for _, p := range s.places {
		at := s.abs(p.path)
		for range 10 {
			to, err := os.Readlink(at)
			if err != nil {
				break
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			at = to
			s.name(at)
			if real, err := filepath.EvalSymlinks(at); err == nil {
				s.name(real)
			}
		}
	}
}

// name guards a path, from now on, if it lies in the workspace.
func (s *survey) name(path string) {
	if below, err := filepath.Rel(s.root, path); err == nil && below != "." && filepath.IsLocal(below) && !slices.Contains(s.named, below) {
		s.named = append(s.named, below)
	}
}

// rootOf is the root of the repository that a path lies in, or that of the workspace.
func (s *survey) rootOf(path string) string {
	best := "."
	for _, at := range slices.Concat(s.repos, s.links) {
		if dir := filepath.Dir(at); filepath.Base(at) == ".git" && len(dir) > len(best) && inside(path, dir) {
			best = dir
		}
	}
	return best
}
