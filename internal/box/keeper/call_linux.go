package keeper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/frame"
)

// call is one request for a command.
type call struct {
	keeper  *Keeper
	conn    *net.UnixConn
	request entry.Request
	pid     int
	files   []*os.File
}

// no is the answer where nothing was run.
func no(err error) entry.Answer {
	return entry.Answer{Exit: box.ExitNoBox, Reason: "nothing was run: " + strings.ToValidUTF8(err.Error(), "?")}
}

// hashOf is what tickets have of a line.
func hashOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

func reply(conn *net.UnixConn, a entry.Answer, files ...*os.File) error {
	body, err := strictjson.Marshal(a)
	if err != nil { // a name that is no text
		if body, err = strictjson.Marshal(entry.Answer{Exit: a.Exit, Reason: a.Reason}); err != nil {
			return err
		}
	}
	return frame.Send(conn, body, files...)
}

// run redeems the ticket and runs the line in the session's box.
func (c *call) run(ctx context.Context) entry.Answer {
	r := &c.request
	switch {
	case r.Ticket == "":
		return no(errors.New("there is no ticket for it"))
	case len(r.Line) == 0 || len(c.files) != r.Files():
		return no(errors.New("a line and its files are needed"))
	}
	g, err := c.keeper.o.Redeemer.Redeem(ctx, Ticket{Ticket: r.Ticket, Command: hashOf(r.Line), Process: c.pid})
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return no(fmt.Errorf("the ticket is not good: %w", refusal))
	case err != nil:
		return no(fmt.Errorf("the ticket could not be redeemed: %w", err))
	case g.Session == "" || g.Workspace == "":
		return no(errors.New("the ticket names no session or no workspace"))
	}
	g.Ticket = r.Ticket
	if g.Leaves {
		return c.leave(ctx, g)
	}
	if list := c.parts(); list != nil {
		return c.apart(ctx, g, list)
	}
	h, job, ended, err := c.begin(g, []string{c.shellFor(), "-c", r.Text()})
	if err != nil {
		c.told(Ended{Ticket: r.Ticket, Exit: box.ExitNoBox}, nil)
		return no(err)
	}
	exit, err := c.follow(job)
	ended()
	defer c.keeper.boxes.leave(h)
	note := c.upstream(ctx, h, &exit)
	c.told(Ended{Ticket: r.Ticket, Exit: exit.Code}, h)
	a := entry.Answer{Exit: exit.Code, Notes: slices.Concat(h.news(), note, c.keeper.asks(ctx, h, r.Ticket, string(r.Line)))}
	if err != nil {
		a.Reason = strings.ToValidUTF8(err.Error(), "?")
	}
	return a
}

// shell runs a shell in the box of a session, or in one for the folder. It needs no ticket: nothing in a box needs one, and it is
// a person who looks.
func (c *call) shell() entry.Answer {
	if len(c.files) != 3 {
		return no(errors.New("three files are needed"))
	}
	g := Grant{Session: c.request.Session, Workspace: string(c.request.Dir)}
	if g.Session != "" {
		var ok bool
		if g, ok = c.keeper.boxes.grantOf(g.Session); !ok {
			return no(fmt.Errorf("session %s has no box", c.request.Session))
		}
	}
	h, job, _, err := c.begin(g, []string{c.shellFor()})
	if err != nil {
		return no(err)
	}
	defer c.keeper.boxes.leave(h)
	exit, err := c.follow(job)
	a := entry.Answer{Exit: exit.Code, Notes: h.news()}
	if err != nil {
		a.Reason = strings.ToValidUTF8(err.Error(), "?")
	}
	return a
}

// begin starts a command in the box for a grant; ended is to be called when it has. A box that somebody ended meanwhile is made anew,
// once. What a shell wants that a person opened is not asked about: nobody gave it a ticket.
func (c *call) begin(g Grant, args []string) (h *held, job *box.Job, ended func(), err error) {
	env := c.env()
	command := box.Command{Args: args, Dir: c.dir(), Env: env, Leads: true}
	if copy(command.Files[:], c.files) < len(c.files) {
		command.Beside = c.files[len(command.Files)]
	}
	if c.request.Screen {
		command.Screen = &box.Size{Rows: c.request.Rows, Columns: c.request.Columns}
	}
	for again := true; ; again = false {
		h, err := c.keeper.boxes.enter(g, env)
		if err != nil {
			return nil, nil, nil, err
		}
		ended := func() {}
		if c.request.Do == entry.Run {
			h.out.Look()
			ended = h.way.begins(c.request.Ticket, string(c.request.Line))
		}
		job, err := h.box.Start(command)
		if err == nil {
			return h, job, ended, nil
		}
		ended()
		c.keeper.boxes.leave(h)
		if !again {
			return nil, nil, nil, err
		}
		c.keeper.boxes.drop(h)
	}
}

