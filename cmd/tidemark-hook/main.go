// Command tidemark-hook is "tidemark hook" alone: agents start it for every call, so it
// links nothing but what one question to the server needs, and what the first process of a box is.
// "tidemark-hook box TICKET -- LINE" has one command run in its session's box.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/prefix"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/entry"
)

func main() {
	box.Become()
	if _, _, ok := catalogue.Prefixed(os.Args[0]); ok {
		os.Exit(prefix.Main(os.Args[0], os.Args[1:], enter, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == "box" {
		os.Exit(entry.Main(os.Args[2:], os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := shim.MainWith(ctx, shim.Options{In: os.Stdin, EndBox: endBox}, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// endBox ends the box of a session that is over. Where there is no keeper there is none.
func endBox(data, session string) {
	_, _ = entry.Ask(data, entry.Request{Do: entry.End, Session: session}) // one that stays ends by itself
}

// enter has a command that an agent started with this program run in its box.
func enter(c prefix.Command) int {
	return entry.Do(c.Data, entry.Request{
		Do: entry.Run, Ticket: c.Ticket, Line: []byte(c.Line), Dir: []byte(c.Dir),
		Around: &entry.Around{Before: c.Before, Quiet: c.Quiet, Where: true},
	}, os.Stderr, c.Where)
}
