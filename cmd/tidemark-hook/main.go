// Command tidemark-hook is "tidemark hook" alone: agents start it for every call, so it
// links nothing but what one question to the server needs, and what the first process of a box is.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/box"
)

func main() {
	box.Become()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := shim.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