// env are the caller's variables.
func (c *call) env() []string {
	env := make([]string, len(c.request.Env))
	for i, e := range c.request.Env {
		env[i] = string(e)
	}
	return env
}

// dir is the folder that the caller is in.
func (c *call) dir() string {
	dir := filepath.Clean(string(c.request.Dir))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// shellFor is the shell that the line was meant for: the caller's own. Whatever it is, it runs in the box.
func (c *call) shellFor() string {
	own := ""
	for _, e := range c.request.Env {
		if v, ok := strings.CutPrefix(string(e), "SHELL="); ok {
			own = v
		}
	}
	for _, path := range []string{own, "/bin/bash", "/usr/bin/bash"} {
		if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return "/bin/sh"
}

// hangUp is how long a command whose caller is gone may take to end.
const hangUp = 3 * time.Second

// follow hands a command what its caller hands on, until it has ended. A caller that is gone takes its command with it, as it would
// outside; jobs that left its session stay.
func (c *call) follow(job *box.Job) (box.Exit, error) {
	done := make(chan struct{})
	defer close(done)
	if c.request.Screen {
		near := job.Terminal()
		if near != nil {
			_ = reply(c.conn, entry.Answer{Given: true}, near) // a caller that is gone is heard of below
			_ = near.Close()
		}
	}
	go func() {
		for {
			s, err := c.passed()
			if err == nil {
				job.Signal(s)
				continue
			}
			select {
			case <-done:
				return
			default:
			}
			job.Signal(unix.SIGHUP)
			job.Signal(unix.SIGCONT)
			select {
			case <-done:
			case <-time.After(hangUp):
				job.Signal(unix.SIGKILL)
			}
			return
		}
	}()
	return job.Wait()
}

// passed is the next signal of the caller's.
func (c *call) passed() (syscall.Signal, error) {
	body, files, err := frame.Receive(c.conn)
	for _, f := range files {
		_ = f.Close()
	}
	if err != nil {
		return 0, err
	}
	var p entry.Passed
	if err := strictjson.UnmarshalKnown(body, &p); err != nil {
		return 0, err
	}
	if p.Signal < 1 || p.Signal > 31 {
		return 0, fmt.Errorf("%d is no signal", p.Signal)
	}
	return syscall.Signal(p.Signal), nil
}

// told tells the monitor how it ended, without having the caller wait for it; but that nothing was begun it has heard before anybody reads
// the refusal.
func (c *call) told(e Ended, h *held) {
	k := c.keeper
	if k.o.Ended == nil {
		return
	}
	if h != nil {
		h.last(Ended{Ticket: e.Ticket, Exit: e.Exit})
	}
	tells := func() {
		if e.Report = (&box.Report{}); h != nil {
			e.Report = h.box.Standing()
			h.tells(len(e.Report.Aside))
		}
		tell(k.o, e)
	}
	if e.Refused != "" {
		tells()
		return
	}
	k.work.Go(tells)
}

// legible is a report whose names are text: a name that is none would keep all of it from being told.
func legible(r *box.Report) *box.Report {
	out := *r
	out.Workspace = strings.ToValidUTF8(r.Workspace, "?")
	out.Aside = slices.Clone(r.Aside)
	for i, a := range out.Aside {
		out.Aside[i] = box.Aside{
			Path: strings.ToValidUTF8(a.Path, "?"), Kept: strings.ToValidUTF8(a.Kept, "?"), Was: strings.ToValidUTF8(a.Was, "?"),
		}
	}
	return &out
}

// tellTime is how long the monitor may take to take in what it is told.
const tellTime = 10 * time.Second

func tell(o Options, e Ended) {
	if o.Ended == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellTime)
	defer cancel()
	e.Report = legible(e.Report)
	if err := o.Ended(ctx, e); err != nil {
		o.Say("tell how a command ended: %v", err)
	}
}
