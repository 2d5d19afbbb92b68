package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/launch"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// startWait is how long a server may take to say where it listens.
const startWait = 30 * time.Second

// Background starts a server of its own on the data folder, which outlives this program, and
// waits until it says where it listens. What it says goes into serve.log there.
func Background(ctx context.Context, p Paths, program string, args ...string) (Running, error) {
	if err := p.Create(); err != nil {
		return Running{}, err
	}
	args = append([]string{"serve", "--unless-running", "--data", p.Data}, args...)
	server := launch.Program{Path: program, Args: args, Log: shim.ServerLog(p.Data)}
	ended, err := server.Start() // not of ctx: it stays
	if err != nil {
		return Running{}, fmt.Errorf("start server: %w", err)
	}
	r, err := WaitRunning(ctx, p, ended)
	if err != nil {
		return Running{}, fmt.Errorf("%w (see %s)", err, server.Log)
	}
	return r, nil
}

// WaitRunning waits until a server of the data folder says where it listens. ended is told if it
// ends instead; nil: nobody would know.
func WaitRunning(ctx context.Context, p Paths, ended <-chan error) (Running, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		if r, err := FindRunning(p); err == nil {
			return r, nil
		}
		select {
		case err := <-ended:
			return Running{}, fmt.Errorf("start server: it ended at once: %w", errors.Join(err, ErrNotRunning))
		case <-ctx.Done():
			return Running{}, fmt.Errorf("start server: it does not say where it listens: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// closing is how long a server that no longer says where it listens may take to close its log. Where nobody waits for its processes one
// that has ended may be listed for ever.
const closing = 5 * time.Second

// StopRunning asks the server of a data folder to end, and waits until it has.
func StopRunning(ctx context.Context, p Paths) error {
	r, err := FindRunning(p)
	if err != nil {
		return err
	}
	process, err := os.FindProcess(r.PID)
	if err != nil {
		return fmt.Errorf("stop server: %w", err)
	}
	if runtime.GOOS == "windows" { // which has no way to ask; the log is whole at any moment
		err = process.Kill()
	} else {
		err = process.Signal(os.Interrupt)
	}
	if err != nil {
		return fmt.Errorf("stop server: process %d: %w", r.PID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	var silent time.Time
	for {
		if _, err := FindRunning(p); errors.Is(err, ErrNotRunning) {
			if silent.IsZero() {
				silent = time.Now()
			}
			if r.Over() || r.Since == "" || time.Since(silent) > closing {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stop server: process %d has not ended: %w", r.PID, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// started is where a server says that a program started it: init, or a hook. One that a person or the system started says nothing.
func (p Paths) started() string { return filepath.Join(p.Data, "started.json") }

// NoteStarted says that the server that runs here was started by a program, which may stop it again.
func NoteStarted(p Paths) error {
	raw, err := strictjson.Marshal(serverproof.Own())
	if err == nil {
		err = replace(p.started(), append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("note who started the server: %w", err)
	}
	return nil
}

// StartedHere reports whether the server of a data folder was started by a program. Where that cannot be told it was not.
func StartedHere(p Paths) (bool, error) {
	r, err := FindRunning(p)
	if err != nil {
		return false, err
	}
	var by serverproof.Life
	raw, err := os.ReadFile(p.started())
	if err != nil || strictjson.UnmarshalKnown(raw, &by) != nil {
		return false, nil //nolint:nilerr // nobody said so
	}
	return by == r.Life, nil
}

// Purge deletes a data folder. It must be one, no server may run on it, and nothing in it may be under a legal hold.
func Purge(ctx context.Context, p Paths) error {
	const what = "purge: %w"
	if p.Store != "" {
		return fmt.Errorf(what, errors.New("the log is in a database, which its administrator deletes"))
	}
	if _, err := FindRunning(p); err == nil {
		return fmt.Errorf(what, errors.New("a server runs on "+p.Data))
	} else if !errors.Is(err, ErrNotRunning) {
		return fmt.Errorf(what, err)
	}
	if _, err := os.Stat(p.Tokens()); err != nil {
		return fmt.Errorf(what, fmt.Errorf("%s is no data folder: %w", p.Data, err))
	}
	if exists(p) == nil {
		holds, err := Holds(ctx, p)
		if err != nil {
			return fmt.Errorf(what, err)
		}
		if len(holds) > 0 {
			return fmt.Errorf(what, fmt.Errorf("%d legal holds keep it (tidemark log hold)", len(holds)))
		}
	}
	if home, err := os.UserHomeDir(); err != nil || filepath.Clean(p.Data) == filepath.Clean(home) {
		return fmt.Errorf(what, errors.New("the data folder is the home"))
	}
	if err := os.RemoveAll(p.Data); err != nil {
		return fmt.Errorf(what, err)
	}
	return nil
}

// Sweep removes the folders that a definition was put into, where nothing else is in them.
func (s *Service) Sweep() {
	path, _, err := s.File()
	top := len(filepath.Join(s.Home, ".config"))
	for dir := filepath.Dir(path); err == nil && s.System == "linux" && len(dir) > top; dir = filepath.Dir(dir) {
		if err = os.Remove(dir); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
}
