// Package launch starts programs that outlive the one that starts them.
package launch

import (
	"errors"
	"fmt"
	"os"
)

// Program is what to start, and all that it gets from whoever starts it.
type Program struct {
	Path string   // absolute
	Args []string // without its own name
	Env  []string // the whole environment; nil: that of this process
	Dir  string   // "": that of this process
	Log  string   // the file that takes what it prints
}

// maxLog is how large a log may be at a start. The older one is then kept beside it, and no third.
const maxLog = 4 << 20

// Start starts it. What it came to is told once, when it has ended; nobody has to listen.
func (p Program) Start() (<-chan error, error) {
	if info, err := os.Stat(p.Log); err == nil && info.Size() > maxLog {
		if err := os.Rename(p.Log, p.Log+".1"); err != nil {
			return nil, fmt.Errorf("put the older log aside: %w", err)
		}
	}
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the program has its own
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer nothing.Close()
	process, err := os.StartProcess(p.Path, append([]string{p.Path}, p.Args...), &os.ProcAttr{
		Dir: p.Dir, Env: p.Env, Files: []*os.File{nothing, log, log}, Sys: detached(),
	})
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() {
		state, err := process.Wait()
		if err == nil && !state.Success() {
			err = errors.New(state.String())
		}
		ended <- err
	}()
	return ended, nil
}
