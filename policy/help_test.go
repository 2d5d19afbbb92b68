package policy_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// seedPolicies are the four examples of seed 5, as written there.
const seedPolicies = `# provenance-policy.yaml
policies:
  # If any external content is in context, remove exec tool
  - name: no-exec-when-tainted
    when:
      context_taint_includes: [external, untrusted]
    action:
      remove_tools: [exec]
      
  # If untrusted content is present, block all outgoing messages
  - name: no-send-when-untrusted
    when:
      context_taint_includes: [untrusted]
    action:
      block_tools: [message]
      
  # If recursion depth > 5, abort (runaway loop)
  - name: max-recursion
    when:
      iteration_gte: 5
    action:
      block_turn: true
      reason: "Max recursion depth exceeded"
      
  # Log all turns that touch external content
  - name: audit-external
    when:
      context_taint_includes: [external]
    action:
      log_full_context: true
      persist_graph: true
`

// mustParse is the Set of a file that has no errors.
func mustParse(t testing.TB, src string) *policy.Set {
	t.Helper()
	set, faults := policy.Parse("policy.yaml", named(src))
	if err := faults.Err(); err != nil {
		t.Fatalf("parse:\n%s", faults.Render([]byte(src)))
	}
	return set
}

// call is an Input for a call with these arguments.
func call(name, args string) *policy.Input {
	a := tool.NewArgs([]byte(args))
	return &policy.Input{Tool: name, Args: &a, Taint: trust.System}
}

// asked is an Input for a tool without arguments, at a level.
func asked(name string, l trust.Level) *policy.Input { return &policy.Input{Tool: name, Taint: l} }

// modes writes the effect of a tool at each level, system first.
func modes(s *policy.Set, name string) string {
	var out []string
	for _, l := range trust.Levels() {
		out = append(out, s.Judge(asked(name, l)).Effect.Mode())
	}
	return strings.Join(out, " ")
}

// rules are the names of a decision's reasons, in order.
func rules(d policy.Decision) []string {
	var out []string
	for _, r := range d.Reasons {
		out = append(out, r.Rule+":"+r.Effect.String())
	}
	return out
}

// past is a History.
type past struct {
	calls, results map[string]int64
	denied, steps  int64

	done, approved, marked map[string]int64
	bounds                 []string
}

func (p past) Calls(name string) int64    { return p.calls[name] }
func (p past) Results(name string) int64  { return p.results[name] }
func (p past) Done(name string) int64     { return p.done[name] }
func (p past) Approved(name string) int64 { return p.approved[name] }
func (p past) Marked(mark string) int64   { return p.marked[mark] }
func (p past) Bounds() []string           { return p.bounds }
func (p past) Denied() int64              { return p.denied }
func (p past) Steps() int64               { return p.steps }

// named is a file that judges by levels alone, unless it names a preset itself.
func named(file string) []byte {
	switch {
	case strings.Contains(file, "preset"):
		return []byte(file)
	case strings.HasPrefix(strings.TrimSpace(file), "{"):
		return []byte(strings.Replace(file, "{", `{"preset": "classic", `, 1))
	}
	return []byte(file + "\npreset: classic\n")
}

// classic is the preset of the first design.
func classic() *policy.Set {
	set, _ := policy.Parse("", []byte("preset: classic"))
	return set
}
