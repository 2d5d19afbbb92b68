package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/shim"
)

func (e *env) hookCommand() *cobra.Command {
	o := shim.Options{}
	cmd := &cobra.Command{
		Use:   "hook --agent NAME",
		Short: "Answer one hook of a coding agent",
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
	f.StringVar(&o.Sender, "sender", "", "who speaks in prompts: owner or unknown (default: unknown on build machines, else owner)")
	f.DurationVar(&o.Timeout, "timeout", shim.DefaultTimeout, "answer within this time, whatever happens")
	f.StringVar(&o.Installed, "installed", "", "name of the record that tidemark install made of this hook")
	f.DurationVar(&o.Wait, "wait", 0, "wait this long besides for the owner to answer a held call")
	f.BoolVar(&o.Start, "start", false, "where no server runs, start the one that tidemark install named in the data folder")
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
