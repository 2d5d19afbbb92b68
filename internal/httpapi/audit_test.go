package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/policy"
)

// BEY-12
func TestAuditLogIsReadAndVerified(t *testing.T) {
	w := open(t, "")
	held(w, "s")
	held(w, "t")
	all := w.get("/v1/audit").list("records")
	var byPage []any
	after := "0"
	for {
		a := w.get("/v1/audit?limit=3&after=" + after)
		byPage = append(byPage, a.list("records")...)
		next, ok := a.at("next").(float64)
		if !ok {
			break
		}
		after = strconv.FormatInt(int64(next), 10)
	}
	if len(all) == 0 || len(byPage) != len(all) {
		t.Errorf("got %d records by page, want %d", len(byPage), len(all))
	}
	first, _ := all[0].(map[string]any)
	if body, _ := first["body"].(map[string]any); first["kind"] != "turn.began" || body["began"] == nil || first["seq"] != 1.0 {
		t.Errorf("got first record %v, want the turn's beginning", first)
	}
	if got := w.get("/v1/audit?session=s&kind=call.decided").list("records"); len(got) != 2 {
		t.Errorf("got %d decisions in s, want 2", len(got))
	}
	want(t, w.get("/v1/audit/head"), "records", float64(len(all)))
	verified := w.get("/v1/audit/verify")
	want(t, verified, "ok", true)
	want(t, verified, "report.records", float64(len(all)))
	want(t, verified, "report.head.hash", w.get("/v1/audit/head").text("hash"))
	var none audit.Hash
	if verified.text("report.head.hash") == none.String() {
		t.Errorf("the head has no hash")
	}
}

func TestExplain(t *testing.T) {
	w := open(t, byLevels+`
toolOverrides: {deploy: {"*": hide}}
agents: {helper: {toolOverrides: {exec: {"*": hide}}}}
`)
	a := w.call(agentToken, http.MethodGet, "/v1/explain?tool=exec&taint=untrusted", "")
	want(t, a, "mode", "confirm")
	want(t, a, "kind", "taint-escalation")
	want(t, a, "levels.owner", "allow")
	want(t, a, "visible", true)
	want(t, a, "policy", w.monitor.Policy().Version())
	want(t, w.get("/v1/explain?tool=exec"), "taint", "untrusted")
	want(t, w.get("/v1/explain?tool=exec&taint=owner"), "mode", "allow")
	want(t, w.get("/v1/explain?tool=deploy&taint=system"), "mode", "restrict")
	want(t, w.get("/v1/explain?tool=exec&taint=owner&agent=helper"), "mode", "restrict")
	want(t, w.get("/v1/explain?tool=exec&taint=owner&args=%7B%22command%22%3A%22curl%20x%22%7D"), "response", "untrusted")

	m := w.call(agentToken, http.MethodGet, "/v1/explain/matrix", "")
	rows := map[string]map[string]any{}
	for _, r := range m.list("tools") {
		row := r.(map[string]any)
		rows[row["tool"].(string)] = row
	}
	if modes, _ := rows["web_fetch"]["modes"].(map[string]any); modes["untrusted"] != "allow" || rows["web_fetch"]["response"] != "untrusted" {
		t.Errorf("got %v for web_fetch, want allow and untrusted", rows["web_fetch"])
	}
	if rows["(any other)"] == nil || len(m.list("levels")) != 6 {
		t.Errorf("the matrix is not complete: %s", m.raw)
	}
}

func TestPolicyIsShownAndReloaded(t *testing.T) {
	var warnings []string
	var fault error
	w := open(t, "maxIterations: 7\nconfirmTools: hidden\n", func(o *httpapi.Options) {
		o.Reload = func(context.Context) ([]string, error) { return warnings, fault }
	})
	a := w.call(agentToken, http.MethodGet, "/v1/policy", "")
	want(t, a, "maxIterations", 7.0)
	want(t, a, "confirmTools", "hidden")
	want(t, a, "approvalTtlSeconds", 120.0)
	want(t, a, "preset", policy.Default().Settings().Preset)
	done := w.call(adminToken, http.MethodPost, "/v1/policy/reload", "")
	want(t, done, "version", a.text("version"))
	warnings = []string{"tidemark.yaml:1:1: warning: corrected"}
	if got := w.call(adminToken, http.MethodPost, "/v1/policy/reload", "").list("warnings"); len(got) != 1 {
		t.Errorf("got warnings %v, want one", got)
	}
	fault = errors.New("tidemark.yaml:2:1: unknown key\n    foo: 1\n    ^")
	wantProblem(t, w.call(adminToken, http.MethodPost, "/v1/policy/reload", ""), http.StatusConflict, "tidemark.yaml:2:1: unknown key\n    foo: 1\n    ^")
	want(t, w.get("/v1/policy"), "version", a.text("version"))
	fixed := open(t, "")
	wantProblem(t, fixed.call(adminToken, http.MethodPost, "/v1/policy/reload", ""), http.StatusConflict, "cannot be reloaded")
}

func TestMetrics(t *testing.T) {
	w := open(t, "")
	held(w, "s")
	w.call(agentToken, http.MethodPost, "/v1/hooks/no_such_hook", "{}")
	w.call(agentToken, http.MethodPost, "/v1/hooks/before_tool_call", "{}")
	got := string(w.call(agentToken, http.MethodGet, "/metrics", "").raw)
	for _, line := range []string{
		`tidemark_decisions_total{effect="allow",kind=""} 1`,
		`tidemark_decisions_total{effect="confirm",kind="taint-escalation"} 1`,
		`tidemark_hook_requests_total{hook="before_tool_call",status="200"} 2`,
		`tidemark_hook_requests_total{hook="before_tool_call",status="400"} 1`,
		`tidemark_hook_requests_total{hook="unknown",status="404"} 1`,
		`tidemark_hook_duration_seconds_count{hook="message_received"} 1`,
		`tidemark_open_questions 1`,
		`tidemark_sessions_in_memory `,
		`tidemark_store_errors_total 0`,
	} {
		if !strings.Contains(got, line) {
			t.Errorf("metrics lack %s:\n%s", line, got)
		}
	}
}
