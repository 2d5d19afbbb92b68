package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/launch"
)

// startWait is how long a server may take to say where it listens.
const startWait = 30 * time.Second

// Background starts a server of its own on the data folder, which outlives this program, and
// waits until it says where it listens. What it says goes into serve.log there.
func Background(ctx context.Context, p Paths, program string, args ...string) (Running, error) {
	if err := p.Create(); err != nil {
		return Running{}, err
	}
	server := launch.Program{Path: program, Args: append([]string{"serve", "--data", p.Data}, args...), Log: shim.ServerLog(p.Data)}
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
	for {
		if _, err := FindRunning(p); errors.Is(err, ErrNotRunning) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stop server: process %d has not ended: %w", r.PID, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
