package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// leave has the broker run a plain command that leaves this machine: exactly what it says, with the one capability that it needs.
// Where the owner did not order it a person is asked first, and shown what it would carry.
func (c *call) leave(ctx context.Context, g Grant) entry.Answer {
	ticket, line := c.request.Ticket, string(c.request.Line)
	h, err := c.keeper.boxes.enter(g, c.env())
	if err != nil {
		c.told(Ended{Ticket: ticket, Exit: box.ExitNoBox}, nil)
		return no(err)
	}
	defer c.keeper.boxes.leave(h)
	life := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go c.untilGone(cancel)
	form, ok := outgoing.Plain(line)
	exit, err := box.Exit{Code: box.ExitNoBox}, errors.New("nothing was run: it is no plain command that leaves")
	if ok {
		exit, err = c.broke(ctx, h, departure{form, line, c.dir(), g.Covered, g.named(line)})
	}
	e := Ended{Ticket: ticket, Exit: exit.Code}
	if errors.As(err, &e.Refused) && exit.Code == box.ExitNoBox {
		err = e.Refused // in its own words, with nothing of anybody's in them
	}
	c.told(e, h)
	a := entry.Answer{Exit: exit.Code, Notes: append(h.news(), c.keeper.asks(life, h, ticket, line)...)}
	if err != nil {
		a.Reason = strings.ToValidUTF8(err.Error(), "?")
	}
	return a
}

// untilGone ends the work of a caller that is gone, or that wants it to end.
func (c *call) untilGone(cancel func()) {
	for {
		s, err := c.passed()
		if err != nil || s == unix.SIGINT || s == unix.SIGTERM || s == unix.SIGHUP || s == unix.SIGQUIT {
			cancel()
			return
		}
	}
}

// departure is a plain command that leaves, and what is known of it.
type departure struct {
	form    outgoing.Form
	line    string // the ticket's
	dir     string
	covered bool // nobody need be asked
	named   bool // and the owner's own words name the list that it installs from
}

// broker is the one for a session's box.
func (c *call) broker(ctx context.Context, h *held, dir string) *broker.Broker {
	want := h.want
	want.Env = c.env()
	return broker.New(broker.Options{
		Want: want, Dir: dir, State: boxesIn(c.keeper.o.Data), Relay: c.keeper.o.Relay, CAFile: c.keeper.o.CAFile,
		Pins: h.pins, Vouch: h.vouch,
		SignIn: c.keeper.o.SignIn,
		Inside: func(_ context.Context, command box.Command) (box.Exit, error) {
			command.Env, command.Leads = c.env(), true
			job, err := h.box.Start(command)
			if err != nil {
				return box.Exit{Code: box.ExitNoBox}, err
			}
			stop := context.AfterFunc(ctx, func() { job.Signal(unix.SIGTERM) })
			defer stop()
			return job.Wait()
		},
	})
}

// upstream writes down which branch a branch is to follow, where that was all that a line could not do in the box. Nobody is asked: it is
// the name of a remote that is there, or of a branch.
func (c *call) upstream(ctx context.Context, h *held, exit *box.Exit) []string {
	f, ok := broker.Follows(string(c.request.Line))
	if !ok || exit.Code != 0 && !f.Alone {
		return nil
	}
	said, err := c.broker(ctx, h, c.dir()).Follow(ctx, f)
	if err != nil {
		return []string{strings.ToValidUTF8("which branch is followed was not written down: "+err.Error(), "?")}
	}
	exit.Code = 0
	return []string{"outside the box: " + said}
}

// broke finds out what the command would do, asks about it where that is wanted, and has it done.
func (c *call) broke(ctx context.Context, h *held, d departure) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	b := c.broker(ctx, h, d.dir)
	deed, err := b.Prepare(ctx, d.form)
	if err != nil {
		return none, unbegun(err)
	}
	ordered := d.covered && (!deed.Ask || d.named && deed.Known)
	if !ordered || deed.Adds != nil {
		w := wantedOf(&deed.Question, d.line)
		w.Adds = addsOf(deed.Adds, ordered)
		s := h.way.wants(ctx, c.request.Ticket, w, func() {
			fmt.Fprintf(c.files[2], "[confined: a person was asked for %s %s]\n", deed.Question.Program, deed.Question.Verb)
		})
		if !s.Allow {
			if why := outgoing.Refused(s.Why); why != "" {
				return none, why
			}
			return none, fmt.Errorf("nothing was run: %s %s was refused: %s", deed.Question.Program, deed.Question.Verb, s.Why)
		}
	}
	exit, err := c.carried(ctx, deed)
	if ordered && err == nil && exit.Code == 0 {
		h.vouch.Ordered(d.form)
	}
	return exit, err
}

