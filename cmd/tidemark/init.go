package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/app"
)

type initFlags struct {
	installFlags
	undo, background, noModel bool
	model                     string
}

func (e *env) initCommand() *cobra.Command {
	f := &initFlags{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Guard the agents of this machine: server, hooks, and a proof that they hold",
		Long: `Find the agents on this machine, start the server (as a service where there is systemd or
launchd; else in the background, and the hooks start it again where it does not run), put hooks into
each agent's settings, and try on each a call that must be blocked. Exits 1 if one was not. Doing it
again changes nothing.

Where a model is in reach that could read what you ask for, so that you are asked less, it is offered, with what would leave
this machine and where to: docs/model.md. Without a yes none is used; --no-model does not offer any.

--undo takes the hooks out of every agent and stops the server. The log, the policy and the tokens stay.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.undo {
				return e.undoInit(cmd.Context(), f)
			}
			return e.init(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.undo, "undo", false, "take everything out again but the data folder")
	fl.BoolVar(&f.background, "background", false, "start the server in the background, and have hooks start it again; no service")
	fl.BoolVar(&f.noModel, "no-model", false, "have no model read what you ask for, and offer none")
	fl.StringVar(&f.model, "model", "", "have this model read (a name of tidemark model): you know what leaves, and agree")
	fl.StringVar(&f.hook, "hook", "", "path of tidemark-hook (default: beside this program)")
	fl.StringVar(&f.trial, "trial", "hook", "what to try: full (the real agent too, with a scripted model) or hook")
	return cmd
}

func (e *env) init(ctx context.Context, f *initFlags) error {
	if e.json {
		return errors.New("init: it speaks to people; programs use install, service and doctor with --json")
	}
	w, err := e.installWorld(&f.installFlags)
	if err != nil {
		return err
	}
	if _, err := os.Stat(w.Hook); err != nil {
		return fmt.Errorf("init: the hook program: %w (it comes with tidemark; --hook names another place)", err)
	}
	e.printf("%s %d agents are known\n", e.ui.word("title", "looking for agents:"), len(install.Names()))
	names, err := agentsHere(ctx, w, func(s *install.State) bool { return s.Found })
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("init: no agent was found on PATH (known are %s); for one of your own: tidemark serve, and docs/integrate.md",
			strings.Join(install.Names(), ", "))
	}
	e.printf("%s %s\n", e.ui.word("title", "found"), strings.Join(names, ", "))
	if err := e.initModel(ctx, f); err != nil { // before the server, which reads the setting when it starts
		return err
	}
	if f.Start, err = e.initServer(ctx, f); err != nil {
		return err
	}
	err = e.install(ctx, &f.installFlags, names)
	if err == nil {
		e.printf("\nheld calls wait for you: tidemark approvals watch in a terminal, or tidemark console in your browser\n" +
			"see what it does: tidemark demo; is it on: tidemark doctor; take it out again: tidemark init --undo\n")
	}
	return err
}

// initModel offers a model, unless the file speaks of one already. Whatever comes of it, the agents are guarded.
func (e *env) initModel(ctx context.Context, f *initFlags) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	named, err := app.ModelNamed(p)
	switch {
	case err != nil:
		return err
	case f.noModel && named:
		return nil // it is as somebody wrote it
	case f.noModel:
		return e.declineModel()
	case f.model != "":
		return e.useModel(ctx, f.model, "", true)
	case named:
		return nil
	}
	offers := app.FindModels(ctx)
	if len(offers) == 0 {
		e.printf("no model is in reach that could read what you ask for: you are asked more (tidemark model, later)\n")
		return nil
	}
	if !e.asksHere() { // nothing is switched on where nobody can say yes, and nothing is tried for nobody
		const could = "a model could read what you ask for, so that you are asked less: %s (tidemark model use NAME says what leaves)\n"
		e.printf(could, offerNames(offers))
		return nil
	}
	for i := range offers {
		o := &offers[i]
		if app.ProveModel(ctx, p, o) != nil || o.Fault != "" {
			continue
		}
		if err := e.adoptModel(ctx, p, o, false); err != nil {
			e.printf("%s %v\n", e.ui.word("warn", "note:"), err)
		}
		return nil
	}
	return nil
}

func offerNames(offers []app.ModelOffer) string {
	var names []string
	for i := range offers {
		names = append(names, offers[i].Name)
	}
	return strings.Join(names, ", ")
}

// agentsHere are the agents of which something is so.
func agentsHere(ctx context.Context, w install.World, is func(*install.State) bool) ([]string, error) {
	names := install.Names()
	states, err := each(len(names), func(i int) (install.State, error) { return install.Inspect(ctx, w, names[i]) })
	var out []string
	for i := range states {
		if err == nil && is(&states[i]) {
			out = append(out, states[i].Agent)
		}
	}
	return out, err
}

// each does something for each of n agents, several at a time: most of it is waiting for programs that are slow to start.
func each[T any](n int, do func(i int) (T, error)) ([]T, error) {
	const most = 8
	out := make([]T, n)
	var group errgroup.Group
	group.SetLimit(most)
	for i := range n {
		group.Go(func() (err error) {
			out[i], err = do(i)
			return err
		})
	}
	return out, group.Wait()
}

// initServer makes sure that a server runs, and reports whether hooks are to start it from now on: where no
// service does.
func (e *env) initServer(ctx context.Context, f *initFlags) (bool, error) {
	p, err := e.paths()
	if err != nil {
		return false, err
	}
	c, err := e.findServer(ctx)
	if err != nil {
		return false, err
	}
	if c != nil {
		e.printf("%s at %s already\n", e.ui.word("title", "a server runs"), c.base)
		return app.MayStart(p), nil // as it was: whoever started it may not want that
	}
	if err := e.firstTokens(p); err != nil {
		return false, err
	}
	s, err := e.service()
	if err != nil {
		return false, err
	}
	return e.startServer(ctx, p, s, f.background)
}

// firstTokens makes the tokens of people where somebody sees them, if there are none.
func (e *env) firstTokens(p app.Paths) error {
	if err := p.Create(); err != nil {
		return err
	}
	tokens, made, err := app.LoadTokens(p.Tokens())
	if err != nil {
		return err
	}
	switch { // before anything can go wrong: they are made once
	case made && !e.seen():
		e.printf("new tokens were made; this is no terminal, so they are not shown (tidemark token new makes others)\n")
	case made:
		e.printf("\nnew tokens, shown this once (people's are kept as hashes, in %s):\n", p.Tokens())
		e.printTokens(tokens)
	}
	return nil
}

// startServer has the system run it, or does so itself where the system cannot: then it reports true.
func (e *env) startServer(ctx context.Context, p app.Paths, s *app.Service, background bool) (bool, error) {
	if !background {
		path, err := s.Install(ctx)
		if err == nil {
			e.printf("%s %s\n", e.ui.word("title", "installed a service:"), path)
			e.printKept(s)
			_, err = app.WaitRunning(ctx, p, nil)
			return false, errors.Join(err, app.ForbidStart(p))
		}
		e.printf("%s no service could be started here: %v\n", e.ui.word("warn", "note:"), cmp.Or(errors.Unwrap(err), err))
		if err := s.Undo(); err != nil { // nobody would start it
			e.printf("%s its definition could not be taken back: %v\n", e.ui.word("warn", "note:"), err)
		}
	}
	var args []string
	if s.Config != "" {
		args = []string{"--config", s.Config}
	}
	r, err := app.Background(ctx, p, s.Program, args...)
	if err != nil {
		return false, err
	}
	p.Data, p.Config = s.Data, s.Config
	if err := app.AllowStart(p, s.Program, os.Getenv); err != nil {
		e.printf("%s at %s, until this machine restarts\n", e.ui.word("title", "started a server"), r.URL)
		e.printf("%s hooks will not start it again: %v\n", e.ui.word("warn", "note:"), err)
		return false, nil
	}
	e.printf("%s at %s; hooks start it again where it does not run\n", e.ui.word("title", "started a server"), r.URL)
	return true, nil
}

// undoInit takes the hooks out first: without a server they refuse everything.
func (e *env) undoInit(ctx context.Context, f *initFlags) error {
	w, err := e.installWorld(&f.installFlags)
	if err != nil {
		return err
	}
	names, err := agentsHere(ctx, w, func(s *install.State) bool { return s.Hooked || len(s.Files) > 0 })
	if err != nil {
		return err
	}
	if len(names) > 0 {
		if err := e.uninstall(ctx, &f.installFlags, names); err != nil {
			return err
		}
	}
	s, err := e.service()
	if err != nil {
		return err
	}
	if installed, _, err := s.Active(ctx); err == nil && installed {
		path, err := s.Remove(ctx)
		if err != nil {
			return err
		}
		e.printf("removed %s\n", path)
	}
	p, err := e.paths()
	if err != nil {
		return err
	}
	if err := app.ForbidStart(p); err != nil { // agents that run have their hooks until they end
		return err
	}
	switch err := app.StopRunning(ctx, p); {
	case err == nil:
		e.printf("stopped the server\n")
	case !errors.Is(err, app.ErrNotRunning):
		return err
	}
	e.printf("the log, the policy and the tokens stay in %s\n", p.Data)
	return nil
}
