package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"charm.land/lipgloss/v2"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/base/columns"
	"github.com/tidemark/tidemark/internal/draw"
)

// ui paints words on a terminal and leaves them plain in a pipe.
type ui struct{ colour bool }

func newUI(w io.Writer) ui {
	f, ok := isTerminal(w)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return ui{}
	}
	return ui{colour: term.IsTerminal(int(f.Fd()))}
}

// The colours stand for meaning and nothing else.
var palette = map[string]string{
	"allow": "2", "confine": "6", "confirm": "3", "deny": "1", "restrict": "1", "ask": "3", "hide": "1",
	"taint-escalation": "3", "escalate": "3", "danger": "1",
	"system": "2", "owner": "2", "local": "6", "shared": "3", "external": "5", "untrusted": "1",
	"approved": "2", "reset": "4", "blocked": "1", "heading": "4", "faint": "8",
	"dim": "8", "title": "4", "good": "2", "bad": "1", "warn": "3",
}

// word paints text in the colour of a meaning.
func (u ui) word(meaning, text string) string {
	c, ok := palette[meaning]
	if !u.colour || !ok {
		return text
	}
	s := lipgloss.NewStyle().Foreground(lipgloss.Color(c))
	if meaning == "title" || meaning == "deny" || meaning == "restrict" || meaning == "hide" {
		s = s.Bold(true)
	}
	return s.Render(text)
}

// as paints a word in the colour of its own meaning.
func (u ui) as(text string) string { return u.word(text, text) }

// faults colours a fault report: places bold, carets red.
func (u ui) faults(rendered string) string {
	if !u.colour {
		return rendered
	}
	lines := strings.Split(rendered, "\n")
	for i, l := range lines {
		switch {
		case strings.TrimSpace(l) == "^":
			lines[i] = u.word("bad", l)
		case !strings.HasPrefix(l, " ") && l != "":
			lines[i] = lipgloss.NewStyle().Bold(true).Render(l)
		}
	}
	return strings.Join(lines, "\n")
}

// cell is a text and the meaning it is coloured by.
type cell struct{ meaning, text string }

// table prints rows in columns.
func (u ui) table(w io.Writer, head []string, rows [][]cell) error {
	lines := [][]string{make([]string, len(head))}
	for i, h := range head {
		lines[0][i] = u.word("title", h)
	}
	for _, r := range rows {
		line := make([]string, len(r))
		for i, c := range r {
			line[i] = u.word(c.meaning, c.text)
		}
		lines = append(lines, line)
	}
	return columns.Write(w, lines)
}

// drawStyle colours pictures with the same palette.
func (e *env) drawStyle() draw.Style {
	if !e.ui.colour {
		return nil
	}
	return func(role draw.Role, text string) string { return e.ui.word(string(role), text) }
}

// progress draws a bar on a terminal and stays silent elsewhere.
type progress struct {
	mu    sync.Mutex // several workers may tell
	w     io.Writer
	what  string
	shown int64
	on    bool
}

func newProgress(w io.Writer, what string) *progress {
	f, ok := isTerminal(w)
	return &progress{w: w, what: what, shown: -1, on: ok && term.IsTerminal(int(f.Fd()))}
}

func (p *progress) step(done, total int64) {
	if !p.on || total <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	percent := min(done*100/total, 100)
	if percent == p.shown {
		return
	}
	p.shown = percent
	full := int(percent / 4)
	fmt.Fprintf(p.w, "\r%s [%s%s] %3d%%", p.what, strings.Repeat("#", full), strings.Repeat(".", 25-full), percent)
}

func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on && p.shown >= 0 {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
