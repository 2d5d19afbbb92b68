package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/backoff"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
)

// What the stream tells.
type (
	// snapshotMsg is every question there is; what is not in it has been answered.
	snapshotMsg struct{ asks []ask }
	// askMsg is a question that is new or has changed.
	askMsg struct{ ask ask }
	// definitionsMsg is every definition that waits; the calls are as they were.
	definitionsMsg struct{ asks []ask }
	// lostMsg says that the server cannot be heard, and when that is tried again.
	lostMsg struct {
		err  error
		wait time.Duration
	}
)

// pause is the wait in words, never less than a second.
func (m lostMsg) pause() string { return remaining(max(m.wait.Round(second), second)) }

// longestEvent bounds what is kept of an event that does not end.
const longestEvent = 16 << 20

var (
	errSilent = errors.New("the server says nothing any more")
	errEnded  = errors.New("the server ended the stream")
)

// stream follows the questions of a server until its context ends. It survives the
// server: each new connection begins with a snapshot.
type stream struct {
	find    func(context.Context) (Link, error)
	pause   *backoff.Growing
	silence time.Duration
	tell    func(any) error // an error ends the stream
}

// toldError is an error of the listener: no new connection will help.
type toldError struct{ cause error }

// Error is the listener's.
func (e *toldError) Error() string { return e.cause.Error() }

// Unwrap is the listener's error.
func (e *toldError) Unwrap() error { return e.cause }

// run returns nil when the context has ended, and an error where trying again is no use.
func (s *stream) run(ctx context.Context) error {
	for {
		err := s.follow(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // whatever it was, we were told to stop
		}
		if final(err) {
			return fmt.Errorf("watch approvals: %w", err)
		}
		wait := s.pause.Next()
		if err := s.tell(lostMsg{err, wait}); err != nil {
			return fmt.Errorf("watch approvals: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// final reports whether the same request would be refused again.
func final(err error) bool {
	var told *toldError
	if errors.As(err, &told) {
		return true
	}
	var refused interface{ Final() bool }
	return errors.As(err, &refused) && refused.Final()
}

// follow reads one connection to its end.
func (s *stream) follow(ctx context.Context) error {
	link, err := s.find(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(s.silence, func() { cancel(errSilent) })
	defer quiet.Stop()
	body, err := link.Open(ctx, "/v1/approvals/stream")
	if err == nil {
		err = readEvents(body, func() { quiet.Reset(s.silence) }, s.event)
		err = errors.Join(err, body.Close())
	}
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return cause
	}
	return err
}

func (s *stream) event(name, data string) error {
	var msg any
	switch name {
	case "snapshot":
		asks, err := readSnapshot([]byte(data))
		if err != nil {
			return err
		}
		s.pause.Reset() // it works: the next loss starts afresh
		msg = snapshotMsg{asks}
	case "question":
		a, err := readAsk([]byte(data))
		if err != nil {
			return err
		}
		msg = askMsg{a}
	case "definitions":
		asks, err := readDefinitions([]byte(data))
		if err != nil {
			return err
		}
		msg = definitionsMsg{asks}
	default:
		return nil // of a newer server
	}
	if err := s.tell(msg); err != nil {
		return &toldError{err}
	}
	return nil
}

// readEvents splits server-sent events. It calls alive for every line, comments too, and
// event for every event; it returns only with an error.
func readEvents(r io.Reader, alive func(), event func(name, data string) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), longestEvent)
	var name string
	var data []string
	size := 0
	for in.Scan() {
		alive()
		text := in.Text()
		if text == "" {
			if len(data) > 0 {
				if err := event(name, strings.Join(data, "\n")); err != nil {
					return err
				}
			}
			name, data, size = "", nil, 0
			continue
		}
		field, value, _ := strings.Cut(text, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			data = append(data, value)
		}
		if size += len(text) + 1; size > longestEvent {
			return errors.New("read stream: an event does not end")
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("read stream: %w", err)
	}
	return errEnded
}

// lines prints questions for a program to read: one line of JSON each, when it comes and
// when it changes. A snapshot after a lost connection repeats nothing.
type lines struct {
	out, errOut io.Writer
	seen        map[string]string // id to what was printed of it last
}

func (l *lines) tell(msg any) error {
	switch msg := msg.(type) {
	case snapshotMsg:
		before := l.seen
		l.seen = map[string]string{}
		for _, a := range msg.asks {
			if old, ok := before[a.ID]; ok {
				l.seen[a.ID] = old
			}
			if err := l.print(a); err != nil {
				return err
			}
		}
	case askMsg:
		return l.print(msg.ask)
	case definitionsMsg:
		for _, a := range msg.asks {
			if err := l.print(a); err != nil {
				return err
			}
		}
	case lostMsg:
		fmt.Fprintf(l.errOut, "tidemark: connection lost: %s; trying again in %s\n", line(msg.err.Error()), msg.pause())
	}
	return nil
}

func (l *lines) print(a ask) error {
	raw, err := strictjson.Marshal(a.raw) // without the spaces and line breaks it may have come with
	if err != nil {
		return fmt.Errorf("print question: %w", err)
	}
	printed := text.Inert(string(raw))
	if l.seen[a.ID] == printed {
		return nil
	}
	if l.seen == nil {
		l.seen = map[string]string{}
	}
	l.seen[a.ID] = printed
	if _, err := fmt.Fprintln(l.out, printed); err != nil {
		return fmt.Errorf("print question: %w", err)
	}
	return nil
}
