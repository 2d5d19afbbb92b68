package policy

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark/internal/base/glob"
	"github.com/tidemark/tidemark/internal/base/redact"
	"github.com/tidemark/tidemark/internal/warrant/given"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// The bounds on remembering tools that only a pattern knows. A model can invent
// names, and long ones; beyond the bounds they cost time, not memory.
const (
	maxSeen = 1024
	maxName = 256
)

// Set is a compiled policy. It never changes: what it keeps for later are answers
// it would compute again the same. It is safe for concurrent use.
type Set struct {
	version   string
	settings  Settings
	box       Box
	without   trust.Level
	named     []string
	warnings  Faults
	opened    Faults
	agents    map[string]*Set
	redactor  *redact.Redactor
	asksFacts bool // some rule asks what calls do or where values came from
	remembers bool // some rule asks what ran before, or who may read what came in

	scope  *scope
	needs  *table // what stands behind a call at least; nil: nothing is asked for
	facts  *facts
	bounds []int    // iterations at which some rule changes its mind, ascending
	common classes  // of tools that no declarative policy names
	other  *row     // of every tool that nothing names
	globs  []string // patterns that may fit such a tool
	turn   []*declared
	going  Decision // of a turn that may go on
	room   int      // how many rows are kept at most

	acts    sync.Pool // *activation
	readers sync.Pool // *shell.Reader
	shells  sync.Map  // of the shells that were asked about: from name to *meaning.Meaning

	rows   atomic.Pointer[map[string]*row] // of tools that are named, and of those seen that a pattern fits
	rowsMu sync.Mutex                      // held to replace rows
}

// facts are what the file says about tools whoever the agent is.
type facts struct {
	annotations map[string]annotation
	trustRules  []*trustRule
	trifecta    entry
	memory      []pathPattern
	writers     toolset
	labelled    toolset
	vouched     toolset
	told        toolset
	held        toolset
	caution     *caution
	groups      map[string]members
	given       []*given.Mandate
	readers     map[string]*trustRule // by name, those that say who may read what comes
}

// For is the set that holds for an agent: the same one if the file says nothing of it.
func (s *Set) For(agent string) *Set {
	if own, ok := s.agents[agent]; ok {
		return own
	}
	// What the file says of claude holds for claude@laptop too, of which it says nothing itself.
	if i := strings.LastIndexByte(agent, '@'); i > 0 {
		if own, ok := s.agents[agent[:i]]; ok {
			return own
		}
	}
	return s
}

// Version identifies the policy: 16 hexadecimal digits of a hash over what the
// file says and what is shipped. Comments and layout do not change it.
func (s *Set) Version() string { return s.version }

// Facts reports whether some rule asks what a call does or where its values came from.
func (s *Set) Facts() bool { return s.asksFacts }

// Settings are the plain values.
func (s *Set) Settings() Settings { return s.settings }

// Tools are the tools the file or the shipped tables know by name, sorted.
func (s *Set) Tools() []string { return slices.Clone(s.named) }

// Warnings are what was corrected or ignored when the file was read.
func (s *Set) Warnings() Faults { return slices.Clone(s.warnings) }

// Opened are the entries of the file that let every call of a tool run, for whoever checks it.
func (s *Set) Opened() Faults { return slices.Clone(s.opened) }

// compile makes the Set of a file that has no errors.
func (r *reader) compile(redactor *redact.Redactor) *Set {
	f := &facts{
		r.annotations, r.trustRules, r.trifecta, r.memory, r.writers, r.labelled, r.vouched, r.told, r.held, &r.caution, r.cel.groups,
		r.given, map[string]*trustRule{},
	}
	for _, t := range r.trustRules {
		if t.binds {
			f.readers[strings.TrimPrefix(t.rule, "trustRules.")] = t
		}
	}
	set := r.compileScope(r.base, f)
	set.redactor = redactor
	set.agents = make(map[string]*Set, len(r.agents))
	for name, s := range r.agents {
		set.agents[name] = r.compileScope(s, f)
		set.agents[name].redactor = redactor
	}
	return set
}

func (r *reader) compileScope(sc *scope, f *facts) *Set {
	s := &Set{
		settings: r.settings, box: r.box, without: r.without, warnings: public(r.Faults).Warnings(), opened: public(r.opened),
		named: slices.Sorted(maps.Keys(r.named)),
		scope: sc, needs: sc.warrants(), facts: f, bounds: sc.bounds(),
	}
	s.settings.MaxIterations, s.settings.HideConfirm = sc.maxIterations, sc.hideConfirm
	s.acts.New = func() any { return new(activation) }
	s.readers.New = newShellReader
	s.going = s.below()
	for _, p := range sc.policies {
		if p.turn || p.log || p.persist {
			s.turn = append(s.turn, p)
		}
	}
	s.asksFacts, s.remembers = sc.asksFacts(f), len(f.readers) > 0 || sc.looksBack()
	s.common = s.classify(nil)
	s.other = s.newRow("")
	names := maps.Clone(f.writers.names)
	maps.Copy(names, r.named)
	rows := make(map[string]*row, len(names))
	for name := range names {
		rows[name] = s.newRow(name)
	}
	s.rows.Store(&rows)
	s.globs = s.patterns()
	s.room = len(rows) + maxSeen
	return s
}

// patterns are all tool patterns but "*", which fits every tool alike.
func (s *Set) patterns() []string {
	var out []string
	add := func(t toolset) {
		for _, g := range t.globs {
			if g != "*" && !slices.Contains(out, g) {
				out = append(out, g)
			}
		}
	}
	for _, l := range s.scope.layers {
		for _, u := range l.rules {
			add(u.tools)
		}
	}
	for _, p := range s.scope.policies {
		add(p.remove)
		add(p.block)
	}
	for _, t := range s.facts.trustRules {
		add(t.tools)
	}
	add(s.facts.writers)
	add(s.facts.labelled)
	add(s.facts.vouched)
	add(s.facts.told)
	add(s.facts.held)
	return out
}

// row is what the set knows about a tool.
func (s *Set) row(name string) *row {
	rows := *s.rows.Load()
	if r := rows[name]; r != nil {
		return r // keys are normalised, so this name is too
	}
	name = tool.Name(name) // a spelling must not be a way around a rule
	if r := rows[name]; r != nil {
		return r
	}
	for _, g := range s.globs {
		if glob.Match(g, name) {
			return s.remember(name)
		}
	}
	return s.other
}

func (s *Set) remember(name string) *row {
	if len(name) > maxName {
		return s.newRow(name)
	}
	name = strings.Clone(name) // it may be part of a larger text
	r := s.newRow(name)
	s.rowsMu.Lock()
	defer s.rowsMu.Unlock()
	old := *s.rows.Load()
	if known := old[name]; known != nil {
		return known
	}
	if len(old) < s.room {
		next := maps.Clone(old)
		next[name] = r
		s.rows.Store(&next)
	}
	return r
}
