package policyedit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/policyedit"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/policy"
)

// of is the draft of a suggestion, for a file that is in force.
func of(t *testing.T, src string, s *report.Suggestion) (string, error) {
	t.Helper()
	set, faults := policy.Parse("tidemark.yaml", []byte(src))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	out, err := policyedit.Of("tidemark.yaml", []byte(src), set, s)
	return string(out), err
}

func suggestion(kind, rule, tool, to string, path ...string) *report.Suggestion {
	return &report.Suggestion{Kind: kind, Rule: rule, Tool: tool, Change: &report.Change{Path: path, To: to, Tool: tool}}
}

// CAU-11 CON-34
func TestASuggestionIsWrittenIntoTheFile(t *testing.T) {
	byLevel := suggestion("allow", "toolOverrides.exec.shared", "exec", "allow", "toolOverrides", "exec", "shared")
	byRule := suggestion("allow", "rules.ask", "deploy", "allow", "rules", "ask")
	no := suggestion("restrict", "rules.ask", "deploy", "deny", "rules", "ask")
	for name, c := range map[string]struct {
		s        *report.Suggestion
		src, out string
	}{
		"a level that stands there": {byLevel,
			"# ours\ntoolOverrides:\n  exec: # careful\n    shared: ask # why not\n    external: hide\n",
			"# ours\ntoolOverrides:\n  exec: # careful\n    shared: allow # why not\n    external: hide\n"},
		"a level in brackets": {byLevel, "toolOverrides: {exec: {shared: \"confirm\", external: ask}}\n",
			"toolOverrides: {exec: {shared: allow, external: ask}}\n"},
		"a rule about one tool": {byRule, "rules:\n- name: ask\n  tools: [deploy]\n  effect: ask\n",
			"rules:\n- name: ask\n  tools: [deploy]\n  effect: allow\n"},
		"a rule about several, in brackets": {byRule, "rules:\n  - {name: ask, tools: [build, deploy, \"ship it\"], effect: ask}\n",
			"rules:\n  - {name: ask, tools: [build, \"ship it\"], effect: ask}\n"},
		"a rule whose last it is": {byRule, "rules:\n  - {name: ask, tools: [build, deploy], effect: ask}\n",
			"rules:\n  - {name: ask, tools: [build], effect: ask}\n"},
		"a rule about several, in lines": {byRule,
			"rules:\n  - name: ask\n    tools:\n      - build # first\n      - Deploy # then\n    effect: ask\n",
			"rules:\n  - name: ask\n    tools:\n      - build # first\n    effect: ask\n"},
		"no, of a rule about one tool": {no, "rules:\n  - name: ask\n    tools: deploy\n    effect: ask\n",
			"rules:\n  - name: ask\n    tools: deploy\n    effect: deny\n"},
		"no, of a rule about all": {no,
			"rules:\n  - name: ask\n    when: 'args.env == \"prod\"'\n    effect: ask\n\n# the rest\npreset: balanced\n",
			"rules:\n  - name: ask\n    when: 'args.env == \"prod\"'\n    effect: ask\n  - name: ask-deploy\n    tools: [deploy]\n" +
				"    when: \"args.env == \\\"prod\\\"\"\n    effect: deny\n\n# the rest\npreset: balanced\n"},
		"the default": {suggestion("allow", "defaultEffect", "deploy", "allow", "rules"), "defaultEffect: ask\n",
			"defaultEffect: ask\nrules:\n  - name: allow-deploy\n    tools: [deploy]\n    effect: allow\n"},
		"a key for all levels": {suggestion("restrict", "toolOverrides.exec.*", "exec", "restrict", "toolOverrides", "exec", "*"),
			"toolOverrides:\n  exec:\n    \"*\": ask\n    system: allow\n", "toolOverrides:\n  exec:\n    \"*\": hide\n    system: allow\n"},
		"a tool that is called like a section": {
			suggestion("allow", "toolOverrides.rules.shared", "rules", "allow", "toolOverrides", "rules", "shared"),
			"toolOverrides: {rules: {shared: ask}}\n", "toolOverrides: {rules: {shared: allow}}\n"},
		"an agent's rule": {suggestion("allow", "agents.intern.rules.ask", "deploy", "allow", "agents", "intern", "rules", "ask"),
			"agents:\n  intern:\n    rules:\n      - {name: ask, tools: [deploy, build], effect: ask}\n",
			"agents:\n  intern:\n    rules:\n      - {name: ask, tools: [build], effect: ask}\n"},
		"a trifecta": {suggestion("restrict", "lethal-trifecta", "post", "restrict", "lethalTrifecta"), "lethalTrifecta: ask\n",
			"lethalTrifecta: hide\n"},
		"caution, where the file says nothing of it": {suggestion("caution-off", "", "web_fetch", "false", "caution", "tools", "web_fetch"),
			"preset: balanced # ours\n", "preset: balanced # ours\ncaution:\n  tools:\n    web_fetch: false\n"},
		"caution, in brackets": {suggestion("caution-off", "", "web_fetch", "false", "caution", "tools", "web_fetch"),
			"caution: {window: turn}\n", "caution: {tools: {web_fetch: false}, window: turn}\n"},
		"caution, without a file": {suggestion("caution-off", "", "web_fetch", "false", "caution", "tools", "web_fetch"), "",
			"caution:\n  tools:\n    web_fetch: false\n"},
		"an agent's": {suggestion("restrict", "agents.intern.toolOverrides.exec.shared", "exec", "restrict", "agents", "intern", "toolOverrides", "exec", "shared"),
			"agents:\n  intern:\n    toolOverrides:\n      exec: {shared: ask}\n  other: {}\n",
			"agents:\n  intern:\n    toolOverrides:\n      exec: {shared: hide}\n  other: {}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := of(t, c.src, c.s)
			if err != nil || got != c.out {
				t.Fatalf("got %v\n%s\nwant\n%s", err, got, c.out)
			}
			if _, faults := policy.Parse("draft", []byte(got)); faults.Err() != nil {
				t.Errorf("it does not parse: %v", faults.Err())
			}
		})
	}
}

