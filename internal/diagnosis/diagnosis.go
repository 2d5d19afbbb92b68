// Package diagnosis is tidemark doctor: it looks at the server, the data folder, the doors and the agents of this machine, and hands what
// it finds to the checks of internal/reports/doctor.
package diagnosis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/build"
	"github.com/tidemark/tidemark/internal/base/memlimit"
	"github.com/tidemark/tidemark/internal/base/peer"
	"github.com/tidemark/tidemark/internal/box/trial"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/policies"
	"github.com/tidemark/tidemark/internal/reports/doctor"
	"github.com/tidemark/tidemark/internal/services"
)

// Options say what to examine.
type Options struct {
	Paths    datafolder.Paths
	Agents   []string      // by name; none: all that are known
	World    install.World // where agents are looked for
	Deep     bool          // try the real agents too
	Progress func(name string)
	// Box makes a box and tries it; nil: it is not tried. It starts this program once more, which must know what that is for.
	Box func(trial.Around) ([]trial.Row, error)
	// Program is what agents start as a relay: this program; "": what MCP servers share is not tried. Nor is it where agents are named.
	Program string
	// Serve starts a server for a trial, and says where it listens and its agents' token; nil: what MCP servers share is not tried.
	Serve func(ctx context.Context, p datafolder.Paths) (url, token string, stop func(context.Context) error, err error)
}

// Diagnosis is what the doctor found.
type Diagnosis = doctor.Report

// Agents are the agents the doctor knows.
func Agents() []string { return install.Names() }

// Examine examines the server, the data folder, every door and the agents.
func Examine(ctx context.Context, o Options) (Diagnosis, error) {
	for _, name := range o.Agents {
		if !slices.Contains(install.Names(), name) {
			return Diagnosis{}, fmt.Errorf("unknown agent %q (want one of %s)", name, strings.Join(install.Names(), ", "))
		}
	}
	s := examined(o.Paths)
	checks := o.here(s)
	names := o.Agents
	if len(names) == 0 {
		names = install.Names()
	}
	if h := hosts(names); len(h) > 0 && s.Away == nil {
		checks = append(checks, doctor.CheckHosts(s, func(ctx context.Context) []string { return hooked(ctx, o.World, h) }))
	}
	for _, name := range names {
		checks = append(checks, doctor.CheckAgent(o.agent(name, s.URL)))
	}
	if o.Box != nil {
		checks = append(checks, doctor.CheckBox(func() ([]doctor.BoxRow, error) { return o.tryBox(s.URL) }))
	}
	checks = append(checks, doctor.CheckServers(func() ([]doctor.MCPServer, error) { return serversOf(o.World, o.Agents) }))
	if o.Program != "" && o.Serve != nil && len(o.Agents) == 0 {
		checks = append(checks, doctor.CheckTaint(o.Program, o.bench))
	}
	return doctor.Examine(ctx, append(checks, doctor.Limits()), o.Progress), nil
}

// here are the checks of the server and its data folder. Of one elsewhere that this machine has joined only the way to it is ours to
// look at.
func (o Options) here(s doctor.Server) []doctor.Check {
	hook := doctor.HookDoor(o.World.Hook, o.Paths.Data)
	if s.Away != nil {
		return []doctor.Check{doctor.CheckServer(s), doctor.CheckTickets(s), doctor.CheckDoors([]doctor.Door{hook})}
	}
	return []doctor.Check{
		doctor.CheckServer(s),
		doctor.CheckTokens(s, o.Paths.Tokens()),
		doctor.CheckTickets(s),
		doctor.CheckStore(examinedStore(o.Paths, s.URL != "")),
		doctor.CheckApprovals(s, func(ctx context.Context) ([]doctor.Part, error) { return partsOf(ctx, o.Paths) }),
		doctor.CheckReader(func(ctx context.Context) (doctor.Reader, error) { return services.ReaderOf(ctx, o.Paths) }),
		doctor.CheckDoors([]doctor.Door{
			doctor.HTTPDoor(s.URL, s.Tokens.Agent),
			doctor.LLMDoor(s.URL, s.Tokens.Agent),
			hook,
		}),
	}
}

