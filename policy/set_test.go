package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func TestVersionFollowsTheMeaning(t *testing.T) {
	base := mustParse(t, "taintPolicy: {shared: allow, external: ask}\nmaxIterations: 5\n").Version()
	if len(base) != 16 || strings.Trim(base, "0123456789abcdef") != "" {
		t.Errorf("got version %q, want 16 hexadecimal digits", base)
	}
	for _, same := range []string{
		"# a comment\nmaxIterations: 0x5\ntaintPolicy:\n  external: 'ask'\n  shared: allow\n",
		`{"maxIterations": 5, "taintPolicy": {"external": "ask", "shared": "allow"}}`,
		"taintPolicy: {shared: allow, external: ask}\nmaxIterations: 5\nserver: {listen: x}\n",
	} {
		if got := mustParse(t, same).Version(); got != base {
			t.Errorf("%s: got another version", same)
		}
	}
	for _, other := range []string{
		"", "taintPolicy: {shared: allow, external: ask}\nmaxIterations: 6\n", "taintPolicy: {shared: allow, external: ask}\n",
		"taintPolicy: {shared: allow, external: ask}\nmaxIterations: 5\npreset: permissive\n",
		"taintPolicy: {shared: allow, external: ask}\nmaxIterations: 5\nrules: [{name: a, effect: deny}, {name: b, effect: deny}]\n",
	} {
		if got := mustParse(t, other).Version(); got == base {
			t.Errorf("%q has the same version", other)
		}
	}
	a := mustParse(t, "rules: [{name: a, effect: deny}, {name: b, effect: deny}]").Version()
	if b := mustParse(t, "rules: [{name: b, effect: deny}, {name: a, effect: deny}]").Version(); a == b {
		t.Errorf("the order of rules does not change the version")
	}
}

func TestToolsListsWhatIsKnownByName(t *testing.T) {
	s := mustParse(t, `
toolOverrides: {Zeta: {"*": allow}}
rules: [{name: r, tools: [alpha, "glob_*"], effect: deny}]
policies: [{name: p, action: {block_tools: [beta]}}]
annotations: {gamma: {}}
`)
	got := s.Tools()
	if !slices.IsSorted(got) {
		t.Errorf("not sorted: %v", got)
	}
	for _, name := range []string{"alpha", "beta", "gamma", "zeta", "exec", "web_fetch"} {
		if !slices.Contains(got, name) {
			t.Errorf("%s is missing in %v", name, got)
		}
	}
	if slices.Contains(got, "glob_*") || slices.Contains(got, "") {
		t.Errorf("%v holds what is no tool", got)
	}
	got[0] = "changed"
	if s.Tools()[0] == "changed" {
		t.Errorf("the caller can change the set")
	}
}

func TestWarningsStayWithTheSet(t *testing.T) {
	s, faults := policy.Parse("p.yaml", []byte("preset: classic\ntaintPolicy: {shared: hide}\n"))
	if len(s.Warnings()) != 2 || len(faults) != 2 || !s.Warnings()[0].Warning {
		t.Errorf("got %v, want the two corrected levels", s.Warnings())
	}
	if len(policy.Default().Warnings()) != 0 {
		t.Errorf("the default set has warnings")
	}
}

// A line of levels takes the place of a whole table; who wrote it is told, once, and not where
// they said so themselves.
func TestATaintPolicyOverATableIsWarnedAbout(t *testing.T) {
	for text, want := range map[string]int{
		"taintPolicy: {shared: allow}\n":                             1,
		"preset: strict\ntaintPolicy: {untrusted: hide}\n":           1,
		"preset: classic\ntaintPolicy: {shared: ask}\n":              0,
		"preset: permissive\ntaintPolicy: {untrusted: hide}\n":       0,
		"taintPolicy: {}\n":                                          1, // no level is named, and the table is gone all the same
		"agents: {helper: {taintPolicy: {shared: hide}}}\n":          0,
		"toolOverrides: {exec: {external: hide, untrusted: hide}}\n": 0,
	} {
		got := 0
		s, _ := policy.Parse("p.yaml", []byte(text))
		for _, w := range s.Warnings() {
			if strings.Contains(w.Text, "switches the table of") {
				got++
			}
		}
		if got != want {
			t.Errorf("%q: %d warnings that the table is off, want %d: %v", text, got, want, s.Warnings())
		}
	}
}

func TestParseTakesNothingForAnEmptyFile(t *testing.T) {
	s, faults := policy.Parse("p.yaml", nil)
	if s == nil || faults != nil || s.Version() != policy.Default().Version() {
		t.Errorf("got %v, want the default", faults)
	}
}

// A set is shared by all sessions: its memory of tools must be safe, and bounded.
func TestASetIsSafeForConcurrentUse(t *testing.T) {
	s := mustParse(t, "rules: [{name: r, tools: ['mcp__*'], when: 'args.x == 1', effect: deny}, {name: all, tools: ['tool_*'], effect: ask}]")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 1500 {
				if d := s.Judge(call(fmt.Sprintf("mcp__%d", i), `{"x":1}`)); d.Effect != policy.Deny {
					t.Errorf("tool %d: got %s, want deny", i, d.Effect)
				}
				if d := s.Judge(asked(fmt.Sprintf("tool_%d", i%10), trust.Owner)); d.Effect != policy.Confirm {
					t.Errorf("got %s, want confirm", d.Effect)
				}
				traits(s, "exec", `{"command":"ls | grep x"}`)
			}
		})
	}
	wg.Wait()
}

func TestALongNameIsJudgedLikeAnyOther(t *testing.T) {
	s := mustParse(t, "rules: [{name: r, tools: ['mcp__*'], effect: deny}]")
	if d := s.Judge(asked("mcp__"+strings.Repeat("x", 5000), trust.Owner)); d.Effect != policy.Deny {
		t.Errorf("got %s, want deny", d.Effect)
	}
}

func TestJudgeAndTraitsDoNotAllocate(t *testing.T) {
	s := mustParse(t, seedPolicies+"rules: [{name: r, tools: ['mcp__*'], effect: ask}]\n")
	args := tool.NewArgs([]byte(`{"url":"https://example.com"}`))
	for _, in := range []policy.Input{
		{Tool: "read", Taint: trust.Untrusted, Args: &args}, {Tool: "exec", Taint: trust.External, Levels: 0b10, Iteration: 3, Args: &args},
		{Tool: "nobody_knows", Taint: trust.Shared, Args: &args}, {Tool: "mcp__server__tool", Taint: trust.Owner, Args: &args},
	} {
		if n := testing.AllocsPerRun(100, func() { s.Judge(&in); s.Visible(&in) }); n != 0 {
			t.Errorf("%s: Judge allocates %v times", in.Tool, n)
		}
	}
	if n := testing.AllocsPerRun(100, func() { s.Traits("web_fetch", &args); s.Turn(&policy.Input{Iteration: 2}) }); n != 0 {
		t.Errorf("Traits and Turn allocate %v times", n)
	}
}
