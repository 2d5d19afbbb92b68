package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/external/auditor"
)

// run is a program that was started and waits for what it reads.
type run struct {
	desk           *desk
	cmd            *exec.Cmd
	input          io.WriteCloser
	stdout, stderr *bounded
	most           int
	stop           context.CancelFunc // ends it with its group; it may be called more than once
	ended          chan struct{}
	err            error // set before ended closes
}

// start starts the program. Whatever happens, nothing of its group goes on after it.
func (d *desk) start(args []string, most int) (*run, error) {
	work := filepath.Join(d.dir, "work")
	for _, dir := range []string{work, filepath.Join(d.dir, "home"), filepath.Join(d.dir, "tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make folder: %w", err)
		}
	}
	child, err := d.p.o.Children.Expect()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, d.p.o.Path, args...) //nolint:gosec // the program that was tried, by its recipe
	r := &run{desk: d, cmd: cmd, most: most, stop: stop, ended: make(chan struct{})}
	r.stdout, r.stderr = &bounded{most: most, full: stop}, &bounded{most: most}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = work, d.environment(child.Word), r.stdout, r.stderr
	if r.input, err = cmd.StdinPipe(); err == nil {
		alone(cmd)
		cmd.Cancel = func() error { return end(cmd) }
		cmd.WaitDelay = endLimit
		err = cmd.Start()
	}
	if err != nil {
		stop()
		child.Ended()
		return nil, fmt.Errorf("start it: %w", err)
	}
	if child.Started(cmd.Process.Pid) != nil {
		child.Ended() // a hook in it is nobody's then
	}
	go func() {
		defer close(r.ended)
		defer stop()
		defer child.Ended()
		r.err = cmd.Wait()
		_ = end(cmd) // whatever it left behind; there may be nothing
	}()
	return r, nil
}

// over reports whether it has ended.
func (r *run) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// end gives it what it reads, and waits for its end.
func (r *run) end(ctx context.Context, input string) (out []byte, printed string, err error) {
	var writing sync.WaitGroup
	writing.Go(func() {
		_, _ = io.Copy(r.input, strings.NewReader(input)) // one that does not read is found by its answer
		_ = r.input.Close()
	})
	select {
	case <-r.ended:
	case <-ctx.Done():
		r.stop()
		<-r.ended
	}
	writing.Wait() // its end closes the pipe
	switch {
	case r.stdout.over():
		return nil, "", fmt.Errorf("%w: it printed more than %d bytes", auditor.ErrNoAnswer, r.most)
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case r.err != nil:
		var exit *exec.ExitError
		if err = r.err; errors.As(err, &exit) {
			err = fmt.Errorf("it ended with code %d", exit.ExitCode())
		}
	}
	return r.stdout.bytes(), string(r.stderr.bytes()), err
}

// waiting is at most one run that was started ahead: programs take a second or more to start, and a message waits for that. It has
// seen no words, answers one prompt, and ends when nobody comes with one for a while.
type waiting struct {
	mu     sync.Mutex
	run    *run        // guarded by mu; nil: none
	prompt string      // guarded by mu; the instructions and the form it was started with
	idle   *time.Timer // guarded by mu; ends it
	busy   bool        // guarded by mu; one is being started
	closed bool        // guarded by mu
	wg     sync.WaitGroup
}

// The bounds of what waits.
const (
	idleFor    = 10 * time.Minute
	startLimit = 30 * time.Second
	staleAfter = time.Hour // a folder so old is of a server that was killed: no run takes as long
)

// keyOf is what a run is started with.
func keyOf(q auditor.Prompt) string { return q.Kind + "\x00" + q.System + "\x00" + q.Schema }

// take is the run that waits for such a prompt; nil: none does.
func (w *waiting) take(q auditor.Prompt) *run {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.run
	if r == nil || w.prompt != keyOf(q) {
		return nil
	}
	w.run = nil
	w.idle.Stop()
	if r.over() { // it gave up
		_ = r.desk.clear() // it holds no words
		return nil
	}
	return r
}

// drop ends what waits.
func (w *waiting) drop() {
	w.mu.Lock()
	r := w.run
	w.run = nil
	w.mu.Unlock()
	if r != nil {
		r.stop()
		<-r.ended
		_ = r.desk.clear() // it holds no words
	}
}

// Warm starts a run ahead that will wait for a prompt with the instructions and the form of this one, unless one does. It does not
// wait for it. Only contracts are worth it: nothing else is waited for by every message.
func (p *Program) Warm(q auditor.Prompt) {
	w := &p.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if !p.o.Recipe.Ahead || p.try != nil || q.Kind != auditor.KindContract || w.closed || w.busy || w.run != nil {
		return
	}
	w.busy = true
	w.wg.Go(func() { p.warm(auditor.Prompt{Kind: q.Kind, System: q.System, Schema: q.Schema}) })
}

func (p *Program) warm(q auditor.Prompt) {
	p.sweep()
	r, err := p.ahead(q)
	w := &p.waiting
	w.mu.Lock()
	w.busy = false
	if err == nil && !w.closed {
		wait := p.o.Idle
		if wait == 0 {
			wait = idleFor
		}
		w.run, w.prompt, w.idle = r, keyOf(q), time.AfterFunc(wait, w.drop)
		r = nil
	}
	w.mu.Unlock()
	if r != nil { // it was closed meanwhile
		r.stop()
		<-r.ended
		_ = r.desk.clear() // it holds no words
	}
}

// ahead starts a run that waits. One that cannot be started is started when it is wanted, and that says why.
func (p *Program) ahead(q auditor.Prompt) (*run, error) {
	if err := p.o.Proof.holds(p.o.Path, p.o.Recipe); err != nil {
		return nil, err
	}
	d, err := p.sit()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	r, err := p.begin(ctx, d, q)
	if err != nil {
		return nil, errors.Join(err, d.clear())
	}
	return r, nil
}

// sweep takes away folders that a server left which was killed.
func (p *Program) sweep() {
	list, err := os.ReadDir(p.o.Folder)
	if err != nil {
		return // there is none yet
	}
	for _, e := range list {
		info, err := e.Info()
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), runFolder) && time.Since(info.ModTime()) > staleAfter {
			_ = os.RemoveAll(filepath.Join(p.o.Folder, e.Name())) // the next one tries again
		}
	}
}

// Close ends what waits. Each other run ends by itself.
func (p *Program) Close() {
	w := &p.waiting
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wg.Wait()
	w.drop()
}
