package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// CAU-01: the seed's table, row by row.
func TestTheCautionTable(t *testing.T) {
	s := mustParse(t, "")
	for name, want := range map[string]bool{
		"web_fetch":  true,
		"web_search": false,
		"email":      true,
		"hooks":      true,
		"webhook":    true,
		"browser":    true,
		"read":       false,
		"write":      false,
		"exec":       false,
		"nodes":      false,
		"message":    false,
	} {
		for _, spelling := range []string{name, " " + name, tool.Name(name)} {
			if got := s.Traits(tool.Name(spelling), nil); got.Caution != want || got.CautionFixed {
				t.Errorf("%q: got %t, fixed %t; want %t and not fixed", spelling, got.Caution, got.CautionFixed, want)
			}
		}
	}
}

// CAU-01: any other tool goes by what it brings in.
func TestCautionOfToolsThatTheTableDoesNotName(t *testing.T) {
	s := mustParse(t, "toolOutputTaints: {crm_read: external, rss: untrusted, wiki: shared, notes: local, own: owner, clock: system}")
	for name, want := range map[string]bool{
		"nobody_knows": true, "mcp__mail__read": true,
		"crm_read": true, "rss": true, "image": true, "gog": true,
		"wiki": false, "notes": false, "own": false, "clock": false,
		"edit": false, "process": false, "cron": false, "memory_search": false, "session_status": false,
	} {
		if got := s.Traits(name, nil); got.Caution != want || got.CautionFixed {
			t.Errorf("%s: got %t, fixed %t; want %t and not fixed", name, got.Caution, got.CautionFixed, want)
		}
	}
}

// CAU-01 CAU-08
func TestTheFileDecidesAboutCaution(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       map[string]bool // tool to caution
		fixed      map[string]bool // tools the file itself speaks of
	}{
		{
			"without defaults nothing is cautioned", "caution: {defaults: false}",
			map[string]bool{"web_fetch": false, "email": false, "browser": false, "nobody_knows": false, "read": false}, nil,
		}, {
			"defaults can be named", "caution: {defaults: true}",
			map[string]bool{"web_fetch": true, "nobody_knows": true, "read": false}, nil,
		}, {
			"a tool of the table is switched off, another on", "caution: {tools: {web_fetch: false, Web_Search: true, read: true}}",
			map[string]bool{"web_fetch": false, "web_search": true, "read": true, "browser": true, "exec": false},
			map[string]bool{"web_fetch": true, "web_search": true, "read": true},
		}, {
			"without defaults the named ones are still cautioned", "caution: {defaults: false, tools: {crm: true, email: true}}",
			map[string]bool{"crm": true, "email": true, "web_fetch": false, "nobody_knows": false},
			map[string]bool{"crm": true, "email": true},
		}, {
			"what a tool brings in does not count against the file", "toolOutputTaints: {a: untrusted, b: local}\ncaution: {tools: {a: false, b: true}}",
			map[string]bool{"a": false, "b": true}, map[string]bool{"a": true, "b": true},
		}, {
			"the seed's own file", `
caution:
  defaults: true
  tools: {web_fetch: true, web_search: false, email: true, webhook: true, browser: true, exec: false, read: false}
  failMode: block
`,
			map[string]bool{"web_fetch": true, "web_search": false, "email": true, "webhook": true, "browser": true, "exec": false, "read": false},
			map[string]bool{"web_fetch": true, "web_search": true, "email": true, "webhook": true, "browser": true, "exec": true, "read": true},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mustParse(t, tt.file)
			for name, want := range tt.want {
				got := s.Traits(name, nil)
				if got.Caution != want || got.CautionFixed != tt.fixed[name] {
					t.Errorf("%s: got %t, fixed %t; want %t and %t", name, got.Caution, got.CautionFixed, want, tt.fixed[name])
				}
				args := tool.NewArgs([]byte(`{"url":"https://example.com","command":"ls"}`))
				if with := s.Traits(name, &args); with.Caution != want {
					t.Errorf("%s with arguments: got %t, want %t", name, with.Caution, want)
				}
			}
		})
	}
}

