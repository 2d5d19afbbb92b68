package install

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// spot is one file, reached through a folder that is held open: what it names cannot be
// moved elsewhere between looking and writing.
type spot struct {
	path string
	rel  string // below root
	root *os.Root
}

// reach finds a file. The user's own settings may be a link to where they really are; in a
// project, which others write to, no part of the path may be one, and the administrator's
// file may not.
func (w World) reach(path string) (*spot, error) {
	if w.inProject(path) {
		rel, err := filepath.Rel(w.Project, path)
		if err != nil {
			return nil, fmt.Errorf("find settings: %w", err)
		}
		return openSpot(w.Project, rel, true)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if w.Managed {
			return nil, fmt.Errorf("find settings: %s is a link, which is not followed here", path)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, fmt.Errorf("follow settings: %w", err)
		}
	}
	folder := existing(filepath.Dir(path))
	rel, err := filepath.Rel(folder, path)
	if err != nil {
		return nil, fmt.Errorf("find settings: %w", err)
	}
	return openSpot(folder, rel, false)
}

func (w World) inProject(path string) bool { return w.Project != "" && inside(path, w.Project) }

func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// existing is the nearest folder that is there.
func existing(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func openSpot(folder, rel string, strict bool) (*spot, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("find settings: %w", err)
	}
	if strict {
		if err := settings.NoLinks(root, rel); err != nil {
			return nil, errors.Join(fmt.Errorf("find settings: %w", err), root.Close())
		}
	}
	return &spot{path: filepath.Join(folder, rel), rel: rel, root: root}, nil
}

func (s *spot) close() { _ = s.root.Close() } // a folder: what was written is closed by now

// read is nil where the file is not there.
func (s *spot) read() ([]byte, error) {
	f, err := s.root.OpenFile(s.rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	src, err := settings.ReadOpen(f)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if src == nil {
		src = []byte{}
	}
	return src, nil
}

// perm is the mode of the file; 0 where it is not there.
func (s *spot) perm() os.FileMode {
	info, err := s.root.Stat(s.rel)
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}

func (s *spot) remove() error {
	if err := s.root.Remove(s.rel); err != nil {
		return fmt.Errorf("remove %s: %w", s.path, err)
	}
	return nil
}

// write gives the file these contents, whole or not at all. Its owner stays; a new file
// gets that of its folder where root writes it, so that its user can go on using it.
func (s *spot) write(contents []byte, mode os.FileMode) error {
	if err := s.folders(mode); err != nil {
		return fmt.Errorf("write %s: %w", s.path, err)
	}
	temp := filepath.Join(filepath.Dir(s.rel), ".tidemark-"+strings.ToLower(rand.Text()))
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", s.path, err)
	}
	_, err = f.Write(contents)
	err = errors.Join(err, s.own(f), f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = s.root.Rename(temp, s.rel)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", s.path, err), s.root.Remove(temp))
	}
	return nil
}

// own gives an open file the owner of the one it replaces.
func (s *spot) own(f *os.File) error {
	like, err := s.root.Stat(s.rel)
	if errors.Is(err, fs.ErrNotExist) {
		if os.Geteuid() != 0 {
			return nil
		}
		like, err = s.root.Stat(filepath.Dir(s.rel))
	}
	if err != nil {
		return err
	}
	is, err := f.Stat()
	if err != nil {
		return err
	}
	uid, gid, ok := ownerOf(like)
	if u, g, _ := ownerOf(is); !ok || u == uid && g == gid {
		return nil
	}
	if err := f.Chown(uid, gid); err != nil {
		return fmt.Errorf("keep its owner: %w", err)
	}
	return nil
}

// folders makes the folders on the way. They belong to whom the one around them belongs to.
func (s *spot) folders(mode os.FileMode) error {
	perm := os.FileMode(0o700)
	if mode&0o044 != 0 {
		perm = 0o755
	}
	dir := filepath.Dir(s.rel)
	for i := range len(dir) + 1 {
		if i < len(dir) && !os.IsPathSeparator(dir[i]) {
			continue
		}
		err := s.root.Mkdir(dir[:i], perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info, err := s.root.Stat(filepath.Dir(dir[:i])); err == nil && os.Geteuid() == 0 {
			if uid, gid, ok := ownerOf(info); ok {
				if err := s.root.Lchown(dir[:i], uid, gid); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// reader is how settings are looked at here.
func (a *agent) reader(w World) settings.Reader {
	return settings.Reader{Parse: a.parse, File: w.readFile}
}

// readFile reads a settings file; one of a project without following links.
func (w World) readFile(path string) ([]byte, error) {
	if w.inProject(path) {
		return settings.ReadIn(w.Project, path)
	}
	return settings.ReadFile(path)
}
