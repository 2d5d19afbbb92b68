package policy_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// known is what a test says about a call: what it does, which facts hold, and the evidence
// for its slots; all others are free.
type known struct {
	act string
	is  map[string]bool
	has map[string]string

	values map[string][]string
}

func (k known) Deed() policy.Deed { return warrant.DeedNamed(k.act) }

func (k known) Is(f policy.Fact) bool { return k.is[names[f]] }

// names are the facts by their names in files.
var names = map[policy.Fact]string{
	warrant.FactActs: "acts", warrant.FactArgued: "argued", warrant.FactOutside: "outside", warrant.FactSpoken: "spoken",
	warrant.FactDelegated: "delegated", warrant.FactWorkspace: "workspace", warrant.FactDanger: "danger", warrant.FactDictated: "dictated",
}

func (k known) Evidence(of policy.Slot) (policy.Evidence, bool) {
	e, ok := k.has[cmp.Or(of.Path, of.Kind.String())]
	return warrant.EvidenceNamed(e), ok && e != warrant.Free
}

func (k known) Values(slot policy.SlotKind) []string { return k.values[slot.String()] }

func (k known) Fault(policy.SlotKind) string { return "" }

func judged(t *testing.T, file string, facts policy.Facts) policy.Decision {
	t.Helper()
	set, faults := policy.Parse("p.yaml", []byte(file))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	if !set.Facts() {
		t.Fatal("the set does not say that it asks for facts")
	}
	a := tool.NewArgs([]byte(`{"to":"x","note":{"about":"y"}}`))
	return set.Judge(&policy.Input{Tool: "send_note", Args: &a, Taint: trust.Untrusted, Facts: facts})
}

// BEY-01 WAR-05
func TestARuleAsksWhatStandsBehindAnArgument(t *testing.T) {
	file := "preset: permissive\ntaintPolicy: {untrusted: allow}\nrules:\n  - name: own\n" +
		"    when: args.to.warrant in [\"none\", \"agent\"] && args.note.about.warrant != \"said\" && args.note.about != \"args.to.warrant\"\n    effect: ask\n"
	for has, want := range map[string]policy.Effect{"none": policy.Confirm, "agent": policy.Confirm, "said": policy.Allow, "picked": policy.Allow} {
		if got := judged(t, file, known{has: map[string]string{"to": has}}); got.Effect != want {
			t.Errorf("%s: got %s by %s, want %s", has, got.Effect, got.Rule, want)
		}
	}
	if got := judged(t, file, nil); got.Effect != policy.Confirm {
		t.Errorf("without facts: got %s, want the worst", got.Effect)
	}
}

// WAR-01 BEY-01
func TestThePresetsAskForAWarrant(t *testing.T) {
	tests := []struct {
		name                    string
		facts                   policy.Facts
		balanced, strict, quiet string // the slot that is asked about; "": it passes
	}{
		{"what the user asked for", known{act: "send", has: map[string]string{"act": "said", "aim": "said"}}, "", "", ""},
		{"to somebody in a text", known{act: "send", has: map[string]string{"act": "said", "aim": "none"}}, "aim", "aim", "aim"},
		{"to somebody of a record", known{act: "send", has: map[string]string{"act": "said", "aim": "picked"}}, "", "aim", ""},
		{"nobody asked for it", known{act: "send", has: map[string]string{"act": "none", "aim": "said"}}, "act", "act", "act"},
		{"delegated", known{act: "send", has: map[string]string{"act": "delegated", "aim": "said"}}, "act", "act", ""},
		{"a delegated payment", known{act: "pay", has: map[string]string{"act": "delegated", "aim": "said"}}, "act", "act", "act"},
		{"a step that was not asked for", known{act: "change", has: map[string]string{"act": "entailed", "object": "picked"}}, "", "act", ""},
		{"a look", known{act: "read", has: map[string]string{"cargo": "followed"}}, "", "cargo", ""},
		{"a look at an address nobody named", known{act: "read", has: map[string]string{"cargo": "none"}}, "cargo", "cargo", "cargo"},
		{"what nobody understands", known{act: "unknown", has: map[string]string{"act": "none"}}, "act", "act", "act"},
		{"a word that is no act", known{act: "frobnicate", has: map[string]string{"act": "none"}}, "act", "act", "act"},
		{"a word that is no evidence", known{act: "send", has: map[string]string{"act": "said", "aim": "certainly"}}, "aim", "aim", "aim"},
		{"nothing is known", nil, "act", "act", "act"},
	}
	for _, tt := range tests {
		for preset, want := range map[string]string{"balanced": tt.balanced, "strict": tt.strict, "quiet": tt.quiet} {
			got := judged(t, "preset: "+preset, tt.facts)
			asked := strings.HasPrefix(got.Rule, preset+".") && (tt.facts == nil || strings.HasSuffix(got.Rule, "."+want))
			if (want == "") != (got.Effect == policy.Allow) || want != "" && (got.Effect != policy.Confirm || !asked) {
				t.Errorf("%s, %s: got %s by %s, want %q", tt.name, preset, got.Effect, got.Rule, want)
			}
		}
	}
}

