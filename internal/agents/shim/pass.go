package shim

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Pass is what was said about one command of an agent that starts its commands with a program of ours: that program looks it up, and
// runs nothing without.
type Pass struct {
	Ticket string `json:"ticket,omitzero"` // it runs in the box that this opens; "": as it would without us
	Root   string `json:"root,omitzero"`   // the folder that is worked on
}

// passAge is for how long a pass is good: a person may take a while to answer a question of the agent's own. Tickets have their own end.
const passAge = 24 * time.Hour

// ErrNoPass says that nothing was said about a command.
var ErrNoPass = errors.New("nobody has said that it may run")

func passFolder(data, agent string) string { return filepath.Join(data, "agents", agent+".passes") }

// passName is the same for the same line of the same session.
func passName(session, line string) string {
	sum := sha256.Sum256([]byte(session + "\x00" + line))
	return hex.EncodeToString(sum[:])
}

// leave leaves a pass for one command. What was said before about the same line and not used is over if this is for a box: nothing
// that ran plainly once runs so a second time. Each call has one of its own, because the same line can be called twice at once.
func (p Pass) leave(data, agent, session, line string) error {
	folder, name := passFolder(data, agent), passName(session, line)
	raw, err := strictjson.Marshal(p)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil && p.Ticket != "" {
		err = revoke(data, agent, session, line)
	}
	if err != nil {
		return fmt.Errorf("leave a pass: %w", err)
	}
	sweep(folder, time.Now().Add(-passAge))
	id := name + "." + rand.Text()
	half := filepath.Join(folder, "half."+id) // no reader sees half of it
	if err := errors.Join(os.WriteFile(half, raw, 0o600), os.Rename(half, filepath.Join(folder, id))); err != nil {
		return fmt.Errorf("leave a pass: %w", err)
	}
	return nil
}

// revoke takes away what was said about a line.
func revoke(data, agent, session, line string) error {
	found, err := passesOf(data, agent, session, line)
	for _, path := range found {
		if bad := os.Remove(path); bad != nil && !errors.Is(bad, fs.ErrNotExist) {
			err = errors.Join(err, bad)
		}
	}
	return err
}

func passesOf(data, agent, session, line string) ([]string, error) {
	folder, name := passFolder(data, agent), passName(session, line)
	list, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, f := range list {
		if strings.HasPrefix(f.Name(), name+".") {
			out = append(out, filepath.Join(folder, f.Name()))
		}
	}
	return out, err
}

// sweep removes what nobody came for.
func sweep(folder string, before time.Time) {
	list, _ := os.ReadDir(folder) // what cannot be listed stays
	for _, f := range list {
		if info, err := f.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(folder, f.Name()))
		}
	}
}

// TakePass uses up what was said about a line. Of several, one that is for a box comes first.
func TakePass(data, agent, session, line string) (Pass, error) {
	found, err := passesOf(data, agent, session, line)
	if err != nil {
		return Pass{}, fmt.Errorf("look for a pass: %w", err)
	}
	var stuck error
	for _, boxed := range []bool{true, false} {
		for _, path := range found {
			var p Pass
			info, err := os.Lstat(path)
			if err != nil || readPrivate(path, 0o077, &p) != nil || (p.Ticket != "") != boxed {
				continue
			}
			if err := os.Remove(path); err != nil { // somebody else has it, or it could be used for ever
				if !errors.Is(err, fs.ErrNotExist) {
					stuck = fmt.Errorf("use up a pass: %w (is a sandbox of the agent's own on?)", err)
				}
				continue
			}
			if time.Since(info.ModTime()) < passAge {
				return p, nil
			}
		}
	}
	if stuck != nil {
		return Pass{}, stuck
	}
	return Pass{}, ErrNoPass
}
