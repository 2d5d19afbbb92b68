package main

import (
	"fmt"
	"io"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

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
	text := inert(string(raw))
	if l.seen[a.ID] == text {
		return nil
	}
	if l.seen == nil {
		l.seen = map[string]string{}
	}
	l.seen[a.ID] = text
	if _, err := fmt.Fprintln(l.out, text); err != nil {
		return fmt.Errorf("print question: %w", err)
	}
	return nil
}
