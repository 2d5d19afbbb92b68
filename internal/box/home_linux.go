package box

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// What of the home folder is a layer, by Want.Layer. The zero value is the caches.
const (
	LayerCaches = "caches" // what programs keep there by themselves; it goes with the box
	LayerHome   = "home"   // all that is shown of it. What commands change is put aside at the end, for a person to keep or throw away
	LayerNone   = "none"   // nothing: it can be read
)

// How much of the home folder is copied so that it can be changed in the box: settings are small. What is larger can be read.
const (
	mostOfFile = 1 << 20
	mostCopied = 16 << 20
)

// homeFolder is the box's own home folder, of which what is there is shown: in memory and sealed at the end, or, where all of the home is
// a layer, a folder of the box's on the disk.
func (p *plan) homeFolder(w Want) {
	if w.Layer != LayerHome {
		p.add(step{Do: doVoid, To: w.Home, Mode: 0o755, Options: "size=16m"})
		return
	}
	p.layers++
	p.homeUp = filepath.Join(w.State, "layer", strconv.Itoa(p.layers), "up")
	p.copies = map[string]string{}
	p.add(step{Do: doOpen, From: p.homeUp, To: w.Home, Write: true})
}

// homeFile shows a file of the home folder: as a copy that can be changed, where all of the home is a layer and it is small.
func (p *plan) homeFile(w Want, path string, info fs.FileInfo) {
	below, err := filepath.Rel(w.Home, path)
	if p.homeUp == "" || err != nil || !filepath.IsLocal(below) || info.Size() > mostOfFile || p.copied+info.Size() > mostCopied {
		p.add(step{Do: doShow, From: path, To: path, Spare: true})
		return
	}
	p.copied += info.Size()
	p.copies[below] = path
}

// homeDir shows a folder of the home folder: below a layer, where all of it is one.
func (p *plan) homeDir(w Want, path string, mounts []string) {
	if p.homeUp == "" || mountedBelow(path, mounts) || inside(path, w.State) || inside(w.State, path) {
		p.borrow(path, mounts, w)
		return
	}
	p.layers++
	kept := filepath.Join(w.State, "layer", strconv.Itoa(p.layers))
	p.add(step{Do: doLayer, From: path, To: path, Layer: kept, Write: true, Spare: true})
	p.kept = append(p.kept, len(p.Steps)-1)
}

// copyHome makes the copies, and takes down what they were.
func (b *Box) copyHome() error {
	b.homeWas = map[string]string{}
	for below, from := range b.plan.copies {
		to := filepath.Join(b.plan.homeUp, below)
		f, err := openPlain(from)
		if err != nil {
			continue // what cannot be read is not shown
		}
		info, err := f.Stat()
		text, readErr := io.ReadAll(io.LimitReader(f, mostOfFile))
		if err = errors.Join(err, readErr, f.Close()); err != nil {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, text, info.Mode().Perm()|0o600)); err != nil {
			return fmt.Errorf("make box: %w", err)
		}
		b.homeWas[below] = sumOf(text)
	}
	return nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// homeAside puts aside what commands changed of the home folder, where all of it was a layer: whole files, by the path that they would
// have. What was removed, and what is no file, is not among it.
func (b *Box) homeAside() ([]Aside, error) {
	if b.plan.homeUp == "" {
		return nil, nil
	}
	out, err := b.homeChanges(b.plan.homeUp, b.want.Home)
	for _, i := range b.plan.kept {
		s := b.plan.Steps[i]
		more, moreErr := b.homeChanges(filepath.Join(s.Layer, "up"), s.To)
		out, err = append(out, more...), errors.Join(err, moreErr)
	}
	return out, err
}

// homeChanges are those of one folder of the home.
func (b *Box) homeChanges(up, at string) ([]Aside, error) {
	var out []Aside
	err := filepath.WalkDir(up, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what cannot be read is not kept
		}
		below, err := filepath.Rel(up, path)
		if err != nil {
			return err
		}
		to := filepath.Join(at, below)
		was, changed, err := b.homeChanged(path, to)
		if err != nil || !changed {
			return err
		}
		if b.moved >= mostAside {
			b.dropped++
			return nil
		}
		kept, err := b.newAside(filepath.Base(to))
		if err != nil {
			return err
		}
		if err := os.Rename(path, kept); err != nil {
			return err
		}
		out = append(out, Aside{Path: to, Kept: kept, Sum: was})
		return nil
	})
	return out, err
}

// homeChanged reports whether a file of a layer is another than the one that it stands for, and what that is.
func (b *Box) homeChanged(path, to string) (was string, changed bool, err error) {
	below, err := filepath.Rel(b.want.Home, to)
	if err != nil {
		return "", false, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", false, err
	}
	if info.Size() == 0 && !exists(to) && b.homePoint(to) {
		return "", false, nil // what something was shown on
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false, nil //nolint:nilerr // a mode that a command gave it: nobody can keep it
	}
	if b.homeSettled(to, sumOf(text)) {
		return "", false, nil // it goes with the layer
	}
	b.homeMu.Lock()
	first, copied := b.homeWas[below]
	b.homeMu.Unlock()
	if copied {
		return first, sumOf(text) != first, nil
	}
	f, err := openPlain(to)
	if err != nil {
		return "", true, nil //nolint:nilerr // it is new
	}
	defer f.Close()
	old, err := io.ReadAll(f)
	if err != nil {
		return "", false, nil //nolint:nilerr // nobody can tell
	}
	return sumOf(old), sumOf(old) != sumOf(text), nil
}

// homePoint reports whether a path is one on which the view shows something.
func (b *Box) homePoint(to string) bool {
	for _, s := range b.plan.Steps {
		if s.To == to {
			return true
		}
	}
	return false
}
