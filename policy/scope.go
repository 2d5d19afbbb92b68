package policy

import (
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/glob"
	"github.com/tidemark/tidemark/trust"
)

// entry is one mode of taintPolicy or toolOverrides, and where it was said.
type entry struct {
	effect Effect
	rule   string
	pos    configfile.Pos // zero for what is shipped
	given  bool
	floor  bool // of a shipped override: never looser than the level's mode
	shows  bool // of Deny: the tool stays in the agent's list
}

// word is the entry as a file says it.
func (e entry) word() string {
	switch {
	case e.effect == Allow:
		return "allow"
	case e.effect == Confirm:
		return "ask"
	case e.shows:
		return "deny"
	}
	return "hide"
}

// stricter reports whether the entry leaves less than another one.
func (e entry) stricter(than entry) bool {
	return e.effect < than.effect || e.effect == than.effect && than.shows && !e.shows
}

// override is what toolOverrides say about one tool.
type override struct {
	any   entry // "*"
	level [trust.NumLevels]entry
}

// at is the entry for a level: its own key, or "*".
func (o *override) at(l trust.Level) entry {
	if o == nil {
		return entry{}
	}
	if o.level[l].given {
		return o.level[l]
	}
	return o.any
}

// output is what a tool's response brings into the context.
type output struct {
	level trust.Level
	rule  string
}

// step is a stricter taint policy from some iteration on.
type step struct {
	from   int
	levels [trust.NumLevels]entry
}

// rule is a static rule.
type rule struct {
	reason Reason // as it appears in a decision when the rule matches
	tools  toolset
	when   *condition // nil: always
	past   *past      // nil: whatever ran before
}

// layer is a list of static rules with the effect of none of them matching. The
// file is one layer, an agent's own rules are another: the stricter of both counts,
// so that an agent's allow cannot undo the file's default.
type layer struct {
	rules []*rule
	def   Effect
	rule  string
	pos   configfile.Pos
}

// declared is a declarative policy (seed 5's form).
type declared struct {
	reason  Reason
	levels  uint8 // bits of the levels it waits for; 0: any context
	from    int   // iteration it starts at
	when    *condition
	remove  toolset // refused and hidden
	block   toolset // refused, still visible
	turn    bool    // blocks the turn
	log     bool
	persist bool
}

// scope is what a file, or one agent in it, decides about tools.
type scope struct {
	parent        *scope // of an agent: what it can only tighten
	levels        [trust.NumLevels]entry
	overrides     map[string]*override
	outputs       map[string]output
	steps         []step // ascending; each at least as strict as the one before
	layers        []layer
	policies      []*declared
	needs         *table  // what stands behind a call at least; nil: nothing is asked for
	preset        []*rule // they stand in for a level's mode, and give way where the file has one
	maxIterations int
	capPos        configfile.Pos
	hideConfirm   bool
}

// mode is what taint alone says about a tool: its override, or the level's mode
// at this depth. An agent's say counts only where it is stricter.
func (s *scope) mode(name string, l trust.Level, iteration int) entry {
	own := s.overrides[name].at(l)
	if s.parent == nil {
		level := s.levels[l]
		for _, st := range s.steps {
			if iteration >= st.from {
				level = st.levels[l]
			}
		}
		if !own.given || own.floor && level.stricter(own) {
			return level
		}
		return own
	}
	base := s.parent.mode(name, l, iteration)
	if o := s.parent.overrides[name].at(l); !own.given && (!o.given || o.floor) {
		own = s.levels[l]
	}
	if own.given && own.stricter(base) {
		return own
	}
	return base
}

// warrants is the table in force: an agent can only ask for more than the file does.
func (s *scope) warrants() *table {
	if s.parent == nil {
		return s.needs
	}
	return s.parent.needs.stricter(s.needs)
}

// root is the file's own scope.
func (s *scope) root() *scope {
	if s.parent != nil {
		return s.parent
	}
	return s
}

// output is what the tool's response is trusted as; unknown tools are untrusted.
func (s *scope) output(name string) output {
	out, ok := s.outputs[name]
	if s.parent == nil {
		if !ok {
			return output{level: trust.Untrusted, rule: "unknown-tool"}
		}
		return out
	}
	if base := s.parent.output(name); !ok || base.level <= out.level {
		return base
	}
	return out
}

// annotation is what a tool is, as far as somebody said so.
type annotation struct {
	source, sink, sensitive *bool
	reads                   []string // the definitions of it that only read
}

func said(b *bool, otherwise bool) bool {
	if b == nil {
		return otherwise
	}
	return *b
}

// toolset is a list of tools by name or pattern.
type toolset struct {
	names map[string]bool
	globs []string
}

func (t toolset) has(name string) bool {
	if t.names[name] {
		return true
	}
	for _, g := range t.globs {
		if glob.Match(g, name) {
			return true
		}
	}
	return false
}

func everyTool() toolset { return toolset{globs: []string{"*"}} }

func tools(names ...string) toolset {
	t := toolset{names: make(map[string]bool, len(names))}
	for _, n := range names {
		t.names[n] = true
	}
	return t
}