// CAU-11: what a suggestion is about may have changed since.
func TestASuggestionThatNoLongerFitsSaysSo(t *testing.T) {
	byLevel := suggestion("allow", "toolOverrides.exec.shared", "exec", "allow", "toolOverrides", "exec", "shared")
	byRule := suggestion("allow", "rules.ask", "deploy", "allow", "rules", "ask")
	for name, c := range map[string]struct {
		s    *report.Suggestion
		src  string
		want error
		says string
	}{
		"the level says so already":   {byLevel, "toolOverrides: {exec: {shared: allow}}\n", policyedit.ErrFit, "no longer asked about"},
		"the level is another's now":  {byLevel, "toolOverrides: {exec: {shared: hide}}\n", policyedit.ErrFit, "no longer asked about"},
		"the rule is gone":            {byRule, "preset: balanced\n", policyedit.ErrFit, "no rule ask any more"},
		"the rule does not ask":       {byRule, "rules: [{name: ask, tools: [deploy], effect: deny}]\n", policyedit.ErrFit, "no longer asks"},
		"the rule is about others":    {byRule, "rules: [{name: ask, tools: [build], effect: ask}]\n", policyedit.ErrFit, "no longer about deploy"},
		"the file says so already":    {suggestion("restrict", "lethal-trifecta", "post", "restrict", "lethalTrifecta"), "lethalTrifecta: hide\n", policyedit.ErrFit, "says so already"},
		"caution is off already":      {suggestion("caution-off", "", "web_fetch", "false", "caution", "tools", "web_fetch"), "caution: {tools: {web_fetch: false}}\n", policyedit.ErrFit, "no longer audited"},
		"the rule is about a pattern": {byRule, "rules: [{name: ask, tools: ['dep*'], effect: ask}]\n", policyedit.ErrByHand, "by hand"},
		"the rule is about all":       {byRule, "rules: [{name: ask, effect: ask}]\n", policyedit.ErrByHand, "by hand"},
		"rules in brackets":           {suggestion("restrict", "rules.ask", "deploy", "deny", "rules", "ask"), "rules: [{name: ask, effect: ask}]\n", policyedit.ErrByHand, "by hand"},
		"it is about something else":  {&report.Suggestion{Kind: "ttl", Text: "raise approvalTtlSeconds"}, "", policyedit.ErrNone, "approvalTtlSeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := of(t, c.src, c.s)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || got != "" {
				t.Errorf("got %q, %v; want %v: %s", got, err, c.want, c.says)
			}
		})
	}
}

// What others call a tool is a text of the file and never more.
func TestANameOfAToolStaysAName(t *testing.T) {
	for _, name := range []string{"yes", "a: b", "x}]", "- y", "t\"q", "#c", "*", "ä", "a\nb: c"} {
		s := suggestion("allow", "defaultEffect", name, "allow", "rules")
		got, err := of(t, "defaultEffect: ask\n", s)
		if err != nil {
			continue // not drafted: nothing is guessed
		}
		set, faults := policy.Parse("draft", []byte(got))
		if faults.Err() != nil {
			continue // the page shows the faults
		}
		if n := strings.Count(got, "\n"); n != 5 {
			t.Errorf("%q: %d lines\n%s", name, n, got)
		}
		if set.Settings().Preset == "" {
			t.Errorf("%q: no preset", name)
		}
	}
}
