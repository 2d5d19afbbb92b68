package verifier_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/external/verifier"
)

func ptr[T any](v T) *T { return &v }

// VER-03
func TestTheScopeDecidesWhatIsVerified(t *testing.T) {
	tests := map[string]struct {
		scope    verifier.Scope
		yes, no  []string
		disabled bool
	}{
		"no scope is all tools":     {scope: verifier.Scope{}, yes: []string{"exec", "read", ""}},
		"include":                   {scope: verifier.Scope{Include: []string{"exec", "Apply-Patch"}}, yes: []string{"exec", "EXEC", "apply_patch", "apply-patch"}, no: []string{"read", "", "exec2"}},
		"exclude":                   {scope: verifier.Scope{Exclude: []string{"read", "session-status"}}, yes: []string{"exec", "write"}, no: []string{"read", "session_status", "Session Status"}},
		"an empty list is no scope": {scope: verifier.Scope{Include: []string{}}, yes: []string{"exec"}},
		"off":                       {disabled: true, no: []string{"exec"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := start(t, verifier.Options{Config: verifier.Config{Enabled: !tt.disabled, Scope: tt.scope, Webhook: hookAt("https://verifier.example")}})
			for _, agent := range []string{"", "main"} {
				for _, name := range tt.yes {
					if !v.Covers(agent, name) {
						t.Errorf("Covers(%q, %q) = false, want true", agent, name)
					}
				}
				for _, name := range tt.no {
					if v.Covers(agent, name) {
						t.Errorf("Covers(%q, %q) = true, want false", agent, name)
					}
				}
			}
		})
	}
}

func TestCoversCostsNoMemory(t *testing.T) {
	v := start(t, verifier.Options{
		Config: verifier.Config{Enabled: true, Scope: verifier.Scope{Include: []string{"exec"}}, Webhook: hookAt("https://verifier.example")},
		Agents: map[string]verifier.Override{"main": {Scope: verifier.Scope{Include: []string{"write"}}}},
	})
	for _, agent := range []string{"main", "other"} {
		if n := testing.AllocsPerRun(100, func() { v.Covers(agent, "exec"); v.Covers(agent, "read") }); n != 0 {
			t.Errorf("agent %s: %v allocations, want none", agent, n)
		}
	}
}

// VER-11
func TestAnAgentCanOnlyTighten(t *testing.T) {
	only := func(names ...string) verifier.Scope { return verifier.Scope{Include: names} }
	tests := map[string]struct {
		file     verifier.Config
		agent    verifier.Override
		covered  []string // of exec, read, write
		failMode verifier.FailMode
	}{
		"nothing said":                 {verifier.Config{Enabled: true, Scope: only("exec")}, verifier.Override{}, []string{"exec"}, verifier.Deny},
		"off has no effect":            {verifier.Config{Enabled: true, Scope: only("exec")}, verifier.Override{Enabled: ptr(false)}, []string{"exec"}, verifier.Deny},
		"more tools":                   {verifier.Config{Enabled: true, Scope: only("exec")}, verifier.Override{Scope: only("write")}, []string{"exec", "write"}, verifier.Deny},
		"all but one more":             {verifier.Config{Enabled: true, Scope: only("exec")}, verifier.Override{Scope: verifier.Scope{Exclude: []string{"read", "exec"}}}, []string{"exec", "write"}, verifier.Deny},
		"fewer tools have no effect":   {verifier.Config{Enabled: true}, verifier.Override{Scope: only("exec")}, []string{"exec", "read", "write"}, verifier.Deny},
		"on where the file is off":     {verifier.Config{Scope: only("exec")}, verifier.Override{Enabled: ptr(true)}, []string{"exec"}, verifier.Deny},
		"a scope does not turn it on":  {verifier.Config{}, verifier.Override{Scope: only("exec")}, nil, ""},
		"its own scope when off":       {verifier.Config{Scope: only("exec")}, verifier.Override{Enabled: ptr(true), Scope: only("write")}, []string{"write"}, verifier.Deny},
		"allow has no effect":          {verifier.Config{Enabled: true}, verifier.Override{FailMode: verifier.Allow}, []string{"exec", "read", "write"}, verifier.Deny},
		"deny is stricter":             {verifier.Config{Enabled: true, FailMode: verifier.Allow}, verifier.Override{FailMode: verifier.Deny}, []string{"exec", "read", "write"}, verifier.Deny},
		"allow where the file allows":  {verifier.Config{Enabled: true, FailMode: verifier.Allow}, verifier.Override{FailMode: verifier.Allow}, []string{"exec", "read", "write"}, verifier.Allow},
		"allow is inherited":           {verifier.Config{Enabled: true, FailMode: verifier.Allow}, verifier.Override{}, []string{"exec", "read", "write"}, verifier.Allow},
		"allow where the file is off":  {verifier.Config{}, verifier.Override{Enabled: ptr(true), FailMode: verifier.Allow}, []string{"exec", "read", "write"}, verifier.Deny},
		"allow where the file says so": {verifier.Config{FailMode: verifier.Allow}, verifier.Override{Enabled: ptr(true), FailMode: verifier.Allow}, []string{"exec", "read", "write"}, verifier.Allow},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.file.Webhook = hookAt(serve(t, says(500, "")))
			v := start(t, verifier.Options{Config: tt.file, Agents: map[string]verifier.Override{"main": tt.agent}})
			for _, name := range []string{"exec", "read", "write"} {
				want := slices.Contains(tt.covered, name)
				if got := v.Covers("main", name); got != want {
					t.Errorf("Covers(main, %s) = %v, want %v", name, got, want)
				}
				c := call()
				c.Tool = name
				if got := v.Verify(t.Context(), c); got.Allow != (want && tt.failMode == verifier.Allow) {
					t.Errorf("Verify(%s) = %+v, want failMode %q to decide", name, got, tt.failMode)
				}
				if got := v.Explain("main", name); got.Covered != want || want && got.FailMode != tt.failMode {
					t.Errorf("Explain(main, %s) = %+v, want %v under %q", name, got, want, tt.failMode)
				}
			}
		})
	}
}

