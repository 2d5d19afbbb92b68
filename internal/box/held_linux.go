package box

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
)

// How much of what is guarded a reduced box can hold copies of.
const (
	mostHeld      = 64 << 20
	mostHeldFiles = 20_000
)

// held is a copy of a guarded place, and what stood there.
type held struct {
	copy  string
	print map[string]string
}

// hold copies everything that is guarded, since nothing keeps it from being changed.
func (s *survey) hold(dir string) error {
	s.held = map[string]held{}
	size, files := 0, 0
	for path, p := range s.places {
		if p.judged {
			continue
		}
		h := held{copy: filepath.Join(dir, strconv.Itoa(len(s.held)))}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make box: %w", err)
		}
		var err error
		if h.print, err = fingerprint(s.abs(path)); err != nil {
			return &Lack{What: "without namespaces guarded files are compared, and " + path + " cannot be", Err: err}
		}
		n, count, err := copyTree(s.abs(path), h.copy, mostHeld-size)
		if err != nil {
			return &Lack{What: "without namespaces guarded files are copied, and " + path + " cannot be", Err: err}
		}
		if size, files = size+n, files+count; size > mostHeld || files > mostHeldFiles {
			return &Lack{What: fmt.Sprintf("without namespaces guarded files are copied, and with %s they are more than %d MB or %d files",
				path, mostHeld>>20, mostHeldFiles)}
		}
		s.held[path] = h
	}
	return nil
}

// copyTree copies a file, a link or a folder with all that is in it.
func copyTree(from, to string, most int) (size, files int, err error) {
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, below)
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		switch {
		case d.IsDir():
			return os.MkdirAll(at, info.Mode().Perm()|0o700)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			return errors.Join(err, os.Symlink(target, at)) //nolint:gosec // what it leads to is not opened, only noted
		case !d.Type().IsRegular():
			return nil // a socket or a pipe says nothing
		}
		if size += int(info.Size()); size > most || files > mostHeldFiles {
			return errors.New("it is too large")
		}
		return copyPlain(path, at, info.Mode().Perm())
	})
	return size, files, err
}

func copyPlain(from, to string, mode fs.FileMode) error {
	in, err := openPlain(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, mostHeld))
	return errors.Join(err, out.Chmod(mode|0o600), out.Close())
}

// fingerprint is what stands at a path, so that two looks can be compared: kinds, who may run it, and bytes.
func fingerprint(top string) (map[string]string, error) {
	out, left := map[string]string{}, int64(2*mostHeld)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			out[below] = "folder"
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			out[below] = "link " + target
			return err
		case d.Type().IsRegular():
			f, err := openPlain(path)
			if err != nil {
				return err
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				return err
			}
			if left -= info.Size(); left < 0 {
				return errors.New("it is too large")
			}
			sum := sha256.New()
			_, err = io.Copy(sum, io.LimitReader(f, mostHeld))
			out[below] = fmt.Sprintf("file %v %x", info.Mode()&0o111 != 0, sum.Sum(nil))
			return err
		default:
			out[below] = "other"
		}
		return nil
	})
	return out, err
}

// unchanged reports whether a place of which there is a copy is what it was, or git's settings that are no weightier.
func (s *survey) unchanged(h held, was, p place) bool {
	print, err := fingerprint(s.abs(p.path))
	return err == nil && (maps.Equal(print, h.print) || was.saved && p.link == "" && p.git != "" && s.saysNoMore(was, p))
}

// bringBack puts a guarded place where it was, from its copy, if nothing is there.
func (s *survey) bringBack(path string) error {
	h := s.held[path]
	base := s.root
	for _, dir := range s.kept {
		if inside(path, dir) {
			base = dir
		}
	}
	below, err := filepath.Rel(base, s.abs(path))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(below); err == nil {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(below), 0o755); err != nil {
		return err
	}
	return filepath.WalkDir(h.copy, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(h.copy, at)
		if err != nil {
			return err
		}
		to := filepath.Join(below, name)
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return root.MkdirAll(to, info.Mode().Perm())
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			return errors.Join(err, root.Symlink(target, to))
		}
		text, err := os.ReadFile(at) //nolint:gosec // a copy of ours, which no box has
		if err != nil {
			return err
		}
		return root.WriteFile(to, text, info.Mode().Perm())
	})
}

// bringBackAll puts back what was guarded and is gone.
func (s *survey) bringBackAll(now *survey) error {
	var errs []error
	for path := range s.held {
		if _, there := now.places[path]; !there {
			if err := s.bringBack(path); err != nil {
				errs = append(errs, fmt.Errorf("put back %s: %w", path, err))
			}
		}
	}
	return errors.Join(errs...)
}
