package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/build"
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/installation"
)

// Exit codes. Scripts rely on them.
const (
	exitOK    = 0
	exitFault = 1 // the answer is no: a fault was found, a chain is broken
	exitUsage = 2 // the command could not be carried out

	exitStopped = 130 // somebody stopped it, as shells have it
)

// errFault ends a command with exitFault after it has printed its own report.
var errFault = errors.New("fault found")

// env is what every command shares.
type env struct {
	in     io.Reader
	out    io.Writer
	errOut io.Writer
	ui     ui

	data   string
	config string
	store  string
	json   bool

	tokenStdin bool
	token      string // a person's, once they gave it
}

// run is main without the process: tests call it too.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	e := &env{in: in, out: out, errOut: errOut, ui: newUI(out)}
	cmd := e.command()
	args, told := byNewName(cmd, args)
	if told != "" && toPerson(errOut) {
		fmt.Fprintf(errOut, "tidemark: %s\n", told)
	}
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	err := cmd.ExecuteContext(ctx)
	var ended exitStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &ended):
		return int(ended)
	case errors.Is(err, errFault):
		return exitFault
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		e.report(errors.New("stopped"))
		return exitStopped
	}
	e.report(err)
	return exitUsage
}

// report prints an error the way the reader asked for output.
func (e *env) report(err error) {
	if e.json {
		if raw, bad := strictjson.MarshalIndent(map[string]any{"ok": false, "error": err.Error()}); bad == nil {
			fmt.Fprintf(e.errOut, "%s\n", raw)
			return
		}
	}
	var bad *load.Error
	if errors.As(err, &bad) {
		fmt.Fprint(e.errOut, newUI(e.errOut).faults(bad.Rendered))
		return
	}
	var file *install.FileError
	if errors.As(err, &file) {
		fmt.Fprint(e.errOut, newUI(e.errOut).faults(file.Rendered))
		return
	}
	fmt.Fprintf(e.errOut, "tidemark: %v\n", err)
}

func (e *env) command() *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "tidemark",
		Short: "A reference monitor for AI agents",
		Long: `Tidemark is a reference monitor for AI agents: it tracks where everything in an
agent's context came from and decides, outside the model, what the agent may still do.

  tidemark demo              see it work on a temporary log
  tidemark init              guard the agents of this machine
  tidemark approvals watch   see held calls as they come, and answer them`,
		SuggestionsMinimumDistance: 2,

		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          known,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return e.printVersion()
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.SetFlagErrorFunc(unknownFlag)
	f := root.PersistentFlags()
	f.StringVar(&e.data, "data", "", "data folder (default $TIDEMARK_DATA, else ~/.local/share/tidemark)")
	f.StringVar(&e.config, "config", "", "policy file (default tidemark.yaml in the data folder, if there is one)")
	f.StringVar(&e.store, "store", "", "database with the log, postgres://... (default $TIDEMARK_STORE, else a file in the data folder)")
	f.BoolVar(&e.json, "json", false, "print JSON")
	f.BoolVar(&e.tokenStdin, "token-stdin", false, "read the approver or admin token from standard input, where one is needed")
	for _, g := range e.groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(e.hookCommand(), e.versionCommand())
	root.SetCompletionCommandGroupID(moreGroup)
	root.InitDefaultCompletionCmd()
	root.SetHelpCommandGroupID(moreGroup)
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args, c.RunE = known, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	addOldNames(root)
	sayUsage(root)
	return root
}

// sayUsage has every command below say how it is called where its arguments are too few or too many.
func sayUsage(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		if check := c.Args; check != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				if err := check(c, args); err != nil {
					if c.HasSubCommands() && len(args) > 0 {
						return known(c, args)
					}
					return fmt.Errorf("%s: %w (usage: %s)", c.Name(), err, c.UseLine())
				}
				return nil
			}
		}
		sayUsage(c)
	}
}

// group is commands that help lists together.
type group struct {
	title    string
	commands []*cobra.Command
}

// moreGroup has what is no work with the monitor.
const moreGroup = "More"

