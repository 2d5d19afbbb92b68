package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/filelock"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/checkpoints"
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

func announce(p Paths, r Running) error {
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

// withdraw removes the announcement if it is still ours.
func withdraw(p Paths, r Running) {
	if now, err := FindRunning(p); err == nil && now == r {
		_ = os.Remove(p.Server())
	}
}

// stamped is what scripts/release calls the tree it builds, for where the Go command cannot tell.
var stamped string

// Version is the version of this program.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case ok && info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	case stamped != "":
		return stamped
	}
	return "devel"
}

// openCheckpoints has conversations that are let go kept in the data folder. Without a key nothing can be sealed, and nothing is kept.
// What was left by a server that had more room, or kept some, is removed.
func (a *App) openCheckpoints(opts *engine.Options) error {
	folder := a.opts.Paths.Checkpoints()
	if len(opts.Key) == 0 || a.config.Server.Checkpoints == 0 {
		return checkpoints.Clear(folder)
	}
	kept, err := checkpoints.Open(folder, keyed(opts.Key, "names of checkpoints"), a.config.Server.Checkpoints)
	if err != nil {
		return err
	}
	opts.Checkpoints, opts.Program = kept, program()
	return nil
}

// program tells this build from others. Two builds may have one version, so the file counts that it was started from; one that cannot
// be looked at is another at each start.
func program() string {
	if self, err := os.Executable(); err == nil {
		if info, err := os.Stat(self); err == nil {
			return fmt.Sprintf("%s %d %d", Version(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return fmt.Sprintf("%s %s", Version(), rand.Text())
}

// held is how many bytes of sessions are held where they may take so many: the collector needs half as much again.
func held(memory int64) int64 { return max(memory/8*5, 1) }

func newMonitor(cfg *config.Config, o *external, opts engine.Options) (*engine.Monitor, error) {
	opts.Policy, opts.Now, opts.Rand, opts.Approvers = cfg.Policy, time.Now, rand.Reader, &cfg.Approvals.Who
	opts.MaxHeard, opts.Processors = held(sessionMemory(cfg)), runtime.GOMAXPROCS(0)
	if o != nil {
		o.advise(&opts)
	}
	return engine.New(opts)
}

// ErrInUse is returned where another server holds the data folder.
var ErrInUse = errors.New("the data folder is in use")

// hold makes the data folder this server's alone, for as long as the file is open. Two servers
// on one folder would each believe that the announcement is theirs, and hooks would be cut off when
// the second one ended.
func hold(p Paths) (*os.File, error) {
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
