package main

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// progress draws a bar on a terminal and stays silent elsewhere.
type progress struct {
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
	percent := done * 100 / total
	if percent == p.shown {
		return
	}
	p.shown = percent
	full := int(percent / 4)
	fmt.Fprintf(p.w, "\r%s [%s%s] %3d%%", p.what, strings.Repeat("#", full), strings.Repeat(".", 25-full), percent)
}

func (p *progress) done() {
	if p.on && p.shown >= 0 {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
