package learn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// maxCondition is how long a condition may get: a policy file takes 8 KiB.
const maxCondition = 7 << 10

// Lesson proposes what would narrow the policy file src. More records may be added after.
func (b *Builder) Lesson(file string, src []byte) (*Lesson, error) {
	base, err := read(file, src)
	if err != nil {
		return nil, err
	}
	all := b.habits()
	out := &Lesson{Agents: []Agent{}, Proposals: []Proposal{}, tools: slices.Sorted(maps.Keys(b.tools))}
	if b.oldest != 0 {
		out.From, out.To = time.Unix(0, b.oldest).UTC(), time.Unix(0, b.newest).UTC()
	}
	for _, h := range all {
		out.Agents = append(out.Agents, h.Agent)
		out.agents = append(out.agents, h.Agent.Agent)
	}
	taken := base.names()
	for _, h := range all {
		if !h.Enough {
			continue
		}
		for _, p := range b.candidates(h, base.set) {
			if taken[p.Name] {
				continue // learned before: a person takes it out to learn it again
			}
			narrows, err := base.narrows(&p, out.tools)
			if err != nil {
				return nil, fmt.Errorf("learn: %s: %w", p.Name, err)
			}
			if narrows {
				out.Proposals = append(out.Proposals, p)
			}
		}
	}
	slices.SortFunc(out.Proposals, func(x, y Proposal) int {
		return cmp.Or(cmp.Compare(x.Backtest.All, y.Backtest.All), cmp.Compare(x.Name, y.Name))
	})
	return out, nil
}

// candidates are all rules the agent's habits suggest, whether or not the policy is as
// strict already.
func (b *Builder) candidates(h *habits, set *policy.Set) []Proposal {
	var out []Proposal
	add := func(p Proposal) {
		p.Agent = h.Agent.Agent
		p.Name = "learned." + slug(p.Agent) + "." + p.Kind
		if p.Tool != "" {
			p.Name += "." + slug(p.Tool)
		}
		if len(p.When) <= maxCondition {
			out = append(out, p)
		}
	}
	is := "agent == " + quote(h.Agent.Agent)
	seen := fmt.Sprintf("%d clean sessions on %d days", h.Clean, h.Days)
	add(h.knownTools(is, seen))
	for _, name := range slices.Sorted(maps.Keys(h.inClean)) {
		n := h.inClean[name]
		if n < b.opts.MinSessions || toolinfo.Of(tool.Definition{Name: name}).Gravity != toolinfo.High {
			continue
		}
		add(Proposal{
			Kind: AskBelow, Tool: name, Effect: "escalate", When: is + " && tool == " + quote(name) + " && taint >= shared",
			Text:     fmt.Sprintf("ask before %s when the context holds shared content or worse", plain(name)),
			Evidence: fmt.Sprintf("%s used in %d of %s", plain(name), n, seen),
		})
		limit := max(2*h.most[name], h.most[name]+3)
		if limit > maxCount {
			continue
		}
		add(Proposal{
			Kind: Burst, Tool: name, Effect: "escalate",
			When:     fmt.Sprintf("%s && tool == %s && calls[%s] >= %d", is, quote(name), quote(name), limit),
			Text:     fmt.Sprintf("ask before %s once it ran %d times in a session", plain(name), limit),
			Evidence: fmt.Sprintf("%s used at most %d times in one of %s", plain(name), h.most[name], seen),
		})
	}
	if p, ok := h.iterations(is, seen, set.For(h.Agent.Agent).Settings().MaxIterations); ok {
		add(p)
	}
	h.backtest(out)
	return out
}

func (h *habits) knownTools(is, seen string) Proposal {
	names := slices.Sorted(maps.Keys(h.used))
	list, shown := make([]string, len(names)), make([]string, len(names))
	for i, name := range names {
		list[i], shown[i] = quote(name), plain(name)
	}
	return Proposal{
		Kind: KnownTools, Effect: "deny", When: is + " && taint >= shared && !(tool in [" + strings.Join(list, ", ") + "])",
		Text:     "deny every tool it has not used in a clean context when the context holds shared content or worse",
		Evidence: fmt.Sprintf("%d tools used from a clean context, with %s: %s", len(names), seen, strings.Join(shown, ", ")),
	}
}