// WAR-01: one line of a file changes one cell of the table.
func TestAFileChangesOneCell(t *testing.T) {
	mail := known{act: "send", has: map[string]string{"act": "said", "aim": "picked"}}
	for file, want := range map[string]string{
		"":                              "",
		"warrants: {send: {aim: said}}": "warrants.send.aim",
		"warrants: {send: {act: ask}}":  "warrants.send.act",
		"preset: strict":                "strict.send.aim",
		"preset: strict\nwarrants: {send: {aim: none}}":                "",
		"warrants: {pay: {aim: said}}":                                 "",
		"agents: {a: {warrants: {send: {aim: said}}}}":                 "agents.a.warrants.send.aim",
		"preset: strict\nagents: {a: {warrants: {send: {aim: none}}}}": "strict.send.aim",
	} {
		set, faults := policy.Parse("p.yaml", []byte(file))
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		a := tool.NewArgs([]byte(`{"to":"x"}`))
		got := set.Judge(&policy.Input{Tool: "send_note", Args: &a, Taint: trust.Untrusted, Facts: mail, Agent: "a"})
		if (want == "") != (got.Effect == policy.Allow) || want != "" && got.Rule != want {
			t.Errorf("%q: got %s by %s, want %q", file, got.Effect, got.Rule, want)
		}
	}
	for _, bad := range []string{"warrants: {mail: {aim: said}}", "warrants: {send: {to: said}}", "warrants: {send: {aim: sayd}}", "warrants: [send]"} {
		if _, faults := policy.Parse("p.yaml", []byte(bad)); faults.Err() == nil {
			t.Errorf("%s: got no fault", bad)
		}
	}
}

// SEQ-04
func TestDangerHasAKindOfItsOwn(t *testing.T) {
	danger := known{act: "execute", is: map[string]bool{"workspace": true, "danger": true}, has: map[string]string{"order": "none"}}
	tainted := known{act: "execute", is: map[string]bool{"outside": true, "danger": true}, has: map[string]string{"act": "none", "order": "none"}}
	noDanger := known{act: "send", is: map[string]bool{"outside": true}, has: map[string]string{"act": "said", "aim": "none"}}
	rule := "\nrules: [{name: own, tools: [send_note], effect: ask}]"
	for _, tt := range []struct {
		name, more string
		facts      policy.Facts
		kind, rule string // after the preset's name; "" : of the file
	}{
		{"by itself", "", danger, policy.KindDanger, ".execute.order"},
		{"where taint asks too", "", tainted, policy.KindDanger, ".execute.order"},
		{"taint alone", "", noDanger, policy.KindTaintEscalation, ".send.aim"},
		{"where a rule of the file asks too", rule, danger, policy.KindEscalate, ""},
		{"where all of them ask", rule, tainted, policy.KindEscalate, ""},
	} {
		for _, preset := range []string{"balanced", "strict", "quiet"} {
			want := preset + tt.rule
			if tt.rule == "" {
				want = "rules.own"
			}
			if got := judged(t, "preset: "+preset+tt.more, tt.facts); got.Effect != policy.Confirm || got.Kind != tt.kind || got.Rule != want {
				t.Errorf("%s, %s: got %s, kind %q by %s; want kind %q by %s", tt.name, preset, got.Effect, got.Kind, got.Rule, tt.kind, want)
			}
		}
	}
}

// BEY-01 PRV-13
func TestAFileHoldsOverThePreset(t *testing.T) {
	bad := known{act: "send", is: map[string]bool{"outside": true, "acts": true}, has: map[string]string{"aim": "none"}}
	tests := map[string]policy.Effect{
		"preset: balanced":                                            policy.Confirm,
		"toolOverrides: {send_note: {\"*\": allow}}":                  policy.Allow,
		"toolOverrides: {send_note: {untrusted: allow}}":              policy.Allow,
		"toolOverrides: {send_note: {shared: allow}}":                 policy.Confirm,
		"toolOverrides: {send_note: {\"*\": hide}}":                   policy.Deny,
		"agents: {a: {toolOverrides: {send_note: {\"*\": allow}}}}":   policy.Confirm,
		"rules: [{name: no, tools: [send_note], effect: deny}]":       policy.Deny,
		"rules: [{name: yes, tools: [send_note], effect: allow}]":     policy.Confirm,
		"preset: strict\ntoolOverrides: {other_tool: {\"*\": allow}}": policy.Confirm,
	}
	for file, want := range tests {
		if got := judged(t, file, bad); got.Effect != want {
			t.Errorf("%s: got %s by %s, want %s", file, got.Effect, got.Rule, want)
		}
	}
	// A taintPolicy of its own makes the file judge by levels, with the first design's defaults.
	set, _ := policy.Parse("p.yaml", []byte("taintPolicy: {shared: allow}"))
	a := tool.NewArgs([]byte(`{}`))
	if d := set.Judge(&policy.Input{Tool: "send_note", Args: &a, Taint: trust.External, Facts: bad}); set.Facts() || d.Rule != "taintPolicy.external" || d.Effect != policy.Confirm {
		t.Errorf("got %s by %s, facts %v", d.Effect, d.Rule, set.Facts())
	}
}

