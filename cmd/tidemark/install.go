package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/localserver"
)

// installFlags are those of install and uninstall.
type installFlags struct {
	install.Options
	project                string
	hook                   string
	server, tokenFile, pin string
	trial                  string
	managed                bool
	dry                    bool
}

func (e *env) installCommand() *cobra.Command {
	f := &installFlags{}
	cmd := &cobra.Command{
		Use:       "install AGENT...",
		ValidArgs: install.Names(),
		Short:     "Put Tidemark's hooks into an agent's settings, and try them",
		Long: `Write the strictest hooks that an agent's version knows into its settings, and then try a
call that must be blocked: first on the hook as it stands there, then on the real agent
with a scripted model, in a folder of its own and without any credentials.

Other settings stay as they are, byte for byte; a copy of each changed file is kept in the
data folder. Installing again changes nothing. Exits 1 if the call was not blocked.

Agents: ` + strings.Join(install.Names(), ", "),
		Args: someAgents,
		RunE: func(cmd *cobra.Command, args []string) error { return e.install(cmd.Context(), f, args) },
	}
	f.shared(cmd)
	fl := cmd.Flags()
	fl.DurationVar(&f.Timeout, "timeout", 0, "the hook answers within this time (default 5s)")
	fl.DurationVar(&f.Wait, "wait", 0, "how much longer the hook waits for your answer to a question")
	fl.StringVar(&f.Sender, "sender", "", "whose words prompts are: owner or unknown (default: the hook finds out)")
	fl.BoolVar(&f.Start, "start", false, "the hook starts the server if none runs: this program, on this data folder, as you")
	fl.BoolVar(&f.Box, "box", false,
		"its commands run in a box once it has read something that is not from you ("+strings.Join(boxable(), ", ")+"; see docs/box.md)")
	fl.StringVar(&f.server, "server", "", "the server is on another machine, at this https address (tidemark join needs no token)")
	fl.StringVar(&f.tokenFile, "token-file", "", "with --server: a file with the token that this machine was given there")
	fl.StringVar(&f.pin, "pin", "", "with --server: the key it prints when it starts (default: the system's certificates vouch for it)")
	fl.StringVar(&f.trial, "trial", "full", "what to try afterwards: full, hook (not the agent itself) or none")
	return cmd
}

func (e *env) uninstallCommand() *cobra.Command {
	f := &installFlags{}
	cmd := &cobra.Command{
		Use:       "uninstall AGENT...",
		ValidArgs: install.Names(),
		Short:     "Take Tidemark's hooks out of an agent's settings",
		Long:      "Take out exactly what install put in. What was changed by others since stays.",
		Args:      someAgents,
		RunE:      func(cmd *cobra.Command, args []string) error { return e.uninstall(cmd.Context(), f, args) },
	}
	f.shared(cmd)
	return cmd
}

func (f *installFlags) shared(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.project, "project", "", "a project's settings in place of the user's")
	fl.BoolVar(&f.managed, "managed", false,
		"the administrator's settings, which users cannot change ("+strings.Join(install.ManagedNames(), ", ")+")")
	fl.BoolVar(&f.dry, "dry-run", false, "print what would change, as a diff, and change nothing")
	fl.StringVar(&f.hook, "hook", "", "path of tidemark-hook (default: beside this program)")
}

// installWorld finds out where to install.
func (e *env) installWorld(f *installFlags) (install.World, error) {
	w := install.World{Managed: f.managed, Getenv: os.Getenv, Hook: f.hook}
	p, err := e.paths()
	if err != nil {
		return w, err
	}
	if w.Home, err = os.UserHomeDir(); err != nil {
		return w, fmt.Errorf("find home folder: %w", err)
	}
	if w.Hook == "" {
		self, err := os.Executable()
		if err != nil {
			return w, fmt.Errorf("find the hook program: %w", err)
		}
		w.Hook = settings.HookFile(filepath.Dir(self))
	}
	w.Data, w.Project = p.Data, f.project
	for _, path := range []*string{&w.Data, &w.Project, &w.Hook} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return w, fmt.Errorf("find folder: %w", err)
		}
	}
	if w.Project != "" {
		if info, err := os.Stat(w.Project); err != nil || !info.IsDir() {
			return w, fmt.Errorf("find project: %s is not a folder", w.Project)
		}
	}
	if w.Managed && os.Geteuid() != 0 {
		return w, errors.New("--managed writes the administrator's settings: run it as root")
	}
	return w, nil
}

func (f *installFlags) check() error {
	switch {
	case f.Timeout < 0 || f.Wait < 0:
		return errors.New("--timeout and --wait must not be negative")
	case f.Wait%time.Second != 0:
		return errors.New("--wait takes whole seconds")
	case f.Sender != "" && f.Sender != "owner" && f.Sender != "unknown":
		return fmt.Errorf("--sender must be owner or unknown, not %q", f.Sender)
	case f.trial != "full" && f.trial != "hook" && f.trial != "none":
		return fmt.Errorf("--trial must be full, hook or none, not %q", f.trial)
	}
	return nil
}

