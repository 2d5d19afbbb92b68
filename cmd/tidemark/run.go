package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/keeper"
	"github.com/tidemark/tidemark/internal/box/outfit"
	"github.com/tidemark/tidemark/internal/box/snapshot"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

// boxed is how tidemark run was called.
type boxed struct {
	workspace   string
	read, write []string
	keep        []string
	own         []string
	models      bool
}

func (e *env) runCommand() *cobra.Command {
	o := boxed{}
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGUMENT...]",
		Short: "Run a command in a box, where it can do no harm",
		Long: `Run any command in a box: it may change the workspace, but not what of it runs elsewhere
(settings of git, hooks, CI files, settings of agents and editors); it sees no keys, no other
process and no network. What it writes to caches of your home goes to a layer and is thrown
away. No server is needed, and no agent that we know.

The exit code is the command's own: 128 and a signal's number if one ended it, 125 if no box
can be made here, which is said on standard error; then nothing was run. Standard input,
output and the terminal are the command's. With --json a report of what was put aside, written
to a layer or not given is printed on standard error at the end.

An agent that is known by its name (` + strings.Join(outfit.Names(), ", ") + `) runs in the box as a whole: its only way out are
its models and the MCP servers of the policy file, through the server that runs, or one that is
started for it. Keys stay outside; it has settings of its own, which go with the box. --models
does so for any command.

  tidemark run -- make test
  tidemark run --write ~/src/shared -- npm run build
  tidemark run -- claude
  tidemark run --models --own .aider -- aider`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.runBoxed(cmd.Context(), o, args) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // what stands behind the command is the command's
	f.StringVar(&o.workspace, "workspace", "", "the folder it may change (default: the repository you are in, else this folder)")
	f.StringArrayVar(&o.read, "read", nil, "another file or folder it may read")
	f.StringArrayVar(&o.write, "write", nil, "another file or folder it may change")
	f.StringArrayVar(&o.keep, "env", nil, "another environment variable it is given, by name")
	f.StringArrayVar(&o.own, "own", nil, "a folder below your home that is empty in the box and is removed with it")
	f.BoolVar(&o.models, "models", false, "give it its models and MCP servers, through the monitor, and no other way out")
	return cmd
}

func (e *env) runBoxed(ctx context.Context, o boxed, args []string) error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, box.Passed()...)
	defer signal.Stop(signals)
	none := func(os.Signal) {} // they are the command's, and come by the channel
	minding.Store(&none)
	defer minding.Store(nil)
	w, dir, err := e.wantBox(o)
	if err != nil {
		return e.noBox(err)
	}
	if agent := outfit.Known(args[0]); agent != "" || o.models {
		stop, err := e.whole(ctx, &w, agent)
		if err != nil {
			return e.noBox(err)
		}
		defer func() {
			if err := stop(); err != nil {
				e.report(err)
			}
		}()
	}
	if _, err := box.Leftovers(filepath.Dir(w.State)); err != nil { // of boxes whose owners were ended
		e.report(err)
	}
	b, err := box.Open(w)
	if err != nil {
		return e.noBox(err)
	}
	if b.Reduced() && runtime.GOOS == "darwin" {
		fmt.Fprintln(e.errOut, "tidemark: this box uses sandbox-exec, which we have not yet tested on a real Mac (docs/box.md)")
	} else if b.Reduced() {
		fmt.Fprintln(e.errOut, "tidemark: there are no namespaces here, so this is a reduced box: no sockets, no /tmp; "+
			"guarded files are put back, not kept (docs/box.md)")
	}
	defer box.KeepForeground(os.Stdin)()
	exit, err := runIn(b, signals, box.Command{Args: args, Dir: dir, Files: [3]*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		e.report(err)
	}
	report, err := b.Close()
	if err != nil {
		e.report(err)
		exit.Code = max(exit.Code, exitFault)
	}
	if err := e.tellBox(report); err != nil {
		return err
	}
	if exit.Code == 0 {
		return nil
	}
	return exitStatus(exit.Code)
}

// noBox says why nothing was run, and ends with the code for it.
func (e *env) noBox(err error) error {
	e.report(err)
	return exitStatus(box.ExitNoBox)
}

