package datafolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/base/filelock"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Running says where a server of this data folder listens.
type Running struct {
	URL string `json:"url"`
	serverproof.Life
}

// ErrNotRunning is returned when no server has announced itself in the data folder.
var ErrNotRunning = errors.New("no server is running on this data folder")

// FindRunning reads the announcement of a running server. One of a process that is gone
// counts for nothing; where that cannot be told the caller finds out when it connects.
func FindRunning(p Paths) (Running, error) {
	raw, err := os.ReadFile(p.Server())
	if errors.Is(err, os.ErrNotExist) {
		return Running{}, ErrNotRunning
	}
	if err != nil {
		return Running{}, fmt.Errorf("find server: %w", err)
	}
	var r Running
	if err := strictjson.UnmarshalKnown(raw, &r); err != nil {
		return Running{}, fmt.Errorf("find server: %s: %w", p.Server(), err)
	}
	if r.Over() {
		return Running{}, ErrNotRunning
	}
	return r, nil
}

// Announce says where the server of a data folder listens.
func Announce(p Paths, r Running) error {
	raw, err := strictjson.Marshal(r)
	if err != nil {
		return fmt.Errorf("announce server: %w", err)
	}
	tmp := filepath.Join(p.Data, ".server.json.tmp")
	if err := os.WriteFile(tmp, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("announce server: %w", err)
	}
	if err := os.Rename(tmp, p.Server()); err != nil {
		return fmt.Errorf("announce server: %w", err)
	}
	return nil
}

// Withdraw removes the announcement if it is still ours.
func Withdraw(p Paths, r Running) {
	if now, err := FindRunning(p); err == nil && now == r {
		_ = os.Remove(p.Server())
	}
}

// ErrInUse is returned where another server holds the data folder.
var ErrInUse = errors.New("the data folder is in use")

// Lock makes the data folder this server's alone, for as long as the file is open. Two servers
// on one folder would each believe that the announcement is theirs, and hooks would be cut off when
// the second one ended.
func Lock(p Paths) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(p.Data, "serve.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	ours, err := filelock.Try(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock data folder: %w", err), f.Close())
	}
	if !ours {
		return nil, errors.Join(inUse(p, f), f.Close())
	}
	if err := errors.Join(f.Truncate(0), writeAt(f, fmt.Sprintln(os.Getpid()))); err != nil {
		return nil, errors.Join(fmt.Errorf("lock data folder: %w", err), f.Close())
	}
	return f, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// inUse names the server that holds the folder: by its announcement, or by the lock while it has
// made none.
func inUse(p Paths, f *os.File) error {
	const todo = "stop it, or give this one a folder of its own with --data"
	if r, err := FindRunning(p); err == nil {
		return fmt.Errorf("%w: a server runs on %s already: process %d at %s (%s)", ErrInUse, p.Data, r.PID, r.URL, todo)
	}
	var pid [32]byte
	n, _ := f.ReadAt(pid[:], 0)
	return fmt.Errorf("%w: a server is starting or stopping on %s already: process %s (%s)",
		ErrInUse, p.Data, strings.TrimSpace(string(pid[:n])), todo)
}
