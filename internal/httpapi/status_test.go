package httpapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/tidemark/tidemark/internal/httpapi"
)

func TestStatusIsForApprovers(t *testing.T) {
	w := open(t, "", func(o *httpapi.Options) {
		o.Status = func(context.Context) any { return []map[string]any{{"name": "telegram", "ok": true}} }
	})
	wantProblem(t, w.call("", http.MethodGet, "/v1/status", ""), http.StatusUnauthorized, "")
	wantProblem(t, w.call(agentToken, http.MethodGet, "/v1/status", ""), http.StatusForbidden, "approver")
	for _, token := range []string{approverToken, adminToken} {
		a := w.call(token, http.MethodGet, "/v1/status", "")
		parts := a.list("parts")
		if a.status != http.StatusOK || len(parts) != 1 {
			t.Errorf("got %d %s, want the one part", a.status, a.raw)
		}
		want(t, a, "waiting", float64(0))
		for _, figure := range []string{"held", "resumed", "rebuilt"} {
			if _, told := a.at("memory").(map[string]any)[figure]; !told {
				t.Errorf("memory says nothing of %s: %s", figure, a.raw)
			}
		}
	}
	wantProblem(t, w.call(adminToken, http.MethodPost, "/v1/status", ""), http.StatusMethodNotAllowed, "")
}

func TestStatusOfAServerThatAsksNobody(t *testing.T) {
	w := open(t, byLevels)
	a := w.get("/v1/status")
	if got, ok := a.at("parts").([]any); !ok || len(got) != 0 {
		t.Errorf("got %s, want no parts", a.raw)
	}
	held(w, "s")
	got := w.waits("s", command, 300)
	w.waiting(1)
	w.say("s", ".reset-trust")
	<-got
	w.waiting(0)
}

// Any role may ask what the policy does; only an approver may look into a session.
//
// SEQ-11
func TestExplainOfASessionIsForApprovers(t *testing.T) {
	o := &oracle{plan: `{"tools":[{"name":"send_email"}]}`}
	w := open(t, "taskPolicy: {enabled: true}", o.listen, func(o *httpapi.Options) {
		o.Verified = func(agent, tool string) any { return map[string]string{"agent": agent, "tool": tool} }
	})
	w.say("s", "Mail Bob.")
	w.say("empty", "Hello.")
	want(t, w.before("s", "exec", command), "tidemark.rule", "task.unlisted")

	const path = "/v1/explain?tool=exec&taint=owner"
	plain := w.call(agentToken, http.MethodGet, path+"&agent=main", "")
	want(t, plain, "mode", "allow")
	want(t, plain, "task", nil)
	want(t, plain, "verifier.agent", "main")
	want(t, plain, "verifier.tool", "exec")
	for range 2 {
		refused := w.call(agentToken, http.MethodGet, path+"&session=s", "")
		wantProblem(t, refused, http.StatusForbidden, "approver")
		want(t, refused, "task", nil)
	}
	wantProblem(t, w.call("", http.MethodGet, path+"&session=s", ""), http.StatusUnauthorized, "")
	for _, token := range []string{approverToken, adminToken} {
		a := w.call(token, http.MethodGet, path+"&session=s", "")
		if got := a.list("task.rules"); a.status != http.StatusOK || len(got) != 1 {
			t.Errorf("got %d %s, want the session's task", a.status, a.raw)
		}
		want(t, w.call(token, http.MethodGet, path+"&session=empty", ""), "task", nil)
		wantProblem(t, w.call(token, http.MethodGet, path+"&session=nobody", ""), http.StatusNotFound, "")
	}
	// An agent cannot learn from the answer which sessions there are.
	wantProblem(t, w.call(agentToken, http.MethodGet, path+"&session=nobody", ""), http.StatusForbidden, "approver")
}