// wantBox is the box for a command that is run here and now.
func (e *env) wantBox(o boxed) (box.Want, string, error) {
	p, err := e.paths()
	if err != nil {
		return box.Want{}, "", err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return box.Want{}, "", fmt.Errorf("find home folder: %w", err)
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return box.Want{}, "", fmt.Errorf("find home folder: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return box.Want{}, "", fmt.Errorf("find this folder: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return box.Want{}, "", fmt.Errorf("find this folder: %w", err)
	}
	if o.workspace == "" {
		o.workspace = box.WorkspaceOf(dir, home)
	}
	data, err := filepath.Abs(p.Data)
	if err != nil {
		return box.Want{}, "", fmt.Errorf("find data folder: %w", err)
	}
	return box.Want{
		Workspace: o.workspace, Home: home, State: filepath.Join(data, "boxes", "run-"+rand.Text()[:12]), Hide: []string{data},
		Read: o.read, Write: o.write, Env: os.Environ(), Keep: o.keep, Own: o.own, Reduced: true,
		Terminal: ownTerminal(), First: smallProgram(),
	}, dir, nil
}

// ownTerminal is the device of the terminal that the command is given, if it is given one.
func ownTerminal() string {
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if !term.IsTerminal(int(f.Fd())) {
			continue
		}
		if name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd())); err == nil && strings.HasPrefix(name, "/dev/") {
			return name
		}
	}
	return ""
}

// smallProgram is the hook program beside this one, which starts in a tenth of the time, or none.
func smallProgram() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	small := filepath.Join(filepath.Dir(self), "tidemark-hook")
	if info, err := os.Stat(small); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return small
}

// runIn runs a command to its end. Signals that this program is sent are the command's; one that came before there was a command
// means that there is to be none.
func runIn(b *box.Box, signals <-chan os.Signal, c box.Command) (box.Exit, error) {
	select {
	case s := <-signals:
		if s, ok := s.(syscall.Signal); ok {
			return box.Exit{Code: 128 + int(s), Signal: int(s)}, nil
		}
	default:
	}
	job, err := b.Start(c)
	if err != nil {
		return box.Exit{Code: box.ExitNoBox}, err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case s := <-signals:
				if s, ok := s.(syscall.Signal); ok {
					job.Signal(s)
				}
			case <-ended:
				return
			}
		}
	}()
	return job.Wait()
}

// tellBox says what was put aside, and everything if it was asked for.
func (e *env) tellBox(r *box.Report) error {
	if e.json {
		raw, err := strictjson.MarshalIndent(r)
		if err != nil {
			return fmt.Errorf("print JSON: %w", err)
		}
		_, err = fmt.Fprintf(e.errOut, "%s\n", raw) // standard output is the command's
		return err
	}
	for _, a := range r.Aside {
		fmt.Fprintf(e.errOut, "tidemark: %s would run elsewhere or later: it is put aside, in %s\n", a.Path, a.Kept)
	}
	return nil
}

func (e *env) boxCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "box",
		Short: "List, look into and end the boxes of sessions",
		Long: `Commands of agents that run in a box run in their session's: one box for each session, kept by
a process of yours (tidemark box keep), which is started when the first one is needed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var idle time.Duration
	keep := &cobra.Command{
		Use:   "keep",
		Short: "Keep the boxes of this user's sessions",
		Long: `Keep the boxes of this user's sessions: agents' hooks start it when a command is to run in one, and
there is no need to start it by hand. It redeems the ticket of each command with the server and runs
nothing without. A box ends when nothing was run in it for a while, with it the jobs in its
background; without boxes the keeper ends too. Ending it ends every box.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.keepBoxes(cmd.Context(), idle) },
	}
	keep.Flags().DurationVar(&idle, "idle", keeper.DefaultIdle, "how long a box waits for the next command")
	cmd.AddCommand(keep,
		&cobra.Command{
			Use: "list", Short: "List boxes, and what is left of those that have ended", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return e.listBoxes() },
		},
		&cobra.Command{
			Use:   "shell [SESSION]",
			Short: "Open a shell in a session's box, or in one for this folder, to look",
			Args:  cobra.MaximumNArgs(1),
			RunE:  func(_ *cobra.Command, args []string) error { return e.boxShell(strings.Join(args, "")) },
		},
		&cobra.Command{
			Use:   "end [SESSION]",
			Short: "End a session's box and every job in it, or all boxes and their keeper",
			Args:  cobra.MaximumNArgs(1),
			RunE:  func(_ *cobra.Command, args []string) error { return e.endBoxes(strings.Join(args, "")) },
		})
	cmd.AddCommand(e.asideCommands()...)
	return cmd
}

