package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/launch"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/datafolder"
)

// startWait is how long a server may take to say where it listens.
const startWait = 30 * time.Second

// Background starts a server of its own on the data folder, which outlives this program, and
// waits until it says where it listens. What it says goes into serve.log there.
func Background(ctx context.Context, p datafolder.Paths, program string, args ...string) (datafolder.Running, error) {
	if err := p.Create(); err != nil {
		return datafolder.Running{}, err
	}
	args = append([]string{"serve", "--unless-running", "--data", p.Data}, args...)
	server := launch.Program{Path: program, Args: args, Log: shim.ServerLog(p.Data)}
	ended, err := server.Start() // not of ctx: it stays
	if err != nil {
		return datafolder.Running{}, fmt.Errorf("start server: %w", err)
	}
	r, err := WaitRunning(ctx, p, ended)
	if err != nil {
		return datafolder.Running{}, fmt.Errorf("%w (see %s)", err, server.Log)
	}
	return r, nil
}

// WaitRunning waits until a server of the data folder says where it listens. ended is told if it
// ends instead; nil: nobody would know.
func WaitRunning(ctx context.Context, p datafolder.Paths, ended <-chan error) (datafolder.Running, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		if r, err := datafolder.FindRunning(p); err == nil {
			return r, nil
		}
		select {
		case err := <-ended:
			return datafolder.Running{}, fmt.Errorf("start server: it ended at once: %w", errors.Join(err, datafolder.ErrNotRunning))
		case <-ctx.Done():
			return datafolder.Running{}, fmt.Errorf("start server: it does not say where it listens: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// closing is how long a server that no longer says where it listens may take to close its log. Where nobody waits for its processes one
// that has ended may be listed for ever.
const closing = 5 * time.Second

// StopRunning asks the server of a data folder to end, and waits until it has.
func StopRunning(ctx context.Context, p datafolder.Paths) error {
	r, err := datafolder.FindRunning(p)
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
		if _, err := datafolder.FindRunning(p); errors.Is(err, datafolder.ErrNotRunning) {
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

// NoteStarted says that the server that runs here was started by a program, which may stop it again.
func NoteStarted(p datafolder.Paths) error {
	raw, err := strictjson.Marshal(serverproof.Own())
	if err == nil {
		err = datafolder.Replace(p.Started(), append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("note who started the server: %w", err)
	}
	return nil
}

// StartedHere reports whether the server of a data folder was started by a program. Where that cannot be told it was not.
func StartedHere(p datafolder.Paths) (bool, error) {
	r, err := datafolder.FindRunning(p)
	if err != nil {
		return false, err
	}
	var by serverproof.Life
	raw, err := os.ReadFile(p.Started())
	if err != nil || strictjson.UnmarshalKnown(raw, &by) != nil {
		return false, nil //nolint:nilerr // nobody said so
	}
	return by == r.Life, nil
}
