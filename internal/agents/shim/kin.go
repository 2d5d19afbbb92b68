package shim

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

// Some agents say whose sub-agent a session is only when it starts. What is said in it
// later is the other session's model speaking, not the owner; so a file in the data folder
// keeps whose it is. The owner's own sessions have such a file too: one without could be
// a sub-agent's whose start was missed, or could not be noted, and counts as nobody's.

const (
	kinOwn  = "own"  // no other session started it
	kinOf   = "of: " // stands before the session that did
	kinKept = 30 * 24 * time.Hour
)

// relate completes the event's parent, or notes it.
func (a adapter) relate(o Options, e *catalogue.Event) error {
	if !a.Limits.Kin {
		return nil
	}
	sum := sha256.Sum256([]byte(a.key(e.Session)))
	name := filepath.Join(o.Data, "kin", hex.EncodeToString(sum[:16]))
	if e.Kind == catalogue.Start {
		forgetKin(filepath.Dir(name))
	}
	if e.Parent != "" {
		err := noteKin(name, kinOf+e.Parent)
		if err != nil { // it must not stay the owner's, and what it reads may come to its parent unseen
			err = errors.Join(err, removeNote(name), incur(o.Data, a.key(e.Parent)+"\x00"))
		}
		return err
	}
	parent, err := readKin(name)
	switch {
	case err == nil:
		e.Parent = parent
		return nil
	case errors.Is(err, fs.ErrNotExist) && e.Fresh:
		err = noteKin(name, kinOwn)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil || !e.Fresh {
		e.Speaker = catalogue.Nobody
	}
	return err
}

// noteKin leaves the whole note or none: half of one, as on a full disk, would be
// somebody else's.
func noteKin(name, note string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("note whose session it is: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return fmt.Errorf("note whose session it is: %w", err)
	}
	_, err = f.WriteString(note)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("note whose session it is: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// readKin is the session that started this one; "" is the owner's own.
func readKin(name string) (string, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("look whose session it is: %w", err)
	}
	parent, of := strings.CutPrefix(string(raw), kinOf)
	switch {
	case string(raw) == kinOwn:
		parent = ""
	case !of || parent == "":
		return "", fmt.Errorf("look whose session it is: %s is damaged, so this may not go on (start a new session)", name)
	}
	now := time.Now()
	if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > kinKept/30 {
		_ = os.Chtimes(name, now, now) // without it the note is forgotten a little early, which is the safe side
	}
	return parent, nil
}

// forgetKin removes the notes of sessions that nobody has used for long. Those that cannot
// be removed do no harm.
func forgetKin(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > kinKept {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}
