package verifier

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/tidemark/tidemark/tool"
)

// plan is what holds for one agent: the file's part and the agent's own, which is empty
// for agents without an override. A call is verified if either covers it, by all
// authorities of those that do.
type plan struct {
	file     part
	own      part
	both     []authority // of file and own
	failMode FailMode
	cache    time.Duration
}

// part is a scope and who is asked within it.
type part struct {
	on    bool
	scope scope
	asks  []authority
}

func (p *part) covers(name string) bool { return p.on && p.scope.covers(name) }

// asked is who decides about a tool; nobody where it is not verified.
func (p *plan) asked(name string) []authority {
	file, own := p.file.covers(name), p.own.covers(name)
	switch {
	case file && own:
		return p.both
	case file:
		return p.file.asks
	case own:
		return p.own.asks
	}
	return nil
}

// scope is a Scope with normalised names.
type scope struct {
	names map[string]bool
	only  bool // names are all that is covered; else all that is not
}

func newScope(s Scope) scope {
	out := scope{names: map[string]bool{}, only: len(s.Include) > 0}
	for _, name := range slices.Concat(s.Include, s.Exclude) {
		out.names[tool.Name(name)] = true
	}
	return out
}

func (s scope) covers(name string) bool { return s.names[name] == s.only }

// why says in words what covers decided.
func (s scope) why(name string) string {
	switch {
	case s.only && s.names[name]:
		return "scope.include lists it"
	case s.only:
		return "scope.include does not list it"
	case s.names[name]:
		return "scope.exclude lists it"
	case len(s.names) > 0:
		return "scope.exclude does not list it"
	}
	return "the scope is all tools"
}

// build makes the plans of checked options.
func (v *Verifier) build(o Options) {
	var hook, person []authority // each one or none
	if c := o.Config.Webhook; c != nil {
		hook = v.addWebhook(c, "")
	}
	if t := o.Config.Telegram; t != nil && o.Telegram != nil {
		person = []authority{&telegram{asker: o.Telegram, timeout: cmp.Or(t.Timeout, DefaultTelegramTimeout)}}
	}
	file := part{on: o.Config.Enabled, scope: newScope(o.Config.Scope), asks: hook}
	if t := o.Config.Telegram; t != nil && t.Enabled {
		file.asks = slices.Concat(hook, person)
	}
	v.file = &plan{file: file, failMode: cmp.Or(o.Config.FailMode, Deny), cache: o.Config.Cache}
	for _, name := range slices.Sorted(maps.Keys(o.Agents)) {
		a := o.Agents[name]
		own := part{on: a.on(&o.Config), scope: file.scope, asks: hook}
		if len(a.Scope.Include)+len(a.Scope.Exclude) > 0 {
			own.scope = newScope(a.Scope)
		}
		if a.Webhook != nil {
			own.asks = v.addWebhook(a.Webhook, name)
		}
		if a.telegram(&o.Config) {
			own.asks = slices.Concat(own.asks, person)
		}
		v.agents[name] = v.file.with(own, &a)
	}
}

// with is the plan of an agent. Where it and the file differ, the stricter counts.
func (p *plan) with(own part, a *Override) *plan {
	out := &plan{file: p.file, own: own, both: slices.Clone(p.file.asks), failMode: p.failMode, cache: p.cache}
	for _, x := range own.asks {
		if !slices.Contains(out.both, x) {
			out.both = append(out.both, x)
		}
	}
	if a.FailMode == Deny {
		out.failMode = Deny
	}
	if a.Cache != nil {
		out.cache = min(out.cache, *a.Cache)
	}
	return out
}

func (v *Verifier) addWebhook(c *WebhookConfig, agent string) []authority {
	w := newWebhook(c, agent, v.client, v.now)
	v.hooks = append(v.hooks, w)
	return []authority{w}
}
