// Package tui is the screen of `tidemark approvals watch`: held calls as they come, and
// keys that answer them. It is a client of the running server, whom it asks for its stream of
// questions and to whom it posts answers; it decides nothing.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tidemark/tidemark/internal/base/backoff"
)

const (
	// firstPause and longestPause bound the waits between tries to reach the server.
	firstPause   = 500 * time.Millisecond
	longestPause = 15 * time.Second
	// silence is how long a stream may say nothing: three of the server's keep-alives.
	silence = 45 * time.Second
)

// Link is a way to the server.
type Link struct {
	// Open starts an endless answer.
	Open func(ctx context.Context, path string) (io.ReadCloser, error)
	// Post sends a body and reads the answer.
	Post func(ctx context.Context, path string, in, out any) error
}

// Watcher follows the questions of a server.
type Watcher struct {
	// Find is the running server; one that moved is found again. An error of it, or of a link,
	// that has a method Final which says so ends the watch.
	Find func(context.Context) (Link, error)
	// Paint colours words by what they mean; nil leaves them plain.
	Paint func(meaning, text string) string
	// Notify tells the person of a question that is new while they look elsewhere; nil: nobody.
	Notify func(title, body string)
}

// ui paints words.
type ui struct {
	paint func(meaning, text string) string
}

func (u ui) word(meaning, text string) string {
	if u.paint == nil {
		return text
	}
	return u.paint(meaning, text)
}

// Lines prints every question as one line of JSON when it comes and when it changes.
func (w Watcher) Lines(ctx context.Context, out, errOut io.Writer) error {
	l := &lines{out: out, errOut: errOut}
	return w.stream(l.tell).run(ctx)
}

// Screen runs the screen and the stream that feeds it; both have ended on return.
// The screen is asked to quit, not killed, so that the terminal is given back.
func (w Watcher) Screen(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newScreen(ui{w.Paint}, func(v vote) (voteDone, error) { return w.vote(ctx, v) })
	m.notify = w.Notify
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	ended := make(chan error, 1)
	go func() {
		err := w.stream(func(msg any) error { p.Send(msg); return nil }).run(ctx)
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

func (w Watcher) stream(tell func(any) error) *stream {
	return &stream{find: w.Find, pause: &backoff.Growing{First: firstPause, Most: longestPause}, silence: silence, tell: tell}
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

func (w Watcher) vote(ctx context.Context, v vote) (voteDone, error) {
	link, err := w.Find(ctx)
	if err != nil {
		return voteDone{}, err
	}
	var done voteDone
	err = link.Post(ctx, "/v1/approvals/"+url.PathEscape(v.ask.ID), v, &done)
	return done, err
}
