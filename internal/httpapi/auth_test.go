package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/httpapi"
)

// Every route, and the status each caller gets that says "come in" or "stay out". A
// route that lets a caller in may still answer 400, 404 or 409.
func TestRolesByRoute(t *testing.T) {
	w := open(t, "")
	const in, out = 0, http.StatusForbidden
	for _, c := range []struct {
		route                  string
		agent, approver, admin int
	}{
		{"POST /v1/hooks/before_tool_call", in, out, in},
		{"POST /v1/hooks/message_received", in, out, in},
		{"POST /v1/hooks/nonsense", in, out, in},
		{"GET /v1/version", in, in, in},
		{"GET /v1/policy", in, in, in},
		{"GET /v1/explain?tool=exec", in, in, in},
		{"GET /v1/explain/matrix", in, in, in},
		{"GET /metrics", in, in, in},
		{"GET /v1/sessions", out, in, in},
		{"GET /v1/sessions/x", out, in, in},
		{"GET /v1/sessions/x/turns", out, in, in},
		{"GET /v1/sessions/x/turns/latest/graph", out, in, in},
		{"GET /v1/approvals", out, in, in},
		{"GET /v1/approvals/x", in, in, in}, // an agent by its ticket alone
		{"POST /v1/approvals/x", out, in, in},
		{"GET /v1/grants", out, in, in},
		{"DELETE /v1/grants/x", out, in, in},
		{"GET /v1/writes", out, in, in},
		{"GET /v1/writes/x", out, in, in},
		{"POST /v1/writes/x", out, in, in},
		{"GET /v1/labels", out, in, in},
		{"DELETE /v1/labels?key=file:x", out, out, in},
		{"GET /v1/servers", out, in, in},
		{"GET /v1/servers/x", out, in, in},
		{"POST /v1/servers/x/accept", out, in, in},
		{"POST /v1/pins", in, out, in},
		{"GET /v1/audit", out, in, in},
		{"GET /v1/audit/head", out, in, in},
		{"GET /v1/audit/verify", out, in, in},
		{"GET /v1/events?after=bad", out, in, in},
		{"POST /v1/sessions/x/reset-trust", out, out, in},
		{"POST /v1/policy/reload", out, out, in},
	} {
		t.Run(c.route, func(t *testing.T) {
			method, path, _ := strings.Cut(c.route, " ")
			if a := w.call("", method, path, ""); a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("nobody: got status %d and challenge %q, want 401 and one", a.status, a.header.Get("WWW-Authenticate"))
			}
			for who, wanted := range map[string]int{agentToken: c.agent, approverToken: c.approver, adminToken: c.admin} {
				a := w.call(who, method, path, "")
				if refused := a.status == http.StatusForbidden || a.status == http.StatusUnauthorized; refused != (wanted == out) {
					t.Errorf("%s: got status %d, want let in: %t", who, a.status, wanted == in)
				}
				if wanted == out {
					wantProblem(t, a, out, "needs the role")
				}
			}
			reads := method == http.MethodGet
			if a := w.call(readerToken, method, path, ""); (a.status == http.StatusForbidden) == reads {
				t.Errorf("a reader: got status %d, want let in: %t", a.status, reads)
			}
			if a := w.call(ownerToken, method, path, ""); a.status != http.StatusForbidden {
				t.Errorf("the owner's token alone: got status %d, want 403", a.status)
			}
		})
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		if a := w.call("", http.MethodGet, path, ""); a.status != http.StatusOK {
			t.Errorf("%s without a token: got status %d, want 200", path, a.status)
		}
	}
}

func TestForbiddenNamesTheRoleThatIsNeeded(t *testing.T) {
	w := open(t, "")
	wantProblem(t, w.call(agentToken, http.MethodGet, "/v1/sessions", ""), http.StatusForbidden, "reader, approver or admin; the token has agent")
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/policy/reload", ""), http.StatusForbidden, "needs the role admin; the token has approver")
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/hooks/agent_end", "{}"), http.StatusForbidden, "agent or admin")
}

func TestHeadersThatAreNoToken(t *testing.T) {
	w := open(t, "")
	for name, values := range map[string][]string{
		"none":                 nil,
		"another scheme":       {"Basic " + agentToken},
		"the scheme alone":     {"Bearer"},
		"an empty token":       {"Bearer "},
		"a token nobody has":   {"Bearer " + agentToken + "0"},
		"a shorter token":      {"Bearer " + agentToken[:10]},
		"no scheme":            {agentToken},
		"two headers":          {"Bearer " + agentToken, "Bearer " + adminToken},
		"a token with a blank": {"Bearer " + agentToken + " x"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodGet, w.url+"/v1/policy", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header["Authorization"] = values
			wantProblem(t, w.request(r), http.StatusUnauthorized, "")
		})
	}
}

// A host that ignores the status must not act either.
func TestRefusalsOfHooksThatGateBlock(t *testing.T) {
	w := open(t, "")
	for name, field := range map[string]string{
		"before_tool_call": "block", "before_llm_call": "block", "after_llm_call": "block",
		"before_response_emit": "block", "message_sending": "cancel",
	} {
		for _, token := range []string{"", approverToken} {
			a := w.call(token, http.MethodPost, "/v1/hooks/"+name, `{"event":{},"ctx":{"sessionKey":"s"}}`)
			if a.status < 400 {
				t.Errorf("%s: got status %d", name, a.status)
			}
			want(t, a, field, true)
			if a.text(field+"Reason") == "" {
				t.Errorf("%s: no %sReason: %s", name, field, a.raw)
			}
		}
	}
}

func TestNewRefusesWhatCannotBeServed(t *testing.T) {
	good := open(t, "").options
	for name, change := range map[string]func(*httpapi.Options){
		"no monitor":         func(o *httpapi.Options) { o.Monitor = nil },
		"no log":             func(o *httpapi.Options) { o.Log = nil },
		"no feed":            func(o *httpapi.Options) { o.Feed = nil },
		"no bus":             func(o *httpapi.Options) { o.Bus = nil },
		"no logger":          func(o *httpapi.Options) { o.Logger = nil },
		"a negative limit":   func(o *httpapi.Options) { o.MaxBody = -1 },
		"no tokens":          func(o *httpapi.Options) { o.Tokens = httpapi.Tokens{} },
		"a short token":      func(o *httpapi.Options) { o.Tokens.Agent = "short" },
		"one token twice":    func(o *httpapi.Options) { o.Tokens.Agent = o.Tokens.Admin },
		"a host with a path": func(o *httpapi.Options) { o.Hosts = []string{"a.example/x"} },
		"a pattern as host":  func(o *httpapi.Options) { o.Hosts = []string{"*.example"} },
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			o.Metrics = nil
			change(&o)
			if api, err := httpapi.New(o); err == nil || api != nil {
				t.Errorf("got %v, want an error", api)
			}
		})
	}
}

func TestRoleWithoutTokenCannotBeUsed(t *testing.T) {
	w := open(t, "", func(o *httpapi.Options) { o.Tokens.Agent = "" })
	a := w.call(agentToken, http.MethodPost, "/v1/hooks/before_tool_call", `{"event":{"toolName":"read"},"ctx":{"sessionKey":"s"}}`)
	wantProblem(t, a, http.StatusUnauthorized, "")
}
