package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/cenkalti/backoff/v5"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

const (
	// firstPause and longestPause bound the waits between tries to reach the server.
	firstPause   = 500 * time.Millisecond
	longestPause = 15 * time.Second
	// silence is how long a stream may say nothing: three of the server's keep-alives.
	silence = 45 * time.Second
)

func (e *env) watchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "See held calls as they come and answer them with keys",
		Long: `Watch the questions of the running server and answer them with keys; ? lists the keys.
With --json, or when the output is not a terminal, every question is printed as one
line of JSON when it comes and when it changes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.watch(cmd.Context()) },
	}
}

func (e *env) watch(ctx context.Context) error {
	if _, err := e.findApprover(ctx); err != nil {
		return err // said at once, not on a screen that never shows anything
	}
	if e.json || !e.onTerminal() { // nothing is answered there
		l := &lines{out: e.out, errOut: e.errOut}
		return e.stream(l.tell).run(ctx)
	}
	if _, err := e.secret(); err != nil {
		return err
	}
	return e.watchScreen(ctx)
}

func (e *env) onTerminal() bool {
	f, ok := isTerminal(e.out)
	return ok && term.IsTerminal(int(f.Fd()))
}

// findApprover is the running server, to be spoken to with no more rights than it takes.
func (e *env) findApprover(ctx context.Context) (*client, error) {
	c, err := e.findServer(ctx)
	if err != nil {
		return nil, err
	}
	p, err := e.paths()
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("no server is running on %s: start one with: tidemark serve --data %s", p.Data, p.Data)
	}
	if e.token != "" {
		c.token = e.token
	}
	return c, nil
}

// stream follows the server's questions; a server that moved is found again.
func (e *env) stream(tell func(any) error) *stream {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstPause, longestPause
	return &stream{find: e.findApprover, pause: pause, silence: silence, tell: tell}
}

// watchScreen runs the screen and the stream that feeds it; both have ended on return.
// The screen is asked to quit, not killed, so that the terminal is given back.
func (e *env) watchScreen(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newScreen(e.ui, func(v vote) (voteDone, error) { return e.vote(ctx, v) })
	p := tea.NewProgram(m, tea.WithInput(e.in), tea.WithOutput(e.out), tea.WithoutSignalHandler())
	ended := make(chan error, 1)
	go func() {
		err := e.stream(func(msg any) error { p.Send(msg); return nil }).run(ctx)
		p.Quit()
		ended <- err
	}()
	_, err := p.Run()
	cancel()
	if err != nil {
		err = fmt.Errorf("watch approvals: %w", err)
	}
	return errors.Join(<-ended, err)
}

// vote is a person's answer to one question.
type vote struct {
	ask      ask
	Decision string            `json:"decision"`
	Minutes  int               `json:"minutes,omitzero"`
	Where    map[string]string `json:"where,omitempty"`
	Reason   string            `json:"reason,omitzero"`
}

// voteDone is what the server made of a vote.
type voteDone struct {
	Resolved []string `json:"resolved"`
	Grant    string   `json:"grant"`
	Notice   string   `json:"notice"`
}

func (e *env) vote(ctx context.Context, v vote) (voteDone, error) {
	c, err := e.findApprover(ctx)
	if err != nil {
		return voteDone{}, err
	}
	var done voteDone
	err = c.call(ctx, http.MethodPost, "/v1/approvals/"+url.PathEscape(v.ask.ID), v, &done)
	return done, err
}
