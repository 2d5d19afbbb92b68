package broker

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// How much of a workspace one command sends.
const (
	mostSent      = 256 << 20
	mostSentFiles = 5000
)

// listed are the files that would be sent, each with its size, and adds what of them can be read; nil: that is not wanted. There is no
// link among them: where it leads others choose.
func (b *Broker) listed(names []string, adds *Adds) ([]File, error) {
	var out []File
	var size int64
	for _, name := range names {
		top, err := b.ours(name)
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(b.dir(), path)
			if err != nil || !info.Mode().IsRegular() {
				return fmt.Errorf("%.80q is no plain file", d.Name())
			}
			if size += info.Size(); len(out) >= mostSentFiles || size > mostSent {
				return errors.New("it is more than is sent at once")
			}
			var text beginning
			if adds != nil {
				text.room = mostAdded - adds.size
			}
			sum, n, err := copyPlain(path, &text, info.Size())
			if adds.add("file", rel); text.plain() {
				adds.add(rel, text.String())
			}
			out = append(out, File{Path: rel, Size: n, sum: sum})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// beginning keeps as much of what is written as there is room for.
type beginning struct {
	strings.Builder
	room int
}

func (b *beginning) Write(p []byte) (int, error) {
	_, _ = b.Builder.Write(p[:max(0, min(len(p), b.room-b.Len()))])
	return len(p), nil
}

// plain reports whether it is text. A letter at its end may be cut.
func (b *beginning) plain() bool {
	s := b.String()
	return s != "" && !strings.Contains(s, "\x00") && utf8.ValidString(s[:max(0, len(s)-utf8.UTFMax)])
}

// ours is a path of the workspace, if nothing on the way to it leads elsewhere and none of it is hidden.
func (b *Broker) ours(name string) (string, error) {
	top, err := filepath.EvalSymlinks(b.opts.Want.Workspace)
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.dir(), filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err != nil:
		return "", errors.New("it is not there")
	case real != path || !below(real, top) || real == top:
		return "", errors.New("it lies elsewhere than in the workspace")
	case slices.ContainsFunc(b.opts.Want.Hide, func(h string) bool { return below(real, h) || below(h, real) }):
		return "", errors.New("it is hidden")
	}
	return real, nil
}

// copied copies a file or a folder of the workspace, if it still is what was listed.
func (b *Broker) copied(name, to string, listed []File) error {
	from, err := b.ours(name)
	if err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.MkdirAll(at, 0o700)
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		rel, err := filepath.Rel(b.dir(), path)
		was := slices.IndexFunc(listed, func(f File) bool { return f.Path == rel })
		if err != nil || was < 0 {
			return fmt.Errorf("%.80q is new: %w", d.Name(), ErrChanged)
		}
		out, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		sum, _, err := copyPlain(path, out, listed[was].Size)
		if err == nil && sum != listed[was].sum {
			err = fmt.Errorf("%.80q: %w", d.Name(), ErrChanged)
		}
		return errors.Join(err, out.Close(), alike(path, at))
	})
}

// alike gives a copy the rights and the time of what it is one of.
func alike(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	return errors.Join(os.Chmod(to, info.Mode().Perm()|0o400), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// copyPlain copies a file that is no link, whatever somebody puts in its place meanwhile, and says what it was.
func copyPlain(from string, to io.Writer, most int64) (sum [sha256.Size]byte, n int64, err error) {
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return sum, 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	real, err2 := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", in.Fd()))
	if err = errors.Join(err, err2); err != nil {
		return sum, 0, err
	}
	if real != from || !info.Mode().IsRegular() {
		return sum, 0, fmt.Errorf("%.80q is no plain file", filepath.Base(from))
	}
	h := sha256.New()
	if n, err = io.Copy(io.MultiWriter(to, h), io.LimitReader(in, most+1)); err == nil && n > most {
		err = fmt.Errorf("%.80q: %w", filepath.Base(from), ErrChanged)
	}
	return [sha256.Size]byte(h.Sum(nil)), n, err
}
