package verifier_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/external/verifier"
)

// VER-14
func TestExplainSaysWhyAndBy(t *testing.T) {
	const hook = "https://verifier.example/verify"
	config := verifier.Config{Enabled: true, Webhook: hookAt(hook + "?token=t0p"), Telegram: &chat, FailMode: verifier.Allow}
	with := func(s verifier.Scope) verifier.Options {
		o := verifier.Options{Config: config, Telegram: answers(true, nil)}
		o.Config.Scope = s
		return o
	}
	by := []string{"webhook " + hook, "telegram"}
	covered := func(why string) verifier.Coverage {
		return verifier.Coverage{Covered: true, Why: why, By: by, FailMode: verifier.Allow}
	}
	agents := with(verifier.Scope{Include: []string{"exec"}})
	agents.Agents = map[string]verifier.Override{"main": {Scope: verifier.Scope{Include: []string{"write"}}, FailMode: verifier.Deny}}
	off := verifier.Options{Agents: map[string]verifier.Override{"main": {Enabled: ptr(true), Scope: verifier.Scope{Include: []string{"exec"}}, Webhook: hookAt(hook)}}}
	tests := map[string]struct {
		o           verifier.Options
		agent, tool string
		want        verifier.Coverage
	}{
		"all tools":             {with(verifier.Scope{}), "main", "exec", covered("the scope is all tools")},
		"included":              {with(verifier.Scope{Include: []string{"exec"}}), "main", "Exec", covered("scope.include lists it")},
		"not included":          {with(verifier.Scope{Include: []string{"exec"}}), "main", "read", verifier.Coverage{Why: "scope.include does not list it"}},
		"excluded":              {with(verifier.Scope{Exclude: []string{"read"}}), "main", "read", verifier.Coverage{Why: "scope.exclude lists it"}},
		"not excluded":          {with(verifier.Scope{Exclude: []string{"read"}}), "main", "exec", covered("scope.exclude does not list it")},
		"off":                   {verifier.Options{}, "main", "exec", verifier.Coverage{Why: "the verifier is off"}},
		"added by the agent":    {agents, "main", "write", verifier.Coverage{Covered: true, Why: "agent main: scope.include lists it", By: by, FailMode: verifier.Deny}},
		"added for others":      {agents, "other", "write", verifier.Coverage{Why: "scope.include does not list it"}},
		"on for the agent":      {off, "main", "exec", verifier.Coverage{Covered: true, Why: "agent main: scope.include lists it", By: by[:1], FailMode: verifier.Deny}},
		"on, but not for this":  {off, "main", "read", verifier.Coverage{Why: "agent main: scope.include does not list it"}},
		"on, but not for these": {off, "other", "exec", verifier.Coverage{Why: "the verifier is off"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, start(t, tt.o).Explain(tt.agent, tt.tool)); diff != "" {
				t.Errorf("Explain (-want +got):\n%s", diff)
			}
		})
	}
}

// VER-14
func TestStatusCountsRulings(t *testing.T) {
	at := time.Unix(1767225600, 0)
	url := serve(t, allows)
	v := start(t, verifier.Options{
		Config: verifier.Config{Enabled: true, Cache: time.Minute, FailMode: verifier.Allow, Webhook: hookAt(url)},
		Agents: map[string]verifier.Override{"z": {Webhook: hookAt(serve(t, says(500, "")))}, "a": {}},
		Now:    func() time.Time { return at },
	})
	v.Verify(t.Context(), call())
	v.Verify(t.Context(), call())
	c := call()
	c.Agent = "z"
	v.Verify(t.Context(), c)
	c.Params = []byte("x")
	v.Verify(t.Context(), c)
	got := v.Status()
	want := verifier.Status{
		Enabled: true, FailMode: verifier.Allow, CacheSeconds: 60, Agents: []string{"a", "z"}, Webhooks: got.Webhooks,
		Counts: verifier.Counts{Allowed: 3, Denied: 1, Failed: 2, Cached: 1, LastFailure: "the call cannot be sent to the verifier", LastFailureAt: at},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Status (-want +got):\n%s", diff)
	}
	if len(got.Webhooks) != 2 || got.Webhooks[0] != strings.TrimSuffix(url, "?token=t0p") {
		t.Errorf("webhooks %q, want two without the token", got.Webhooks)
	}
}

// VER-13
func TestCheckConnectsAndSaysNothing(t *testing.T) {
	up := serve(t, says(500, ""))
	dead := httptest.NewServer(allows)
	dead.Close()
	secure := httptest.NewUnstartedServer(allows)
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	tests := map[string]struct {
		url    string
		person error
		want   string // empty: reachable
	}{
		"both are there":           {up, nil, ""},
		"the webhook is dead":      {dead.URL + "?t0p", nil, "reach webhook " + dead.URL},
		"the person is not there":  {up, errBroken, "reach telegram: broken"},
		"a certificate is unknown": {secure.URL, nil, "certificate"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, Webhook: hookAt(tt.url), Telegram: &chat}, Telegram: answers(true, tt.person)})
			err := v.Check(t.Context())
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("Check: %v, want it reachable", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "t0p")):
				t.Errorf("Check = %v, want %q", err, tt.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, url := range []string{"http://verifier.example", "https://verifier.example"} {
		v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, Webhook: hookAt(url)}})
		if err := v.Check(ctx); err == nil {
			t.Errorf("Check of %s = nil after its context ended", url)
		}
	}
}