// bench starts a monitor for a trial: nothing of it is anybody's, it asks nobody, and it goes with its folder.
func (o Options) bench(ctx context.Context, upstream string) (doctor.Bench, error) {
	data, err := os.MkdirTemp("", "tidemark-doctor-")
	if err != nil {
		return doctor.Bench{}, err
	}
	gone := func(err error) (doctor.Bench, error) { return doctor.Bench{}, errors.Join(err, os.RemoveAll(data)) }
	p := datafolder.Paths{Data: data, Config: filepath.Join(data, datafolder.PolicyName)}
	// Nobody is there to answer, so nothing waits.
	file := fmt.Sprintf("mcp: {wait: 1ms, servers: {board: {url: %q}}}\n", upstream)
	if err := os.WriteFile(p.Config, []byte(file), 0o600); err != nil {
		return gone(err)
	}
	url, token, end, err := o.Serve(ctx, p)
	if err != nil {
		return gone(err)
	}
	stop := func() error { return errors.Join(end(context.WithoutCancel(ctx)), os.RemoveAll(data)) }
	return doctor.Bench{URL: url, Token: token, Data: data, Stop: stop}, nil
}

// tryBox tries a box, with this data folder and this server as they are.
func (o Options) tryBox(server string) ([]doctor.BoxRow, error) {
	a := trial.Around{Monitor: strings.TrimPrefix(strings.TrimSuffix(server, "/"), "http://")}
	var err error
	if a.Data, err = filepath.Abs(o.Paths.Data); err != nil {
		return nil, fmt.Errorf("find data folder: %w", err)
	}
	if _, err := os.Stat(a.Data); err != nil {
		a.Data = "" // there is none yet
	}
	rows, err := o.Box(a)
	out := make([]doctor.BoxRow, len(rows))
	for i, r := range rows {
		out[i] = doctor.BoxRow(r)
	}
	return out, err
}

// examined is the server that has announced itself, if any.
func examined(p datafolder.Paths) doctor.Server {
	s := doctor.Server{Version: build.Version(), OnDisk: func() (doctor.Policy, error) {
		now, err := policies.OnDisk(p)
		return doctor.Policy(now), err
	}}
	away, token, err := datafolder.JoinedTo(p)
	if s.Fault = err; away != nil {
		s.URL, s.Away, s.Tickets = away.URL, func(ctx context.Context) error { return datafolder.Reach(ctx, away, token) }, true
		return s
	}
	r, err := datafolder.FindRunning(p)
	if err != nil && !errors.Is(err, datafolder.ErrNotRunning) {
		s.Fault = err
	}
	s.URL = r.URL
	if _, err := os.Stat(p.Tokens()); errors.Is(err, fs.ErrNotExist) { // LoadTokens would make them
		s.TokenErr = fmt.Errorf("%s does not exist (the first start makes it: tidemark serve)", p.Tokens())
		return s
	}
	t, _, err := accounts.LoadTokens(p.Tokens())
	s.Tokens, s.TokenErr = doctor.Tokens{Agent: t.Agent, Reader: t.Reader, Owner: t.Owner, Approver: t.Approver, Admin: t.Admin}, err
	s.Tickets = t.Tickets == "required"
	if cfg, _, err := load.ReadWith(p.Config, os.LookupEnv); err == nil {
		s.Memory = memoryLine(cfg, memlimit.Given())
		if cfg.Server.Tickets != "" {
			s.Tickets = cfg.Server.Tickets == "required"
		}
	}
	if !peer.Known || !peer.Fits(p.Data) {
		s.Unseen = "this system does not tell which process speaks, or the data folder's name is too long for a socket"
	}
	return s
}

