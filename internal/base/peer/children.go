package peer

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ReaderVariable is what a process finds the word in that it was started with as a reader. The variable alone is anybody's to set.
const ReaderVariable = "TIDEMARK_READER"

// Children are processes that were started by programs of ours to read, in a folder that is private to us. Each is given a word that
// nobody else has; whoever shows it is believed only if they descend from that very process. The zero Children are none, and note
// nothing.
type Children struct{ Folder string }

// Child is one of them.
type Child struct {
	Word string // for ReaderVariable; empty: nobody could confirm it here
	note string
}

// The bounds of notes.
const (
	noteAge   = time.Hour // no reader lives as long
	noteLimit = 2 * time.Second
	noteAgain = 10 * time.Millisecond
	maxNote   = 256
)

// Expect notes that a child is about to be started: its hooks may speak before its number is known.
func (c Children) Expect() (Child, error) {
	if c.Folder == "" || !Known {
		return Child{}, nil
	}
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return Child{}, fmt.Errorf("note a reader: %w", err)
	}
	c.sweep()
	word := rand.Text()
	out := Child{Word: word, note: c.note(word)}
	if err := os.WriteFile(out.note, nil, 0o600); err != nil {
		return Child{}, fmt.Errorf("note a reader: %w", err)
	}
	return out, nil
}

// Started notes which process it is. One that has ended is nobody's ancestor.
func (c Child) Started(pid int) error {
	if c.note == "" {
		return nil
	}
	at, ok := look(pid)
	if !ok {
		return nil
	}
	half := c.note + ".half" // nobody reads half of it
	if err := errors.Join(os.WriteFile(half, []byte(at.name), 0o600), os.Rename(half, c.note)); err != nil {
		return fmt.Errorf("note a reader: %w", err)
	}
	return nil
}

// Ended takes the note away: the word is worth nothing any more.
func (c Child) Ended() {
	if c.note != "" {
		_ = os.Remove(c.note) // of a process that is gone it says nothing
	}
}

// note is where a word is kept: by its hash, so that a listing tells none.
func (c Children) note(word string) string {
	sum := sha256.Sum256([]byte(word))
	return filepath.Join(c.Folder, hex.EncodeToString(sum[:]))
}

// sweep takes away what a program left that was killed.
func (c Children) sweep() {
	list, _ := os.ReadDir(c.Folder) // what cannot be listed stays
	for _, f := range list {
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > noteAge {
			_ = os.Remove(filepath.Join(c.Folder, f.Name()))
		}
	}
}

// Has reports whether the process at the other end of a connection is a child's that was given this word, or descends from it.
func (c Children) Has(ctx context.Context, word string) bool {
	pid, ok := ctx.Value(connKey{}).(int)
	if !ok || pid <= 0 || c.Folder == "" || word == "" {
		return false
	}
	name := c.named(ctx, word)
	if name == "" {
		return false
	}
	for range maxDepth {
		at, ok := look(pid)
		switch {
		case !ok:
			return false
		case at.name == name:
			return true
		}
		pid = at.parent
	}
	return false
}

// named is the process that a word was given to; "": none is known, or not in time.
func (c Children) named(ctx context.Context, word string) string {
	ctx, cancel := context.WithTimeout(ctx, noteLimit)
	defer cancel()
	for {
		raw, err := os.ReadFile(c.note(word))
		if err != nil || len(raw) > maxNote {
			return ""
		}
		if name := strings.TrimSpace(string(raw)); name != "" {
			return name
		}
		select { // it is being started
		case <-ctx.Done():
			return ""
		case <-time.After(noteAgain):
		}
	}
}
