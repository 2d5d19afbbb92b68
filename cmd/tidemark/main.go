// Command tidemark is the monitor as a program: a server for agents' hooks and the
// tools to look at what it decided and why.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/trial"
)

func main() {
	box.Become()
	trial.Become()
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go heed(signals, cancel)
	code, was := app.RunService(os.Args[1:], func(ctx context.Context, out io.Writer) int {
		return run(ctx, os.Args[1:], os.Stdin, out, out)
	})
	if !was {
		code = run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	}
	cancel()
	os.Exit(code)
}

// minding heeds signals in place of this program, while a command of the user's runs in its foreground.
var minding atomic.Pointer[func(os.Signal)]

// heed asks the program to stop at the first signal, and ends it at the second: it may be
// waiting for something that cannot be called off. The code is a refusal to agents, who
// want to hear a reason too.
func heed(signals <-chan os.Signal, cancel func()) {
	for asked := false; ; {
		s := <-signals
		if f := minding.Load(); f != nil {
			(*f)(s)
			continue
		}
		if asked {
			fmt.Fprintln(os.Stderr, "tidemark: stopped at once, before the work was done")
			os.Exit(exitUsage)
		}
		asked = true
		cancel()
	}
}