func examinedStore(p datafolder.Paths, running bool) doctor.Store {
	s := doctor.Store{Folder: p.Data, Exists: p.CheckLog() == nil}
	s.Read = func(ctx context.Context) (doctor.Log, func() error, error) {
		r, err := installation.ReadLog(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		return r, r.Close, nil
	}
	if !running {
		s.Write = func(ctx context.Context) error {
			w, _, err := installation.WriteLog(ctx, p)
			if err != nil {
				return err
			}
			return errors.Join(w.Ping(ctx), w.Close())
		}
	}
	return s
}

func partsOf(ctx context.Context, p datafolder.Paths) ([]doctor.Part, error) {
	parts, err := services.Status(ctx, p)
	out := make([]doctor.Part, len(parts))
	for i, q := range parts {
		out[i] = doctor.Part{Name: q.Name, OK: q.OK, Detail: q.Detail, Fault: q.Fault}
	}
	return out, err
}

// hosts are those of the agents whose plugin runs inside them and gives signs of life.
func hosts(names []string) []*catalogue.Setup {
	return slices.DeleteFunc(catalogue.Setups(), func(s *catalogue.Setup) bool { return !s.Inside() || !slices.Contains(names, s.Name) })
}

// hooked are the hosts from which signs of life are expected.
func hooked(ctx context.Context, w install.World, hosts []*catalogue.Setup) []string {
	var out []string
	for _, h := range hosts {
		if s, err := install.Inspect(ctx, w, h.Name); err == nil && s.Hooked {
			out = append(out, h.Name)
		}
	}
	return out
}

// agent is how to examine one agent.
func (o Options) agent(name, server string) doctor.Agent {
	a := doctor.Agent{Name: name, Asked: slices.Contains(o.Agents, name), Server: server}
	w := o.World
	a.Inspect = func(ctx context.Context) (doctor.State, error) {
		s, err := install.Inspect(ctx, w, name)
		if err == nil && !s.Hooked && w.Project == "" { // the administrator may have done it
			managed := w
			managed.Managed = true
			if m, err := install.Inspect(ctx, managed, name); err == nil && m.Hooked {
				s, w = m, managed
			}
		}
		return stateOf(s), err
	}
	if found := hosts([]string{name}); len(found) > 0 { // nothing is started at its hooks; its signs of life are under hosts
		for _, h := range found[0].Holes {
			a.Holes = append(a.Holes, doctor.Hole(h))
		}
		a.Models = modelsOf(w, name)
	} else {
		a.Hook = &doctor.Door{Name: "hook", Try: func(ctx context.Context) (doctor.Trial, error) {
			t, err := install.TryHook(ctx, w, name)
			return doctor.Trial(t), err
		}}
	}
	a.Boxes = func(version string) doctor.Boxes { return boxesOf(o.World, name, version) }
	if o.Deep {
		a.Real = &doctor.Door{Name: "agent itself", Try: func(ctx context.Context) (doctor.Trial, error) {
			t, err := install.TryAgent(ctx, w, name)
			return doctor.Trial(t), err
		}}
	}
	return a
}

// stateOf leaves out the one case that is true of every agent of a person with a shell: it
// is among the limits, once.
func stateOf(s install.State) doctor.State {
	out := doctor.State{
		Version: s.Version, Found: s.Found, Hooked: s.Hooked, Intact: s.Intact, Files: s.Files, Problems: s.Problems,
	}
	for _, c := range s.FailsOpen {
		if c.Text != install.SameUser {
			out.FailsOpen = append(out.FailsOpen, doctor.Case(c))
		}
	}
	return out
}

// modelsOf reads where a host gets its models from: OpenClaw, the one there is. A file that
// cannot be read names none, and then its holes are open.
func modelsOf(w install.World, name string) *doctor.Models {
	m := &doctor.Models{}
	w.Project, w.Managed = "", false
	path, err := install.SettingsFile(w, name)
	if err != nil {
		return m
	}
	src, err := settings.ReadFile(path)
	if err != nil {
		return m
	}
	o, _ := config.ReadOpenClaw(path, src)
	m.Included, m.Replaces = o.Included, o.Replaces
	for _, p := range o.Providers {
		m.Providers = append(m.Providers, doctor.Provider(p))
	}
	return m
}

// boxesOf says how an agent's commands and boxes stand.
func boxesOf(w install.World, name, version string) doctor.Boxes {
	a := catalogue.Lookup(name)
	if s, err := catalogue.FindSetup(name); err == nil && s.Unboxed != "" {
		return doctor.Boxes{Off: true, Text: s.Unboxed}
	}
	again := "tidemark install " + name + " --box"
	b, err := shim.ReadBoxing(w.Data, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return doctor.Boxes{Off: true, Text: "not switched on", Fix: again}
	case err != nil:
		return doctor.Boxes{Text: "the note of its trial cannot be read: " + err.Error(), Fix: again}
	case b.Trial != "" || len(b.Agent) == 0:
		return doctor.Boxes{Text: "its trial did not end", Fix: again}
	case b.Kernel != shim.Kernel():
		return doctor.Boxes{Text: fmt.Sprintf("boxes were tried on kernel %s, and this is %s", b.Kernel, shim.Kernel()), Fix: again}
	case b.Version != version:
		return doctor.Boxes{Text: fmt.Sprintf("version %s was tried, and this is %s", b.Version, version), Fix: again}
	}
	if info, err := os.Stat(b.Program); err != nil || !info.Mode().IsRegular() {
		return doctor.Boxes{Text: b.Program + " is not there any more", Fix: again}
	}
	if own := install.PrefixTaken(w, name); own != "" {
		return doctor.Boxes{Text: "it starts its commands with " + own + " instead of our program", Fix: again}
	}
	if on := install.OwnSandbox(w, name); on != "" {
		return doctor.Boxes{Text: on, Fix: "one of the two: take its own out of its settings, or tidemark install " + name}
	}
	text := fmt.Sprintf("version %s, seen to obey at %s", b.Version, b.Tried.Local().Format("2006-01-02 15:04"))
	if a.Rewrite != nil && a.Rewrite.When != "" {
		text += "; " + a.Rewrite.When
	}
	return doctor.Boxes{On: true, Text: strings.TrimSpace(text)}
}