// groups are the commands that people look for by name. What is needed now and then stands below one of them.
func (e *env) groups() []group {
	return []group{
		{"Start and run", []*cobra.Command{
			e.demoCommand(), e.initCommand(), e.runCommand(), e.boxCommand(), e.undoCommand(), e.doctorCommand(), e.statusCommand(),
		}},
		{"Decide by hand", []*cobra.Command{
			e.approvalsCommand(), e.consoleCommand(), e.trustCommand(), e.stopAllCommand(), e.resumeCommand(),
		}},
		{"Look at what happened", []*cobra.Command{e.sessionsCommand(), e.logCommand(), e.toolsCommand(), e.reportCommand()}},
		{"Say what is allowed", []*cobra.Command{e.policyCommand(), e.tryCommand()}},
		{"People and machines", []*cobra.Command{e.tokenCommand(), e.joinCommand(), e.leaveCommand()}},
		{"Set up agents", []*cobra.Command{
			e.installCommand(), e.uninstallCommand(), e.mcpCommand(), e.llmCommand(), e.modelCommand(),
		}},
		{"Run the server", []*cobra.Command{e.serveCommand(), e.serviceCommand()}},
		{moreGroup, nil},
	}
}

// known refuses a command nobody has, and says which one may have been meant.
func known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help lists them"
	cmd.SuggestionsMinimumDistance = 2
	if near := append(cmd.SuggestionsFor(args[0]), elsewhere(cmd, args[0])...); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q: %s", args[0], hint)
}

// someAgents wants agents, and says which one may have been meant.
func someAgents(_ *cobra.Command, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("name an agent: %s", strings.Join(install.Names(), ", "))
	}
	for _, name := range names {
		if near := configfile.Suggest(name, install.Names()); near != "" && !slices.Contains(install.Names(), name) {
			return fmt.Errorf("unknown agent %q: %s", name, near)
		}
	}
	return nil
}

func (e *env) paths() (datafolder.Paths, error) {
	p, err := app.FindPaths(e.data, e.config)
	if err != nil {
		return p, err
	}
	p.Store, err = installation.FindStore(e.store)
	return p, err
}

// printJSON is what --json prints.
func (e *env) printJSON(v any) error {
	raw, err := strictjson.MarshalIndent(v)
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	_, err = fmt.Fprintf(e.out, "%s\n", raw)
	return err
}

func (e *env) printf(format string, args ...any) { fmt.Fprintf(e.out, format, args...) }

// openLog opens the log for a command that only looks.
func (e *env) openLog(ctx context.Context) (*installation.Log, error) {
	p, err := e.paths()
	if err != nil {
		return nil, err
	}
	return installation.OpenLog(ctx, p)
}

// withLog runs step on the log and closes it.
func (e *env) withLog(ctx context.Context, step func(*installation.Log) error) error {
	log, err := e.openLog(ctx)
	if err != nil {
		return err
	}
	return errors.Join(step(log), log.Close())
}

// toPerson reports whether what is written there is read on a terminal.
func toPerson(w io.Writer) bool {
	f, ok := isTerminal(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

func isTerminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok
}

func (e *env) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, as --version does", Args: cobra.NoArgs, Hidden: true,
		RunE: func(*cobra.Command, []string) error { return e.printVersion() },
	}
}

func (e *env) printVersion() error {
	v := build.Version()
	if e.json {
		return e.printJSON(map[string]string{"version": v})
	}
	e.printf("tidemark %s\n", v)
	return nil
}

// unknownFlag says which flag may have been meant.
func unknownFlag(cmd *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return err
	}
	var flags []string
	note := func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	}
	cmd.Flags().VisitAll(note)
	cmd.InheritedFlags().VisitAll(note)
	if near := configfile.Suggest(name, flags); near != "" {
		near = strings.Replace(near, "did you mean ", "did you mean --", 1)
		return fmt.Errorf("%s: %w: %s", cmd.Name(), err, near)
	}
	return fmt.Errorf("%s: %w (%s --help lists them)", cmd.Name(), err, cmd.CommandPath())
}
