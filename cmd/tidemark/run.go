package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
)

// boxed is how tidemark run was called.
type boxed struct {
	workspace   string
	read, write []string
	keep        []string
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

  tidemark run -- make test
  tidemark run --write ~/src/shared -- npm run build`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return e.runBoxed(o, args) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // what stands behind the command is the command's
	f.StringVar(&o.workspace, "workspace", "", "the folder it may change (default: the repository you are in, else this folder)")
	f.StringArrayVar(&o.read, "read", nil, "a file or folder it may read besides")
	f.StringArrayVar(&o.write, "write", nil, "a file or folder it may change besides")
	f.StringArrayVar(&o.keep, "env", nil, "name of a variable it is given besides")
	return cmd
}

func (e *env) runBoxed(o boxed, args []string) error {
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
	if _, err := box.Leftovers(filepath.Dir(w.State)); err != nil { // of boxes whose owners were ended
		e.report(err)
	}
	b, err := box.Open(w)
	if err != nil {
		return e.noBox(err)
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
		Read: o.read, Write: o.write, Env: os.Environ(), Keep: o.keep, Terminal: ownTerminal(), First: smallProgram(),
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