// Whatever an override says, the agent is verified at least as the file says.
//
// VER-11
func TestNoOverrideLoosens(t *testing.T) {
	tools := []string{"exec", "read", "write", "message"}
	drawScope := func(t *rapid.T, label string) verifier.Scope {
		names := rapid.SliceOfDistinct(rapid.SampledFrom(tools), rapid.ID[string]).Draw(t, label)
		if rapid.Bool().Draw(t, label+" includes") {
			return verifier.Scope{Include: names}
		}
		return verifier.Scope{Exclude: names}
	}
	mode := rapid.SampledFrom([]verifier.FailMode{"", verifier.Deny, verifier.Allow})
	rapid.Check(t, func(t *rapid.T) {
		file := verifier.Config{
			Enabled: rapid.Bool().Draw(t, "file on"), Scope: drawScope(t, "file scope"), FailMode: mode.Draw(t, "file mode"),
			Webhook: hookAt("https://verifier.example"),
		}
		var agent verifier.Override
		if rapid.Bool().Draw(t, "agent says whether") {
			agent.Enabled = ptr(rapid.Bool().Draw(t, "agent on"))
		}
		if rapid.Bool().Draw(t, "agent has its own") {
			agent.Webhook = hookAt("https://own.example")
		}
		agent.Scope, agent.FailMode = drawScope(t, "agent scope"), mode.Draw(t, "agent mode")
		v, err := verifier.New(verifier.Options{Config: file, Agents: map[string]verifier.Override{"main": agent}})
		if err != nil {
			t.Fatalf("New: %v", err)
		}
		for _, name := range tools {
			plain, own := v.Explain("other", name), v.Explain("main", name)
			if plain.Covered && !own.Covered || plain.Covered && plain.FailMode == verifier.Deny && own.FailMode != verifier.Deny {
				t.Errorf("%s: %+v for the agent, %+v for others", name, own, plain)
			}
			for _, by := range plain.By {
				if !slices.Contains(own.By, by) {
					t.Errorf("%s: the agent is asked about by %v, others by %v", name, own.By, plain.By)
				}
			}
		}
	})
}

// VER-08 VER-11
func TestAnAgentsOwnWebhookIsAskedBesideTheFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		file, own http.HandlerFunc
		want      bool
	}{
		"both allow":      {allows, allows, true},
		"the file denies": {denies, allows, false},
		"its own denies":  {allows, denies, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := start(t, verifier.Options{
				Config: verifier.Config{Enabled: true, Webhook: hookAt(serve(t, tt.file))},
				Agents: map[string]verifier.Override{"main": {Webhook: hookAt(serve(t, tt.own))}},
			})
			if got := v.Verify(t.Context(), call()); got.Allow != tt.want || got.By != "webhook" {
				t.Errorf("Verify = %+v, want allow %v", got, tt.want)
			}
		})
	}
	v := start(t, verifier.Options{
		Config: verifier.Config{Webhook: hookAt(serve(t, denies))},
		Agents: map[string]verifier.Override{"main": {Enabled: ptr(true), Webhook: hookAt(serve(t, allows))}},
	})
	if got := v.Verify(t.Context(), call()); !got.Allow {
		t.Errorf("Verify = %+v, want its own webhook alone where the file's is off", got)
	}
}

// VER-07 VER-11
func TestAnAgentCanHaveAPersonAskedToo(t *testing.T) {
	asked := 0
	v := start(t, verifier.Options{
		Config: verifier.Config{Enabled: true, Webhook: hookAt(serve(t, allows)), Telegram: &verifier.Chat{}},
		Agents: map[string]verifier.Override{"main": {Telegram: ptr(true)}},
		Telegram: &person{ask: func(context.Context, []verifier.Field) (bool, string, error) {
			asked++
			return false, "", nil
		}},
	})
	if got := v.Verify(t.Context(), call()); got.Allow || got.By != "telegram" || got.Reason != "denied on Telegram" {
		t.Errorf("Verify = %+v, want the person's deny", got)
	}
	c := call()
	c.Agent = "other"
	if got := v.Verify(t.Context(), c); !got.Allow || got.By != "webhook" || asked != 1 {
		t.Errorf("Verify = %+v after %d questions, want the webhook alone for others", got, asked)
	}
}

// VER-11 VER-12
func TestAnAgentCanOnlyShortenTheCache(t *testing.T) {
	for name, tt := range map[string]struct {
		file, agent time.Duration
		after       time.Duration
		want        bool
	}{
		"shorter":              {5 * time.Minute, time.Minute, time.Minute, false},
		"shorter, in time":     {5 * time.Minute, time.Minute, time.Minute - 1, true},
		"longer has no effect": {time.Minute, 5 * time.Minute, time.Minute, false},
		"off":                  {time.Minute, 0, 0, false},
		"on has no effect":     {0, time.Minute, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1767225600, 0)
			v := start(t, verifier.Options{
				Config: verifier.Config{Enabled: true, Cache: tt.file, Webhook: hookAt(serve(t, allows))},
				Agents: map[string]verifier.Override{"main": {Cache: ptr(tt.agent)}}, Now: func() time.Time { return now },
			})
			v.Verify(t.Context(), call())
			now = now.Add(tt.after)
			if got := v.Verify(t.Context(), call()); got.Cached != tt.want {
				t.Errorf("Verify = %+v, want Cached %v", got, tt.want)
			}
		})
	}
}
