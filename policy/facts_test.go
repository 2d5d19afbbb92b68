package policy_test

import (
	"testing"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// known is what a test says about a call.
type known struct {
	act     string
	is      map[string]bool
	origins map[string]string
}

func (k known) Act() string         { return k.act }
func (k known) Is(name string) bool { return k.is[name] }
func (k known) Origin(what string) string {
	if o, ok := k.origins[what]; ok {
		return o
	}
	return "none"
}

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

// BEY-01
func TestARuleAsksWhereAnArgumentCameFrom(t *testing.T) {
	file := "preset: permissive\ntaintPolicy: {untrusted: allow}\nrules:\n  - name: own\n    when: args.to.origin in [\"text\", \"unseen\"] && args.note.about.origin != \"args.to.origin\"\n    effect: escalate\n"
	for origin, want := range map[string]policy.Effect{"text": policy.Confirm, "unseen": policy.Confirm, "user": policy.Allow, "anchored": policy.Allow} {
		if got := judged(t, file, known{origins: map[string]string{"to": origin}}); got.Effect != want {
			t.Errorf("%s: got %s by %s, want %s", origin, got.Effect, got.Rule, want)
		}
	}
	if got := judged(t, file, nil); got.Effect != policy.Confirm {
		t.Errorf("without facts: got %s, want the worst", got.Effect)
	}
}

// BEY-01
func TestThePresetsAskByWhatACallStandsOn(t *testing.T) {
	mine := known{act: "send", is: map[string]bool{"outside": true, "acts": true, "asked": true, "linked": true, "spoken": true, "known": true}, origins: map[string]string{"target": "user"}}
	with := func(change func(k *known)) known {
		k := known{act: mine.act, is: map[string]bool{}, origins: map[string]string{}}
		for n, v := range mine.is {
			k.is[n] = v
		}
		for n, v := range mine.origins {
			k.origins[n] = v
		}
		change(&k)
		return k
	}
	tests := []struct {
		name                    string
		facts                   policy.Facts
		balanced, strict, quiet policy.Effect
	}{
		{"what the user asked for", mine, policy.Allow, policy.Allow, policy.Allow},
		{"to an address from text", with(func(k *known) { k.origins["target"] = "text" }), policy.Confirm, policy.Confirm, policy.Confirm},
		{"to an address of a field", with(func(k *known) { k.origins["target"] = "field" }), policy.Allow, policy.Confirm, policy.Allow},
		{"a payment to an address of a field", with(func(k *known) { k.act, k.origins["target"] = "pay", "field" }), policy.Confirm, policy.Confirm, policy.Allow},
		{"nobody asked for it", with(func(k *known) { k.is["asked"] = false }), policy.Confirm, policy.Confirm, policy.Confirm},
		{"delegated", with(func(k *known) { k.is["asked"], k.is["delegated"] = false, true }), policy.Allow, policy.Confirm, policy.Allow},
		{"a delegated payment", with(func(k *known) { k.act, k.is["asked"], k.is["delegated"] = "pay", false, true }), policy.Confirm, policy.Confirm, policy.Allow},
		{"nothing ties it to the user", with(func(k *known) { k.is["linked"] = false }), policy.Confirm, policy.Confirm, policy.Allow},
		{"nobody has spoken", with(func(k *known) { k.is["spoken"] = false }), policy.Confirm, policy.Confirm, policy.Confirm},
		{"nothing came in", with(func(k *known) { k.is["outside"], k.origins["target"] = false, "unseen" }), policy.Allow, policy.Allow, policy.Allow},
		{"a dangerous command", with(func(k *known) { k.act, k.is["workspace"], k.is["danger"] = "execute", true, true }), policy.Confirm, policy.Confirm, policy.Confirm},
		{"nothing is known", nil, policy.Confirm, policy.Confirm, policy.Confirm},
	}
	for _, tt := range tests {
		for preset, want := range map[string]policy.Effect{"balanced": tt.balanced, "strict": tt.strict, "quiet": tt.quiet} {
			if got := judged(t, "preset: "+preset, tt.facts); got.Effect != want {
				t.Errorf("%s, %s: got %s by %s, want %s", tt.name, preset, got.Effect, got.Rule, want)
			}
		}
	}
}

// SEQ-04
func TestDangerHasAKindOfItsOwn(t *testing.T) {
	danger := known{act: "execute", is: map[string]bool{"workspace": true, "danger": true, "asked": true, "linked": true, "spoken": true}}
	tainted := known{
		act: "execute", is: map[string]bool{"outside": true, "acts": true, "danger": true, "spoken": true}, origins: map[string]string{"target": "text"},
	}
	noDanger := known{act: "send", is: map[string]bool{"outside": true, "acts": true, "spoken": true}, origins: map[string]string{"target": "text"}}
	rule := "\nrules: [{name: own, tools: [send_note], effect: escalate}]"
	for _, tt := range []struct {
		name, more string
		facts      policy.Facts
		kind, rule string // after the preset's name; "" : of the file
	}{
		{"by itself", "", danger, policy.KindDanger, ".danger"},
		{"where taint asks too", "", tainted, policy.KindDanger, ".danger"},
		{"taint alone", "", noDanger, policy.KindTaintEscalation, ".target"},
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
	bad := known{act: "send", is: map[string]bool{"outside": true, "acts": true}, origins: map[string]string{"target": "text"}}
	tests := map[string]policy.Effect{
		"preset: balanced":                                            policy.Confirm,
		"toolOverrides: {send_note: {\"*\": allow}}":                  policy.Allow,
		"toolOverrides: {send_note: {untrusted: allow}}":              policy.Allow,
		"toolOverrides: {send_note: {shared: allow}}":                 policy.Confirm,
		"toolOverrides: {send_note: {\"*\": restrict}}":               policy.Deny,
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
		`{}`:                                      policy.Allow,
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
