// Command tidemark is the monitor as a program: a server for agents' hooks and the
// tools to look at what it decided and why.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/shim"
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
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
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

func (e *env) hookCommand() *cobra.Command {
	o := shim.Options{}
	cmd := &cobra.Command{
		Use:    "hook --agent NAME",
		Hidden: true, // for agents, not for people
		Short:  "Answer one hook of a coding agent",
		Long: `Answer one hook of a coding agent: read its event from standard input, ask the running
server, and answer in the agent's own form. Agents start it; see also tidemark-hook, the
same as a program of its own that starts faster. Exit code 2 refuses.

Agents: ` + strings.Join(catalogue.Names(), ", "),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.In, o.Data = e.in, e.data
			if err := o.Complete(os.Getenv); err != nil {
				return err
			}
			return e.leave(shim.Run(cmd.Context(), o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Agent, "agent", "", "which agent's hook this is")
	f.StringVar(&o.Event, "event", "", "the event, for agents whose payload does not name it")
	f.StringVar(&o.Sender, "sender", "", "whose words prompts are: owner or unknown (default: unknown on build machines, else owner)")
	f.DurationVar(&o.Timeout, "timeout", shim.DefaultTimeout, "answer within this time, whatever happens")
	f.StringVar(&o.Installed, "installed", "", "name of the record that tidemark install made of this hook")
	f.DurationVar(&o.Wait, "wait", 0, "how much longer to wait for the owner's answer to a question")
	f.BoolVar(&o.Start, "start", false, "if no server runs, start the one that tidemark install named in the data folder")
	return cmd
}

// leave prints the outcome. A refusal is this command's error: its reason is printed, and
// the exit code is the one every agent takes for no.
func (e *env) leave(o shim.Outcome) error {
	var said strings.Builder
	switch code := o.Write(e.out, &said); code {
	case exitUsage:
		return errors.New(strings.TrimPrefix(strings.TrimSuffix(said.String(), "\n"), "Tidemark: "))
	case exitFault:
		fmt.Fprint(e.errOut, said.String())
		return errFault
	}
	fmt.Fprint(e.errOut, said.String())
	return nil
}