// HOOK-12: a rule asks what a command does.
func TestARuleAsksWhatACommandDoes(t *testing.T) {
	set := mustParse(t, "preset: permissive\nrules:\n  - name: out\n    when: does[\"network-write\"] || \"persist\" in does || does.mail\n    effect: deny\n")
	for args, want := range map[string]policy.Effect{
		`{"command":"ls"}`:                        policy.Allow,
		`{"command":"curl https://a.example"}`:    policy.Allow,
		`{"command":"git push"}`:                  policy.Deny,
		`{"cmd":["bash","-c","crontab t"]}`:       policy.Deny,
		`{"command":"bash","args":["-c","mutt"]}`: policy.Deny,
		`{"command":"$X"}`:                        policy.Deny,
		`{"command":"echo 'open"}`:                policy.Deny,
		`{"command":7}`:                           policy.Deny,
		`{"command":`:                             policy.Deny,
		`{"path":"git push"}`:                     policy.Allow,

		// in every way in which a host could run it
		`{"commands":["ls","git push"]}`:                     policy.Deny,
		`{"commands":["ls","pwd"]}`:                          policy.Allow,
		`{"command":"git","args":"push origin"}`:             policy.Deny,
		`{"command":"git","args":"status -s"}`:               policy.Allow,
		`{"command":"[\"ls\",\"git push\"]"}`:                policy.Deny,
		`{"command":"echo x > config","cwd":"~/.ssh"}`:       policy.Deny,
		`{"command":"echo x > config","cwd":"/home/me/w"}`:   policy.Allow,
		`{"command":"git log","env":{"GIT_PAGER":"mutt"}}`:   policy.Deny,
		`{"input":{"command":"git push"}}`:                   policy.Deny,
		`{"command":{"text":"ls"}}`:                          policy.Deny,
		`{"command":"ls","description":"git push of a day"}`: policy.Allow,
		`{}`: policy.Allow,
	} {
		a := tool.NewArgs([]byte(args))
		for range 2 {
			if got := set.Judge(&policy.Input{Tool: "exec", Args: &a, Taint: trust.Owner}); got.Effect != want {
				t.Errorf("%s: got %s by %s, want %s", args, got.Effect, got.Rule, want)
			}
		}
	}
	for _, when := range []string{`does["network-wrote"]`, `"posts" in does`, `does.posts`, `does.exists(d, d == "mail")`} {
		if _, faults := policy.Parse("p.yaml", []byte("rules:\n  - {name: a, effect: deny, when: '"+when+"'}\n")); faults.Err() == nil {
			t.Errorf("%s: got no fault", when)
		}
	}
	windows := tool.NewArgs([]byte(`{"command":"Get-ChildItem | % { $_.Name }"}`))
	if got := set.Judge(&policy.Input{Tool: "powershell", Args: &windows, Taint: trust.Owner}); got.Effect != policy.Allow {
		t.Errorf("PowerShell: got %s by %s, want allow", got.Effect, got.Rule)
	}
}

// A command writes what it writes by whatever name its parameter goes: of a shell by any, of another tool by those that judgement reads.
func TestCommandsThatWriteMemoryByAnyName(t *testing.T) {
	set := mustParse(t, "preset: permissive\nrules:\n  - {name: m, when: memory, effect: deny}\n")
	for arg, tools := range map[string][]string{
		"command": {"exec", "do_it"}, "shell_command": {"exec", "do_it"}, "commandLine": {"exec", "do_it"}, "cmds": {"exec", "do_it"},
		"code": {"exec", "Bash"}, "x": {"exec"}, "input": {"exec"},
	} {
		for _, name := range tools {
			a := tool.NewArgs([]byte(`{"` + arg + `":"echo x >> CLAUDE.md"}`))
			if got := set.Judge(&policy.Input{Tool: name, Args: &a, Taint: trust.Owner}).Effect; got != policy.Deny {
				t.Errorf("%s of %s: %v", arg, name, got)
			}
		}
	}
}

// HOOK-12: a memory file is one whoever writes it.
func TestCommandsThatWriteMemory(t *testing.T) {
	set := mustParse(t, "preset: permissive\nrules:\n  - {name: m, when: memory, effect: deny}\n")
	for command, want := range map[string]bool{
		"echo x > CLAUDE.md":                 true,
		"cd docs && tee -a ../AGENTS.md":     true,
		"cp a .cursor/rules/a.mdc":           true,
		"sed -i s/a/b/ memory/2026-01-01.md": true,
		"cat CLAUDE.md":                      false,
		"echo x > README.md":                 false,
		"ls":                                 false,
	} {
		a := tool.NewArgs([]byte(`{"command":"` + command + `"}`))
		if got := set.Judge(&policy.Input{Tool: "bash", Args: &a, Taint: trust.Owner}).Effect == policy.Deny; got != want {
			t.Errorf("%s: got denied %t, want %t", command, got, want)
		}
	}
}