// installed is what one agent's installation came to.
type installed struct {
	Agent   string         `json:"agent"`
	Program string         `json:"program"`
	Version string         `json:"version"`
	Changed []string       `json:"changed"`
	Diff    string         `json:"diff,omitzero"`
	Notes   []string       `json:"notes"`
	Hook    *install.Trial `json:"hookTrial,omitzero"`
	Real    *install.Trial `json:"agentTrial,omitzero"`
	Box     *install.Trial `json:"boxTrial,omitzero"`
}

// settle plans everything before the first file is written, and keeps others who install
// with this data folder waiting meanwhile.
func (e *env) settle(
	ctx context.Context, w install.World, dry bool, names []string, plan func(name string) (*install.Plan, error),
) (out []installed, err error) {
	if !dry {
		unlock, fault := install.Lock(ctx, w)
		if fault != nil {
			return nil, fault
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	plans, err := each(len(names), func(i int) (*install.Plan, error) { return plan(names[i]) })
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		r, err := e.carryOut(p, dry)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// install writes the settings, and then tries them.
func (e *env) install(ctx context.Context, f *installFlags, names []string) error {
	if err := f.check(); err != nil {
		return err
	}
	w, err := e.installWorld(f)
	if err != nil {
		return err
	}
	if err := e.setElsewhere(f); err != nil {
		return err
	}
	if err := e.ready(w, f, names); err != nil {
		return err
	}
	out, err := e.settle(ctx, w, f.dry, names, func(name string) (*install.Plan, error) {
		p, err := install.Prepare(ctx, w, name, f.Options)
		if offer := e.offerWrap(w, name); err == nil && offer != "" {
			p.Notes = append(slices.Clone(p.Notes), offer)
		}
		return p, err
	})
	if err != nil {
		return err
	}
	if !f.dry {
		if err := errors.Join(e.agentTokens(ctx, names), unbox(w, out)); err != nil {
			return err
		}
	}
	e.adviseFolder(w, out)
	ran, err := e.tries(ctx, w, f, out)
	if err != nil {
		return err
	}
	if e.json {
		if err := e.printJSON(out); err != nil {
			return err
		}
	} else if err := e.adviseServer(ctx, f.dry); err != nil {
		return err
	}
	if ran {
		return errFault
	}
	return nil
}

// tries runs what is to be tried afterwards, and reports whether something was let through or does not obey.
func (e *env) tries(ctx context.Context, w install.World, f *installFlags, out []installed) (bad bool, err error) {
	if f.dry || f.trial == "none" {
		return false, nil
	}
	if bad, err = e.tryAll(ctx, w, f.trial == "full", out); err != nil || !f.Box {
		return bad, err
	}
	whole, err := e.tryBoxes(ctx, w, f, out)
	return bad || !whole, err
}

// adviseFolder warns of a hook program that may be gone tomorrow.
func (e *env) adviseFolder(w install.World, out []installed) {
	above := checkoutAbove(w.Hook)
	if above == "" {
		return
	}
	note := fmt.Sprintf("%s lies in the checkout %s: after a clean, a move or a checkout of another version agents refuse everything; "+
		"copy tidemark and tidemark-hook to a folder that stays (~/.local/bin) and install from there", w.Hook, above)
	for i := range out {
		out[i].Notes = append(out[i].Notes, note)
	}
	if !e.json {
		e.printf("%s %s\n", e.ui.word("confirm", "warning"), note)
	}
}

// ready does what some options need before anything is written.
func (e *env) ready(w install.World, f *installFlags, names []string) error {
	if f.Box {
		if err := e.tryBoxing(w, f, names); err != nil {
			return err
		}
	}
	if f.Start && !f.dry {
		return e.allowStart(w)
	}
	return nil
}

// checkoutAbove is the git checkout that a file lies in; "": none.
func checkoutAbove(file string) string {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func failed(t *install.Trial) bool { return t != nil && t.Ran && !t.Blocked }

func (e *env) adviseServer(ctx context.Context, dry bool) error {
	c, err := e.findServer(ctx)
	if err != nil || c != nil || dry {
		return err
	}
	e.printf("no server is running, so the hooks refuse everything; start it: tidemark serve\n")
	return nil
}

// allowStart lets the hooks of this data folder start this program. The tokens of people are made before: a
// server that a hook starts shows nobody anything.
func (e *env) allowStart(w install.World) error {
	if w.Managed || w.Project != "" {
		return errors.New("--start is for a user's own settings: those of a project or an administrator are for several people")
	}
	p, err := e.paths()
	if err != nil {
		return err
	}
	if err := e.showFirstTokens(p); err != nil {
		return err
	}
	s, err := e.service()
	if err != nil {
		return err
	}
	p.Data, p.Config = s.Data, s.Config
	return localserver.AllowStart(p, s.Program, os.Getenv)
}

// showFirstTokens makes the tokens of people where somebody sees them, if there are none.
func (e *env) showFirstTokens(p datafolder.Paths) error {
	var f initFlags
	err := e.firstTokens(p, &f)
	switch { // before anything can go wrong: they are made once
	case err != nil || f.first == nil:
	case !e.seen():
		e.printf("new tokens were made; this is no terminal, so they are not shown (tidemark token new makes others)\n")
	default:
		e.printf("\nnew tokens, shown this once (people's are kept as hashes, in %s):\n", p.Tokens())
		e.printTokens(*f.first)
	}
	return err
}

// carryOut writes the files, or shows what it would write.
func (e *env) carryOut(p *install.Plan, dry bool) (installed, error) {
	r := installed{Agent: p.Agent, Program: p.Program, Version: p.Version, Changed: []string{}, Notes: p.Notes}
	for _, c := range p.Changes {
		r.Changed = append(r.Changed, c.Path)
		if dry {
			r.Diff += c.Diff()
		}
	}
	if !dry {
		if err := p.Apply(time.Now()); err != nil {
			return r, err
		}
	}
	if !e.json {
		e.printPlan(p, r, dry)
	}
	return r, nil
}

func (e *env) printPlan(p *install.Plan, r installed, dry bool) {
	title := p.Title
	if p.Version != "" {
		title += " " + p.Version
	}
	e.printf("%s\n", e.ui.word("title", title))
	switch {
	case p.Unchanged():
		e.printf("  nothing to change\n")
	case dry:
		e.printf("%s", e.diff(r.Diff))
	default:
		for _, c := range p.Changes {
			verb := "wrote"
			if c.New == nil {
				verb = "removed"
			}
			e.printf("  %s %s\n", verb, c.Path)
		}
	}
	for _, n := range p.Notes {
		e.printf("  %s %s\n", e.ui.word("warn", "note:"), n)
	}
}

// diff colours what goes and what comes.
func (e *env) diff(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		body := strings.TrimSuffix(l, "\n")
		switch {
		case body == "":
			continue
		case strings.HasPrefix(body, "--- "), strings.HasPrefix(body, "+++ "), strings.HasPrefix(body, "@@"):
			lines[i] = e.ui.word("heading", body) + "\n"
		case body[0] == '-':
			lines[i] = e.ui.word("bad", body) + "\n"
		case body[0] == '+':
			lines[i] = e.ui.word("good", body) + "\n"
		}
	}
	return strings.Join(lines, "")
}

// tryAll runs the canaries of all agents, each of which is told of when it is done, and reports whether one was let through.
func (e *env) tryAll(ctx context.Context, w install.World, full bool, out []installed) (ran bool, err error) {
	if !e.json {
		e.printf("%s\n", e.ui.word("title", "trying a call that must be blocked"))
	}
	var told sync.Mutex
	_, err = each(len(out), func(i int) (bool, error) {
		r := &out[i]
		err := trials(ctx, w, full, r)
		told.Lock()
		defer told.Unlock()
		e.printTrial(r.Agent, "the hook alone", r.Hook)
		e.printTrial(r.Agent, "the real agent", r.Real)
		ran = ran || failed(r.Hook) || failed(r.Real)
		return true, err
	})
	return ran, err
}

// trials runs the canaries of one agent.
func trials(ctx context.Context, w install.World, full bool, r *installed) error {
	hook, err := install.TryHook(ctx, w, r.Agent)
	if err != nil {
		return err
	}
	r.Hook = &hook
	if !full {
		return nil
	}
	real, err := install.TryAgent(ctx, w, r.Agent)
	if err == nil {
		r.Real = &real
	}
	return err
}

func (e *env) printTrial(agent, what string, t *install.Trial) {
	if e.json || t == nil {
		return
	}
	what = agent + ", " + what
	switch {
	case !t.Ran:
		e.printf("  %s: %s: %s\n", what, e.ui.word("warn", "could not be tried"), t.How)
	case t.Blocked:
		e.printf("  %s: %s: %s\n", what, e.ui.word("good", "blocked"), t.How)
	default:
		e.printf("  %s: %s: %s\n", what, e.ui.word("deny", "NOT BLOCKED"), t.How)
		e.printf("    %s\n", e.ui.word("bad", "do not rely on Tidemark for this agent until \"tidemark doctor\" finds nothing wrong"))
	}
}

func (e *env) uninstall(ctx context.Context, f *installFlags, names []string) error {
	w, err := e.installWorld(f)
	if err != nil {
		return err
	}
	out, err := e.settle(ctx, w, f.dry, names, func(name string) (*install.Plan, error) { return install.Removal(w, name) })
	if err != nil {
		return err
	}
	if !f.dry {
		if err := unbox(w, out); err != nil {
			return err
		}
	}
	if e.json {
		return e.printJSON(out)
	}
	return nil
}
