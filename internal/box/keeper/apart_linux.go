package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
	"github.com/tidemark/tidemark/internal/warrant/outgoing/parts"
)

// A line whose commands are joined by "&&" and of which some leave plainly is run part by part: what leaves by the broker, and only if
// the monitor says of that part that its owner ordered it, or with a person's yes, who is shown what it carries as it stands then; the
// rest in the box, each part where the one before ended.

// parts are what the line is taken apart into; nil: it runs in the box as it is.
func (c *call) parts() []parts.Part {
	shells := []string{"sh", "bash", "dash", "zsh", "ksh"} // in which "&&" is what it is taken for
	if c.request.Screen || c.keeper.o.Asker == nil || !slices.Contains(shells, filepath.Base(c.shellFor())) {
		return nil
	}
	return parts.Of(string(c.request.Line))
}

// apart runs the parts of a line, until one fails.
func (c *call) apart(ctx context.Context, g Grant, list []parts.Part) entry.Answer {
	ticket, line := c.request.Ticket, string(c.request.Line)
	h, err := c.keeper.boxes.enter(g, c.env())
	if err != nil {
		c.told(Ended{Ticket: ticket, Exit: box.ExitNoBox}, nil)
		return no(err)
	}
	defer c.keeper.boxes.leave(h)
	ended := h.way.begins(ticket, line)
	life := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var now running
	go c.hand(&now, cancel)
	exit, dir := box.Exit{}, c.dir()
	for _, p := range list {
		if ctx.Err() != nil {
			err = errors.New("the rest was not run: its caller is gone, or ended it")
			exit = box.Exit{Code: box.ExitNoBox}
		} else if p.Leaves {
			exit, err = c.broke(ctx, h, departure{p.Form, line, dir, slices.Contains(g.Ordered, hashOf([]byte(p.Text))), g.named(p.Text)})
			if r := outgoing.Refusal(""); errors.As(err, &r) { // what came before it in the line was run
				err = fmt.Errorf("%s %s: %w", p.Form.Program, p.Form.Verb, err)
			}
		} else {
			exit, dir, err = c.part(h, &now, p.Text, dir)
		}
		if err != nil || exit.Code != 0 {
			break
		}
	}
	ended()
	c.told(Ended{Ticket: ticket, Exit: exit.Code}, h)
	a := entry.Answer{Exit: exit.Code, Notes: append(h.news(), c.keeper.asks(life, h, ticket, line)...)}
	if err != nil {
		a.Reason = strings.ToValidUTF8(err.Error(), "?")
	}
	if a.Exit == 0 && len(c.files) > 3 {
		fmt.Fprintln(c.files[3], dir)
	}
	return a
}

// running is the part of a line that runs now.
type running struct {
	mu  sync.Mutex
	job *box.Job // guarded by mu; nil: none
}

func (r *running) is(job *box.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.job = job
}

func (r *running) signal(s unix.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.job != nil {
		r.job.Signal(s)
	}
}

// hand hands the part that runs what the caller hands on. What ends a command ends the line; a caller that is gone takes it along.
func (c *call) hand(now *running, cancel func()) {
	for {
		s, err := c.passed()
		if err != nil {
			cancel()
			now.signal(unix.SIGHUP)
			now.signal(unix.SIGCONT)
			time.AfterFunc(hangUp, func() { now.signal(unix.SIGKILL) })
			return
		}
		if slices.Contains([]unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT}, s) {
			cancel()
		}
		now.signal(s)
	}
}

// part runs a part of the line in the box, and says in which folder it ended.
func (c *call) part(h *held, now *running, text, dir string) (exit box.Exit, ended string, err error) {
	none := box.Exit{Code: box.ExitNoBox}
	r, w, err := os.Pipe()
	if err != nil {
		return none, dir, err
	}
	defer r.Close()
	request := entry.Request{Line: []byte(text), Around: &entry.Around{Where: true}}
	if a := c.request.Around; a != nil {
		request.Around.Before, request.Around.Quiet = a.Before, a.Quiet
	}
	command := box.Command{Args: []string{c.shellFor(), "-c", request.Text()}, Dir: dir, Env: c.env(), Leads: true, Beside: w}
	copy(command.Files[:], c.files)
	job, err := h.box.Start(command)
	_ = w.Close()
	if err != nil {
		return none, dir, err
	}
	now.is(job)
	exit, err = job.Wait()
	now.is(nil)
	return exit, endedIn(r, dir), err
}

// endedIn is the folder that a shell wrote down; where it wrote none it is the one it began in. Jobs that it left may still have the
// file open, so nobody waits for its end.
func endedIn(r *os.File, began string) string {
	const longest = 4096
	_ = r.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	text := make([]byte, longest)
	n, err := r.Read(text)
	where := strings.TrimSuffix(string(text[:n]), "\n")
	if (err == nil || errors.Is(err, io.EOF)) && filepath.IsAbs(where) && !strings.Contains(where, "\n") {
		return filepath.Clean(where)
	}
	return began
}
