package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/localserver"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/services"
)

type initFlags struct {
	installFlags
	undo, background, noModel bool
	purge, yes                bool
	model                     string

	first *accounts.Tokens // made by this run: what people's are is known here, and nowhere else
}

func (e *env) initCommand() *cobra.Command {
	f := &initFlags{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Guard the agents of this machine: start the server, install hooks, and prove that they block",
		Long: `Find the agents on this machine, start the server (as a service where there is systemd or
launchd; else in the background, and the hooks start it again where it does not run), put hooks into
each agent's settings, and try on each a call that must be blocked. Exits 1 if one was not. Then an example
of an attack is sent to the server and the question shown that it asks, and on a terminal a passkey is
enrolled, with which you answer. Doing it again changes nothing.

Where a model is in reach that could read what you ask for, so that you are asked less, it is offered, with what would leave
this machine and where to: docs/model.md. Without a yes none is used; --no-model does not offer any.

--undo takes the hooks out of every agent and stops the server that init or a hook started; one that you started stays. The
log, the policy and the tokens stay too, unless you say --purge.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.purge && !f.undo || f.yes && !f.purge {
				return errors.New("init: --purge goes with --undo, and --yes with --purge")
			}
			if f.undo {
				return e.undoInit(cmd.Context(), f)
			}
			return e.init(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.undo, "undo", false, "undo everything init did, but keep the data folder")
	fl.BoolVar(&f.purge, "purge", false, "with --undo: delete the data folder too, with the log, the policy and the keys; it asks")
	fl.BoolVar(&f.yes, "yes", false, "with --purge: do not ask")
	fl.BoolVar(&f.background, "background", false, "install no service: start the server in the background, and have hooks start it again")
	fl.BoolVar(&f.noModel, "no-model", false, "do not offer a model that reads your messages, and use none")
	fl.StringVar(&f.model, "model", "", "have this model read your messages (a name from tidemark model); you agree to what is sent to it")
	fl.StringVar(&f.hook, "hook", "", "path of tidemark-hook (default: beside this program)")
	fl.StringVar(&f.trial, "trial", "hook", "what to try: full (the real agent too, with a scripted model) or hook")
	return cmd
}

// errInitSpeaks is why init has no --json.
var errInitSpeaks = errors.New("init has no --json: programs use install, uninstall, service and doctor, which have it")

func (e *env) init(ctx context.Context, f *initFlags) error {
	if e.json {
		return errInitSpeaks
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
	if err := e.install(ctx, &f.installFlags, names); err != nil {
		return err
	}
	if err := e.firstLook(ctx); err != nil {
		return err
	}
	if err := e.firstKey(ctx, f); err != nil {
		return err
	}
	e.printf("check it: tidemark doctor; more examples: tidemark demo; undo it: tidemark init --undo\n")
	return nil
}

// firstKey has whoever ran init prove from now on that it is they who approve, by what no program of theirs can use. The tokens of
// people are known to this process alone, and are shown only to who wants to do without a key.
func (e *env) firstKey(ctx context.Context, f *initFlags) error {
	const where = "tidemark console answers it in your browser, tidemark approvals watch in a terminal"
	switch {
	case f.first == nil:
		e.printf("\nto answer it: %s\n", where)
		return nil
	case !e.seen():
		e.printf("\nto answer it: tidemark token new, on a terminal, then %s\n", where)
		return nil
	}
	if offered, err := e.offerKey(ctx, f.first); offered || err != nil {
		return err
	}
	e.printf("\nyour token for approving, shown this once and kept nowhere (tidemark token new makes others):\n  %s\n", f.first.Approver)
	e.printf("tidemark approvals watch asks for it, and so does tidemark console --role approver; on its page Keys you enrol a passkey,\n" +
		"and from then on no token is needed\n")
	return nil
}

// offerKey offers a passkey to whoever sits at the terminal, and reports whether they have one now. An answer that somebody piped in
// was not meant for this.
func (e *env) offerKey(ctx context.Context, tokens *accounts.Tokens) (bool, error) {
	if in, ok := e.in.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		return false, nil
	}
	e.printf("\n%s enrol a passkey (fingerprint, PIN, phone or security key). An agent runs as you and can read\n"+
		"what you can; a passkey only you can use, and no token is needed then. Enrol one now, in your browser? [y/N] ",
		e.ui.word("title", "to answer it,"))
	yes, err := e.saysYes(ctx)
	if err != nil || !yes {
		return false, err
	}
	if err := e.enrolFirst(ctx, tokens); err != nil {
		e.printf("%s no passkey was enrolled: %v\n", e.ui.word("warn", "note:"), err)
		return false, nil
	}
	return true, nil
}

// keyWait is how long somebody may take who enrols a key.
const keyWait = 3 * time.Minute

// enrolFirst signs somebody in who has just started all this, and waits until they have enrolled a key.
func (e *env) enrolFirst(ctx context.Context, tokens *accounts.Tokens) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return datafolder.ErrNotRunning
	}
	c.token, c.secret = tokens.Admin, nil
	l, err := e.signIn(ctx, c, true)
	if err != nil {
		return err
	}
	keys := strings.TrimSuffix(l.URL, "/login") + "/keys"
	if err := browser(keys).Start(); err != nil {
		e.printf("  no browser could be opened (%v)\n", err)
	}
	e.printf("  enrol it at %s\n", keys)
	ctx, cancel := context.WithTimeout(ctx, keyWait)
	defer cancel()
	for {
		if proof, err := proofOf(ctx, c); err != nil {
			return err
		} else if proof == passkeys {
			e.printf("%s from now on approving takes it, at every door; the question above waits in your browser\n",
				e.ui.word("good", "it is enrolled:"))
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("nothing was enrolled in three minutes (the page Keys of tidemark console does it later)")
		case <-time.After(time.Second):
		}
	}
}

// proofOf is what approving takes at a server besides a token; "": nothing.
func proofOf(ctx context.Context, c *client) (string, error) {
	var s struct {
		Proof string `json:"proof"`
	}
	err := c.call(ctx, http.MethodGet, "/v1/status", nil, &s)
	return s.Proof, err
}

// initModel offers a model, unless the file speaks of one already. Whatever comes of it, the agents are guarded.
func (e *env) initModel(ctx context.Context, f *initFlags) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	named, err := services.ModelNamed(p)
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
	offers := services.FindModels(ctx)
	if len(offers) == 0 {
		e.printf("no model was found that could read your messages, so you will be asked more often (later: tidemark model)\n")
		return nil
	}
	if !e.asksHere() { // nothing is switched on where nobody can say yes, and nothing is tried for nobody
		const could = "a model could read your messages, so that you are asked less: %s (tidemark model use NAME shows what is sent)\n"
		e.printf(could, offerNames(offers))
		return nil
	}
	for i := range offers {
		o := &offers[i]
		if services.ProveModel(ctx, p, o) != nil || o.Fault != "" {
			continue
		}
		if err := e.adoptModel(ctx, p, o, false); err != nil {
			e.printf("%s %v\n", e.ui.word("warn", "note:"), err)
		}
		return nil
	}
	return nil
}

func offerNames(offers []services.ModelOffer) string {
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
	faults, slots := make([]error, n), make(chan struct{}, most)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			out[i], faults[i] = do(i)
			<-slots
		})
	}
	all.Wait()
	for _, err := range faults {
		if err != nil {
			return out, err
		}
	}
	return out, nil
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
		return localserver.MayStart(p), nil // as it was: whoever started it may not want that
	}
	if err := e.firstTokens(p, f); err != nil {
		return false, err
	}
	s, err := e.service()
	if err != nil {
		return false, err
	}
	return e.startServer(ctx, p, s, f.background)
}

// firstTokens makes the tokens, if there are none. Those of people are kept as hashes, and known to this process.
func (e *env) firstTokens(p datafolder.Paths, f *initFlags) error {
	if err := p.Create(); err != nil {
		return err
	}
	tokens, made, err := accounts.LoadTokens(p.Tokens())
	if made {
		f.first = &tokens
	}
	return err
}

// startServer has the system run it, or does so itself where the system cannot: then it reports true.
func (e *env) startServer(ctx context.Context, p datafolder.Paths, s *localserver.Service, background bool) (bool, error) {
	if !background {
		path, err := s.Install(ctx)
		if err == nil {
			e.printf("%s %s\n", e.ui.word("title", "installed a service:"), path)
			e.printKept(s)
			_, err = localserver.WaitRunning(ctx, p, nil)
			return false, errors.Join(err, localserver.ForbidStart(p))
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
	r, err := localserver.Background(ctx, p, s.Program, args...)
	if err != nil {
		return false, err
	}
	p.Data, p.Config = s.Data, s.Config
	if err := localserver.AllowStart(p, s.Program, os.Getenv); err != nil {
		e.printf("%s at %s, until this machine restarts\n", e.ui.word("title", "started a server"), r.URL)
		e.printf("%s hooks will not start it again: %v\n", e.ui.word("warn", "note:"), err)
		return false, nil
	}
	e.printf("%s at %s; hooks start it again where it does not run\n", e.ui.word("title", "started a server"), r.URL)
	return true, nil
}

// undoInit takes the hooks out first: without a server they refuse everything.
func (e *env) undoInit(ctx context.Context, f *initFlags) error {
	if e.json {
		return errInitSpeaks
	}
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
	if err := localserver.ForbidStart(p); err != nil { // agents that run have their hooks until they end
		return err
	}
	if err := e.undoServer(ctx, p); err != nil {
		return err
	}
	if f.purge {
		return e.purge(ctx, p, s, f.yes)
	}
	e.printf("the log, the policy and the tokens stay in %s (--purge deletes them)\n", p.Data)
	return nil
}

// undoServer stops the server that init or a hook started, and no other.
func (e *env) undoServer(ctx context.Context, p datafolder.Paths) error {
	ours, err := localserver.StartedHere(p)
	switch {
	case errors.Is(err, datafolder.ErrNotRunning):
		return nil
	case err != nil:
		return err
	case !ours:
		const on = "%s the server on %s was not started by init and keeps running (stop it where you started it)\n"
		e.printf(on, e.ui.word("warn", "note:"), p.Data)
		return nil
	}
	if err := localserver.StopRunning(ctx, p); err != nil && !errors.Is(err, datafolder.ErrNotRunning) {
		return err
	}
	e.printf("stopped the server\n")
	return nil
}

// purge deletes the data folder, once a person has said so, and empty folders that a service was put into.
func (e *env) purge(ctx context.Context, p datafolder.Paths, s *localserver.Service, yes bool) error {
	if !yes {
		e.printf("delete %s, with the log, the policy, the tokens and the key by which the log is read? [y/N] ", p.Data)
		ok, err := e.saysYes(ctx)
		if err != nil {
			return err
		}
		if !ok {
			e.printf("\nnothing was deleted (--yes does not ask)\n")
			return nil
		}
	}
	if err := installation.Purge(ctx, p); err != nil {
		return err
	}
	s.Sweep()
	e.printf("deleted %s\n", p.Data)
	return nil
}