// CAU-02 CAU-05 SEQ-06 SEQ-11
func TestSettingsOfAsking(t *testing.T) {
	safe := policy.Asking{
		Window: "turn", FailMode: "block", OnBlock: policy.Confirm, Review: "bound", OnOutside: policy.Confirm, MaxOpen: 64,
		Answers: "markdown",
	}
	with := func(change func(*policy.Asking)) policy.Asking {
		a := safe
		change(&a)
		return a
	}
	for file, want := range map[string]policy.Asking{
		"":                             safe,
		"caution:\ntaintEscalation:\n": safe,
		"caution: {window: last, failMode: warn, effect: deny}": with(func(a *policy.Asking) {
			a.Window, a.FailMode, a.OnBlock = "last", "warn", policy.Deny
		}),
		"caution: {window: session, failMode: allow, effect: ask}": with(func(a *policy.Asking) {
			a.Window, a.FailMode = "session", "allow"
		}),
		"taintEscalation: {review: advise}": with(func(a *policy.Asking) { a.Review = "advise" }),
		"taintEscalation: {review: auto}":   with(func(a *policy.Asking) { a.Review = "auto" }),
		"taintEscalation: {review: human}":  with(func(a *policy.Asking) { a.Review = "human" }),
		"taintEscalation: {review: bound}":  safe,
		"taintEscalation: {answers: text, answerHosts: [Img.example.com, b.example]}": with(func(a *policy.Asking) {
			a.Answers, a.AnswerHosts = "text", "img.example.com b.example"
		}),
		"taintEscalation: {answers: off}": with(func(a *policy.Asking) { a.Answers = "off" }),
		"taskPolicy: {enabled: true, effect: deny}": with(func(a *policy.Asking) {
			a.Task, a.OnOutside = true, policy.Deny
		}),
		"taskPolicy: {enabled: false, effect: ask}": safe,
		"approvalMaxOpen: 1":                        with(func(a *policy.Asking) { a.MaxOpen = 1 }),
		"approvalMaxOpen: 256":                      with(func(a *policy.Asking) { a.MaxOpen = 256 }),
	} {
		if diff := cmp.Diff(want, mustParse(t, file).Settings().Asking); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

// Approvals given under another way of asking do not count: each of its keys is part of
// the version.
func TestWaysOfAskingChangeTheVersion(t *testing.T) {
	seen := map[string]string{mustParse(t, "").Version(): "nothing"}
	for _, file := range []string{
		"caution: {defaults: false}", "caution: {tools: {exec: true}}", "caution: {window: last}", "caution: {failMode: allow}",
		"caution: {effect: deny}", "taintEscalation: {review: auto}", "taskPolicy: {enabled: true}", "approvalMaxOpen: 3",
		"redaction: {patterns: [{name: a, regex: abc+}]}",
	} {
		v := mustParse(t, file).Version()
		if other, twice := seen[v]; twice {
			t.Errorf("%s has the version of %s", file, other)
		}
		seen[v] = file
	}
}

// CAU-01 CAU-05 SEQ-06 SEQ-11
func TestFaultsOfAsking(t *testing.T) {
	src := `caution:
  default: false
  defaults: "no"
  tools: {web_fetch: 1, Exec: true, exec: false, "": true}
  window: step
  failMode: blocks
  effect: allow
  auditor: {}
taintEscalation: {review: robot, on: true}
taskPolicy: {enabled: maybe, effect: allow, rules: []}
approvalMaxOpen: 257
`
	want := `p.yaml:2:3: unknown key "default" in caution
      default: false
      ^
  hint: did you mean defaults?
p.yaml:3:13: caution.defaults must be true or false, not text
      defaults: "no"
                ^
p.yaml:4:22: caution.tools.web_fetch must be true or false, not a whole number
      tools: {web_fetch: 1, Exec: true, exec: false, "": true}
                         ^
p.yaml:4:37: "exec" and "Exec" are the same tool
      tools: {web_fetch: 1, Exec: true, exec: false, "": true}
                                        ^
p.yaml:4:50: a tool needs a name
      tools: {web_fetch: 1, Exec: true, exec: false, "": true}
                                                     ^
p.yaml:5:11: caution.window must be last, turn or session, not "step"
      window: step
              ^
p.yaml:6:13: caution.failMode must be deny, warn or allow, not "blocks"
      failMode: blocks
                ^
p.yaml:7:11: caution.effect must be ask or deny, not "allow"
      effect: allow
              ^
p.yaml:8:3: unknown key "auditor" in caution
      auditor: {}
      ^
p.yaml:9:27: taintEscalation.review must be human, advise, auto or bound, not "robot"
    taintEscalation: {review: robot, on: true}
                              ^
p.yaml:9:34: unknown key "on" in taintEscalation
    taintEscalation: {review: robot, on: true}
                                     ^
p.yaml:10:23: taskPolicy.enabled must be true or false, not text
    taskPolicy: {enabled: maybe, effect: allow, rules: []}
                          ^
p.yaml:10:38: taskPolicy.effect must be ask or deny, not "allow"
    taskPolicy: {enabled: maybe, effect: allow, rules: []}
                                         ^
p.yaml:10:45: unknown key "rules" in taskPolicy
    taskPolicy: {enabled: maybe, effect: allow, rules: []}
                                                ^
p.yaml:11:18: approvalMaxOpen must be from 1 to 256, not 257
    approvalMaxOpen: 257
                     ^
`
	wantFaults(t, src, want)
}

// wantFaults compares all that is wrong with a file.
func wantFaults(t *testing.T, src, want string) {
	t.Helper()
	set, faults := policy.Parse("p.yaml", []byte(src))
	if set != nil {
		t.Error("a file with faults has a set")
	}
	if diff := cmp.Diff(want, faults.Render([]byte(src))); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestFaultsOfAskingByKind(t *testing.T) {
	for src, want := range map[string]string{
		"caution: on":                 "p.yaml:1:10: caution must be a map, not text",
		"caution: {tools: [exec]}":    "p.yaml:1:18: caution.tools must be a map, not a list",
		"taintEscalation: auto":       "p.yaml:1:18: taintEscalation must be a map, not text",
		"taskPolicy: true":            "p.yaml:1:13: taskPolicy must be a map, not true or false",
		"approvalMaxOpen: 0":          "p.yaml:1:18: approvalMaxOpen must be from 1 to 256, not 0",
		"approvalMaxOpen: -1":         "p.yaml:1:18: approvalMaxOpen must be from 1 to 256, not -1",
		"approvalMaxOpen: many":       "p.yaml:1:18: approvalMaxOpen must be a whole number, not text",
		"agents: {a: {caution: {}}}":  `p.yaml:1:14: unknown key "caution" in agents.a`,
		"caution: {tools: {exec: }}":  "p.yaml:1:24: caution.tools.exec must be true or false, not nothing",
		"caution: {defaults: false,}": "",
	} {
		_, faults := policy.Parse("p.yaml", []byte(src))
		if got := faults.Error(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", src, got, want)
		}
	}
}
