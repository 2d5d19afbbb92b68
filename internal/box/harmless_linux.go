package box

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// harmless reports whether something that came into being in a repository's folder may stay.
func (s *survey) harmless(p place, known []string) bool {
	path := s.abs(p.path)
	text, regular := readPlain(path)
	inWorktrees := filepath.Base(filepath.Dir(filepath.Dir(path))) == "worktrees"
	switch base := filepath.Base(p.path); {
	case p.link != "":
		return false
	case base == "hooks":
		entries, err := os.ReadDir(path)
		return err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
			return !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".sample")
		})
	case base == "remotes" || base == "branches":
		return p.info.IsDir() && !holdsFiles(path)
	case !regular:
		return false
	case base == "config" || base == "config.worktree":
		return plainConfig(text, func(folder string) bool { return s.holds(filepath.Dir(path), folder) })
	case base == "commondir":
		return inWorktrees && strings.TrimSpace(text) == "../.."
	case base == "gitdir":
		return inWorktrees // it only says where the files are
	case base == "alternates":
		return s.knownObjects(text, known)
	case p.judged:
		return plainSteps(text)
	}
	return false
}

// holds reports whether a folder that is named from another lies in the workspace.
func (s *survey) holds(from, folder string) bool {
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(from, folder)
	}
	real, err := filepath.EvalSymlinks(folder)
	return err == nil && inside(real, s.root)
}

// plainSteps reports whether the steps of a rebase that waits run nothing but git.
func plainSteps(text string) bool {
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word != "" && word[0] != '#' && !slices.Contains(gitSettings.of("steps"), word) {
			return false
		}
	}
	return true
}

// knownObjects reports whether a repository borrows objects from repositories that were there before only.
func (s *survey) knownObjects(text string, known []string) bool {
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(known, func(k string) bool { return filepath.Join(s.abs(k), "objects") == strings.TrimSpace(line) }) {
			return false
		}
	}
	return true
}

// leadsHome reports whether a .git file names the folder of a worktree or module of a repository that was there before, and that
// was looked at: one that lies deeper was not.
func (s *survey) leadsHome(link string, known []string) bool {
	dir, ok := gitdirOf(s.abs(link))
	if !ok {
		return false
	}
	return slices.ContainsFunc(known, func(k string) bool {
		below, err := filepath.Rel(s.abs(k), dir)
		if err != nil {
			return false
		}
		name, isTree := strings.CutPrefix(below, "worktrees/")
		isModule := strings.HasPrefix(below, "modules/") && slices.ContainsFunc(s.repos, func(r string) bool { return s.abs(r) == dir })
		return isModule || isTree && !strings.Contains(name, "/") && !isRepositoryAt(dir)
	})
}

// readPlain reads a file that is no link, no pipe and not large: whoever made it may want to keep the reader waiting.
func readPlain(path string) (string, bool) {
	f, err := openPlain(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	return string(text), err == nil && len(text) <= maxConfig
}

func openPlain(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrInvalid}
	}
	return f, nil
}

// gitdirOf is the folder that a .git file names.
func gitdirOf(file string) (string, bool) {
	text, ok := readPlain(file)
	if !ok {
		return "", false
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(text, "\n"), "gitdir: ")
	if !ok || strings.Contains(dir, "\n") {
		return "", false
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	return filepath.Clean(dir), true
}