// named reports whether the owner's own words order what installs from a list.
func (g *Grant) named(text string) bool { return slices.Contains(g.Lists, hashOf([]byte(text))) }

// unbegun is why nothing was begun. A refusal says so itself.
func unbegun(err error) error {
	if r := outgoing.Refusal(""); errors.As(err, &r) {
		return r
	}
	return fmt.Errorf("nothing was run: %w", err)
}

// addsOf is what a command would add outside, for whoever judges it.
func addsOf(a *broker.Adds, ordered bool) *Adds {
	if a == nil {
		return nil
	}
	out := &Adds{Ordered: ordered, Whole: a.Whole, Texts: []Added{}}
	for _, t := range a.Texts {
		out.Texts = append(out.Texts, Added{Path: t.Path, Text: t.Text})
	}
	return out
}

// carried has it done. The caller's files are not in the broker's box: what is printed is carried to them.
func (c *call) carried(ctx context.Context, deed *broker.Deed) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return none, err
	}
	defer null.Close()
	files := [3]*os.File{null}
	var both sync.WaitGroup
	for i := 1; i < 3; i++ {
		r, w, err := os.Pipe()
		if err != nil {
			return none, err
		}
		defer r.Close()
		files[i] = w
		both.Go(func() { _, _ = io.Copy(c.files[i], r) }) // who reads it may be gone
	}
	exit, err := deed.Run(ctx, files)
	_, _ = files[1].Close(), files[2].Close()
	both.Wait()
	return exit, err
}

// How much of what a command would carry is shown.
const (
	shownCommits = 40
	shownFiles   = 80
	shownText    = 160
)

// wantedOf is what a person is asked about a command that leaves.
func wantedOf(q *broker.Question, line string) Wanted {
	w := Wanted{
		Verb: q.Verb, Host: q.Host, Port: q.Port, Remote: q.Remote, Place: whole(q.Place, shownPlace), More: q.More,
		Packages: q.Packages, Lines: q.Besides, Command: line,
	}
	if len(q.Packages) > 0 {
		w.Verb = "install"
	}
	for _, r := range q.Refs {
		text := strings.TrimPrefix(r.Name, "refs/heads/")
		switch {
		case q.Program != "git":
			w.Refs = append(w.Refs, whole(text, shownWhole))
			continue
		case q.Verb != "push":
		case r.To == "":
			text += " is removed"
		case r.From == "":
			text += " is new, as far as is known here"
		case q.Force:
			text += " is forced"
		}
		w.Refs = append(w.Refs, short(text))
	}
	for i, c := range q.Commits {
		if i == shownCommits {
			w.More += len(q.Commits) - i
			break
		}
		w.Commits = append(w.Commits, c.ID[:min(len(c.ID), 40)]+" "+short(c.Subject+" ("+c.Author+")"))
	}
	for i, f := range q.Files {
		if i == shownFiles {
			w.Files = append(w.Files, fmt.Sprintf("and %d more", len(q.Files)-i))
			break
		}
		stat := fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		switch {
		case q.Program != "git":
			stat = fmt.Sprintf("(%d bytes)", f.Size)
		case f.Binary:
			stat = "binary"
		}
		w.Files = append(w.Files, short(f.Path)+" "+stat)
	}
	return w
}

// How much is shown of a command that is the deed itself, and of a place.
const (
	shownWhole = 1400
	shownPlace = 250
)

// whole is a text that a person must see all of: what is too long for its place stands in the command, and is told from every other by
// its sum, so that a yes to one is none to another.
func whole(s string, most int) string {
	if valid := strings.ToValidUTF8(s, "?"); len(valid) <= most {
		return valid
	}
	shown := strings.ToValidUTF8(s[:most], "")
	return fmt.Sprintf("%s ... (%d bytes, SHA-256 %s: the command has all of it)", shown, len(s), hashOf([]byte(s)))
}

// short is a text of somebody else's, as much of it as is shown.
func short(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if r := []rune(s); len(r) > shownText {
		return string(r[:shownText]) + " …"
	}
	return s
}