// dataFolder is the data folder as a whole path.
func (e *env) dataFolder() (string, error) {
	p, err := e.paths()
	if err != nil {
		return "", err
	}
	data, err := filepath.Abs(p.Data)
	if err != nil {
		return "", fmt.Errorf("find data folder: %w", err)
	}
	if real, err := filepath.EvalSymlinks(data); err == nil {
		data = real
	}
	return data, nil
}

// snapshots are kept in the data folder.
func snapshots(data string) snapshot.Store {
	return snapshot.Store{Folder: filepath.Join(data, "snapshots"), Apart: data}
}

func (e *env) keepBoxes(ctx context.Context, idle time.Duration) error {
	data, err := e.dataFolder()
	if err != nil {
		return err
	}
	p, err := e.paths()
	if err != nil {
		return err
	}
	home, err := homeOfUser()
	if err != nil {
		return err
	}
	store := snapshots(data)
	if err := store.Prune(time.Now()); err != nil {
		e.report(err) // what is too old stays a while longer
	}
	monitor := &keeper.Monitor{Way: func(string, string) *http.Client { return awayClient(p) }, Find: func() (string, string, error) {
		if url, token, err := datafolder.Elsewhere(p); err != nil || url != "" {
			return url, token, err
		}
		r, err := datafolder.FindRunning(p)
		if err != nil {
			return "", "", err
		}
		tokens, _, err := accounts.LoadTokens(p.Tokens())
		return r.URL, tokens.Agent, err
	}}
	k, err := keeper.New(keeper.Options{
		Data: data, Home: home, First: smallProgram(), Redeemer: monitor, Ended: monitor.Ended, Asker: monitor, Writer: monitor, Idle: idle,
		SignIn: broker.SignIn,
		Closed: func() []int { return monitorsPorts(p) },
		Take: func(session, workspace string) (keeper.Snapshot, error) {
			_ = store.Prune(time.Now()) // what is too much stays a while longer
			a, err := store.Take(session, workspace)
			return keeper.Snapshot{Name: a.Name, Guard: a.Guard}, err
		},
		Used: func(name string) { _ = store.Used(name, time.Now()) }, // without it a later change is not told apart
		Say: func(format string, args ...any) {
			fmt.Fprintf(e.errOut, "%s %s\n", time.Now().Format(time.DateTime), fmt.Sprintf(format, args...))
		},
	})
	if errors.Is(err, keeper.ErrTaken) {
		e.printf("%v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	return k.Serve(ctx)
}

// monitorsPorts is the port at which the monitor of a data folder listens: no box reaches it, whatever a policy says. Where none
// runs no ticket is redeemed, and no box is made.
func monitorsPorts(p datafolder.Paths) []int {
	r, err := datafolder.FindRunning(p)
	if err != nil {
		return nil
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return nil
	}
	return []int{port}
}

// homeOfUser is the home folder that the system knows. The variable would be whoever's who started this program, and names what is
// hidden; it counts only where the system knows none.
func homeOfUser() (string, error) {
	if u, err := user.LookupId(fmt.Sprint(os.Getuid())); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find home folder: %w", err)
	}
	return home, nil
}

// boxesNow asks the keeper which boxes there are, or finds what is left if none runs.
func (e *env) boxesNow() (entry.Answer, error) {
	data, err := e.dataFolder()
	if err != nil {
		return entry.Answer{}, err
	}
	a, err := entry.Ask(data, entry.Request{Do: entry.List})
	if err != nil {
		if !errors.Is(err, entry.ErrNoKeeper) && !errors.Is(err, os.ErrNotExist) {
			return entry.Answer{}, err
		}
		a.Left = keeper.LeftIn(data)
	}
	if a.Boxes == nil {
		a.Boxes = []entry.Open{}
	}
	if a.Left == nil {
		a.Left = []entry.Left{}
	}
	return a, nil
}
