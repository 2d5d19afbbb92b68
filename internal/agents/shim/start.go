package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/afar"
	"github.com/tidemark/tidemark/internal/base/filelock"
	"github.com/tidemark/tidemark/internal/base/fileowner"
	"github.com/tidemark/tidemark/internal/base/launch"
)

// A hook that was installed with --start starts the server where none runs. What it starts, and with which
// environment, stands in the data folder, where whoever installed it wrote it: an agent's working folder and
// environment are what repositories and content can shape, so neither has a say. Of many hooks at once one
// starts a server and the others wait for it; a server that starts twice all the same ends by itself, because
// the data folder is one server's alone.

// Starter is the server as hooks may start it: a file of the data folder.
type Starter struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Env     []string `json:"env"` // the whole environment
}

// StarterFile is where a Starter is kept. Without the file no hook starts anything.
func StarterFile(data string) string { return filepath.Join(data, "start.json") }

// ServerLog is where a server that was not started in a terminal writes what it has to say.
func ServerLog(data string) string { return filepath.Join(data, "serve.log") }

// readStarter is the Starter of a data folder, if it is this user's and nobody else's.
func readStarter(data string) (*Starter, error) {
	var s Starter
	name := StarterFile(data)
	err := readPrivate(name, 0o077, &s)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("this data folder allows no hook to start one (allow it: tidemark install --start)")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !fileowner.Mine(info) {
		return nil, fmt.Errorf("%s is not a file of this user's", name)
	}
	return &s, s.check()
}

// check looks whether the program is one that somebody could mean.
func (s *Starter) check() error {
	if !filepath.IsAbs(s.Program) {
		return fmt.Errorf("%q is no whole path of a program", s.Program)
	}
	info, err := os.Stat(s.Program)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || fileowner.Open(info, 0o002) {
		return fmt.Errorf("%s is no program that only its owner can change", s.Program)
	}
	return nil
}

// again is how long is waited before a server is looked for once more, and pause before another is started.
const (
	again = 20 * time.Millisecond
	pause = 250 * time.Millisecond
)

// startServer brings a server up, be it this process's or another hook's, and returns it once it has
// proven itself. It gives up when it is out of time, and where the server ends.
func startServer(ctx context.Context, data, agent string) (*server, error) {
	how, err := readStarter(data)
	if err != nil {
		return nil, fmt.Errorf("no server is running, so nothing may run, and none was started: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(data, "start.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	defer lock.Close() // lets go of it
	ours := false
	var ended <-chan error
	var next time.Time // nothing is started before
	for {
		s, err := reach(ctx, data, agent)
		if !errors.Is(err, errNotRunning) {
			return s, err
		}
		if !ours {
			if ours, err = filelock.Try(lock); err != nil {
				return nil, fmt.Errorf("start server: %w", err)
			}
		}
		if ours && ended == nil && !time.Now().Before(next) {
			if ended, err = how.launch(data); err != nil {
				return nil, fmt.Errorf("start server: %w", err)
			}
		}
		select {
		case err := <-ended:
			if err != nil {
				return nil, fmt.Errorf("the server was started and ended (%w; see %s), so nothing may run", err, ServerLog(data))
			}
			ended, next = nil, time.Now().Add(pause) // another one has the folder: it comes up, or lets go
		case <-ctx.Done():
			return nil, fmt.Errorf("no server came up in time (see %s), so nothing may run", ServerLog(data))
		case <-time.After(again):
		}
	}
}

// launch starts the server: nothing of this process's environment or folder goes with it.
func (s *Starter) launch(data string) (<-chan error, error) {
	env := s.Env
	if env == nil {
		env = []string{}
	}
	return launch.Program{Path: s.Program, Args: s.Args, Env: env, Dir: data, Log: ServerLog(data)}.Start()
}

// reach finds the server and connects to it. One that announced itself and cannot be connected to is none.
func reach(ctx context.Context, data, agent string) (*server, error) {
	s, err := findServer(data, agent)
	if err != nil {
		return nil, err
	}
	switch err := s.wire.open(ctx, s.host()); {
	case err == nil:
		return s, nil
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, errNotRunning
	default:
		return nil, fmt.Errorf("reach server: %w", err)
	}
}

// joined reports whether the server is on another machine, where no hook starts it. A file that cannot be read is for findServer to tell.
func joined(data string) bool {
	away, err := afar.Read(data)
	return away != nil || err != nil
}

// serverFor is the server that is to be asked. That a session is over is no reason to start one.
func serverFor(ctx context.Context, o Options, e *catalogue.Event) (*server, error) {
	if !o.Start || e.Kind == catalogue.End || joined(o.Data) {
		return findServer(o.Data, o.Agent)
	}
	first, done := context.WithTimeout(ctx, o.patience()-o.Wait)
	defer done()
	s, err := reach(first, o.Data, o.Agent)
	switch {
	case first.Err() != nil:
		return nil, late(first, o)
	case !errors.Is(err, errNotRunning):
		return s, err
	}
	ctx, cancel := context.WithTimeout(ctx, catalogue.StartTime)
	defer cancel()
	return startServer(ctx, o.Data, o.Agent)
}