// iterations leaves room: half as much again as the longest turn, and at least two more.
func (h *habits) iterations(is, seen string, now int) (Proposal, bool) {
	most := h.iteration + 1
	limit := max(most+2, (3*most+1)/2)
	if most == 0 || now > 0 && limit >= now {
		return Proposal{}, false
	}
	today := "as many as it takes"
	if now > 0 {
		today = strconv.Itoa(now)
	}
	return Proposal{
		Kind: Iterations, Effect: "block_turn", When: is, From: limit,
		Text:     fmt.Sprintf("end a turn after %d model calls, now %s", limit, today),
		Evidence: fmt.Sprintf("at most %d model calls in a turn of %s", most, seen),
	}, true
}

// backtest judges what ran with the proposals alone: a proposal stops what it is among
// the reasons of.
func (h *habits) backtest(list []Proposal) {
	set, _ := policy.Parse("learned", append([]byte("preset: classic\n"), Fragment(list)...))
	if set == nil {
		return // reported when each proposal is held against the file
	}
	for at, t := range h.turns {
		_, d := set.Turn(&policy.Input{Agent: at.agent, Iteration: at.iteration})
		for i := range list {
			if p := &list[i]; p.Effect == "block_turn" {
				p.Backtest.add(t, named(d, "policies."+p.Name))
			}
		}
	}
	for c, t := range h.calls {
		d := set.Judge(&policy.Input{Tool: c.tool, Agent: c.agent, Taint: c.level, History: ran{c.tool, c.before}})
		for i := range list {
			if p := &list[i]; p.Effect != "block_turn" {
				p.Backtest.add(t, named(d, "rules."+p.Name))
			}
		}
	}
}

func (b *Backtest) add(t tally, stopped bool) {
	b.AllOf += t.all
	b.CleanOf += t.clean
	if stopped {
		b.All += t.all
		b.Clean += t.clean
	}
}

func named(d policy.Decision, rule string) bool {
	return slices.ContainsFunc(d.Reasons, func(r policy.Reason) bool { return r.Rule == rule })
}

// ran is a history in which one tool ran so often.
type ran struct {
	tool string
	n    int
}

// Calls is how often the tool ran.
func (r ran) Calls(name string) int64 {
	if name == r.tool {
		return int64(r.n)
	}
	return 0
}

// Done is nothing a proposal asks about.
func (ran) Done(string) int64 { return 0 }

// Approved is nothing a proposal asks about.
func (ran) Approved(string) int64 { return 0 }

// Marked is nothing a proposal asks about.
func (ran) Marked(string) int64 { return 0 }

// Bounds are nothing a proposal asks about.
func (ran) Bounds() []string { return nil }

// Results is nothing a proposal asks about.
func (ran) Results(string) int64 { return 0 }

// Denied is nothing a proposal asks about.
func (ran) Denied() int64 { return 0 }

// Steps is nothing a proposal asks about.
func (ran) Steps() int64 { return 0 }

// policyFile is a file as a tree and what it means.
type policyFile struct {
	root *configfile.Node
	set  *policy.Set
}

func read(file string, src []byte) (*policyFile, error) {
	root, faults := configfile.Parse(file, src)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	set, found := policy.Parse(file, src)
	if err := found.Err(); err != nil {
		return nil, err
	}
	return &policyFile{root, set}, nil
}

// names are the rules and policies the file has.
func (f *policyFile) names() map[string]bool {
	out := map[string]bool{}
	for _, key := range sections {
		if n := f.root.Get(key); n != nil {
			for _, item := range n.List {
				if name := item.Get("name"); name != nil {
					out[name.Text] = true
				}
			}
		}
	}
	return out
}

// narrows reports whether the proposal makes something stricter and nothing looser.
func (f *policyFile) narrows(p *Proposal, tools []string) (bool, error) {
	after, err := f.with([]Proposal{*p})
	if err != nil {
		return false, err
	}
	grid := Grid{Tools: tools, Agents: []string{p.Agent}} // Apply looks at every tool there is
	if p.Tool != "" {
		grid.Tools = []string{p.Tool}
	}
	stricter, err := grid.Compare(f.set, after)
	return stricter > 0 && err == nil, nil
}
