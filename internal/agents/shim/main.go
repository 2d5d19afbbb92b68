package shim

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

// Main is the program tidemark-hook without its process: it returns the exit code. All
// that can be wrong with its arguments refuses too.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	return MainWith(ctx, Options{In: in}, args, out, errOut)
}

// MainWith is Main with what its process can do besides.
func MainWith(ctx context.Context, o Options, args []string, out, errOut io.Writer) int {
	f := flag.NewFlagSet("tidemark-hook", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.StringVar(&o.Agent, "agent", "", "which agent's hook this is")
	f.StringVar(&o.Event, "event", "", "the event, for agents whose payload does not name it")
	f.StringVar(&o.Data, "data", "", "data folder of the server")
	f.StringVar(&o.Sender, "sender", "", "whose words prompts are: owner or unknown (default: unknown on build machines, else owner)")
	f.DurationVar(&o.Timeout, "timeout", DefaultTimeout, "answer within this time, whatever happens")
	f.StringVar(&o.Installed, "installed", "", "name of the record that tidemark install made of this hook")
	f.DurationVar(&o.Wait, "wait", 0, "how much longer to wait for the owner's answer to a question")
	f.BoolVar(&o.Start, "start", false, "if no server runs, start the one that tidemark install named in the data folder")
	if err := f.Parse(args); err != nil {
		return catalogue.CodeRefuse
	}
	if f.NArg() > 0 {
		return Outcome{Stderr: fmt.Sprintf("Tidemark: unexpected argument %q", f.Arg(0)), Code: catalogue.CodeRefuse}.Write(out, errOut)
	}
	if err := o.Complete(os.Getenv); err != nil {
		return Outcome{Stderr: "Tidemark: " + err.Error(), Code: catalogue.CodeRefuse}.Write(out, errOut)
	}
	return Run(ctx, o).Write(out, errOut)
}

// Complete fills in what the command line left out.
func (o *Options) Complete(getenv func(string) string) error {
	if o.Sender == "" {
		o.Sender = SpeakerHere(getenv)
	}
	o.Env, o.Ancestors, o.Words = getenv, ancestors, startedWith
	if a := catalogue.Lookup(o.Agent); a != nil && a.Root != "" {
		o.Root = getenv(a.Root)
	}
	if o.Wait%time.Second != 0 {
		return errors.New("--wait takes whole seconds")
	}
	if o.Start && !filepath.IsAbs(o.Data) { // the environment and the working folder are the agent's
		return errors.New("--start needs --data with a whole path")
	}
	if o.Data != "" {
		return nil
	}
	var err error
	o.Data, err = DataFolder()
	return err
}

// Write prints the outcome and returns the exit code. Half a verdict is none: where it
// cannot be printed whole, the code refuses.
func (o Outcome) Write(out, errOut io.Writer) int {
	if o.Refused() && len(o.Stdout) == 0 { // nothing else says no
		o.Code, o.Stderr = catalogue.CodeRefuse, clean(o.Stderr)
	}
	if o.Stderr != "" {
		_, _ = fmt.Fprintln(errOut, o.Stderr) // nobody is left to tell
	}
	if len(o.Stdout) > 0 {
		if n, err := out.Write(o.Stdout); err != nil || n < len(o.Stdout) {
			_, _ = fmt.Fprintln(errOut, "Tidemark: the verdict could not be written, so this may not go on")
			return catalogue.CodeRefuse
		}
	}
	return o.Code
}
