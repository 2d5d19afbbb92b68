package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/httpapi"
)

func beating(t *testing.T) *world {
	t.Helper()
	c := newClock()
	w := open(t, "", func(o *httpapi.Options) { o.Now, o.Version = c.Now, "1.2.3" })
	w.clock = c
	return w
}

const openclawBeat = `{"host":"openclaw","version":"2026.9.6","pluginVersion":"0.1.0","hooks":["before_tool_call"],"everySeconds":10}`

func TestABeatIsSeenInTheStatusUntilItIsOld(t *testing.T) {
	w := beating(t)
	if got := w.get("/v1/status").list("hosts"); len(got) != 0 {
		t.Fatalf("before any beat: got %v", got)
	}
	a := w.call(agentToken, http.MethodPost, "/v1/hosts/gateway-1/beat", openclawBeat)
	want(t, a, "heard", true)
	want(t, a, "version", "1.2.3")
	w.clock.advance(29 * time.Second)
	got := w.get("/v1/status")
	want(t, got, "version", "1.2.3")
	want(t, got, "started", "2026-03-01T09:00:00Z")
	row := map[string]any{
		"id": "gateway-1", "host": "openclaw", "version": "2026.9.6", "pluginVersion": "0.1.0", "hooks": []any{"before_tool_call"},
		"everySeconds": float64(10), "last": "2026-03-01T09:00:00Z", "ageSeconds": float64(29), "silent": false,
	}
	if diff := cmp.Diff([]any{row}, got.list("hosts")); diff != "" {
		t.Errorf("after 29 s (-want +got)\n%s", diff)
	}
	w.clock.advance(time.Second)
	row["ageSeconds"], row["silent"] = float64(30), true
	if diff := cmp.Diff([]any{row}, w.get("/v1/status").list("hosts")); diff != "" {
		t.Errorf("three beats missing (-want +got)\n%s", diff)
	}
	w.call(agentToken, http.MethodPost, "/v1/hosts/gateway-1/beat", `{"host":"openclaw"}`)
	w.clock.advance(89 * time.Second)
	if got := w.get("/v1/status").list("hosts"); len(got) != 1 || got[0].(map[string]any)["silent"] != false {
		t.Errorf("a host that does not say how often: got %v, want 90 s of patience", got)
	}
}

func TestBeatsAreForAgentsAndFitOnALine(t *testing.T) {
	w := beating(t)
	const path = "/v1/hosts/gateway/beat"
	wantProblem(t, w.call("", http.MethodPost, path, openclawBeat), http.StatusUnauthorized, "")
	wantProblem(t, w.call(approverToken, http.MethodPost, path, openclawBeat), http.StatusForbidden, "agent")
	for name, tt := range map[string]struct{ path, body string }{
		"no host":              {path, `{"version":"1"}`},
		"an empty host":        {path, `{"host":""}`},
		"a long name":          {path, fmt.Sprintf(`{"host":%q}`, strings.Repeat("x", 200))},
		"a control character":  {path, `{"host":"a\u001b[31m"}`},
		"a control in a hook":  {path, `{"host":"a","hooks":["b\n"]}`},
		"too many hooks":       {path, `{"host":"a","hooks":["x"` + strings.Repeat(`,"x"`, 100) + `]}`},
		"a long id":            {"/v1/hosts/" + strings.Repeat("x", 200) + "/beat", `{"host":"a"}`},
		"a key nobody knows":   {path, `{"host":"a","tokens":"b"}`},
		"a negative pause":     {path, `{"host":"a","everySeconds":-1}`},
		"something that is no": {path, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				wantProblem(t, w.call(agentToken, http.MethodPost, tt.path, tt.body), http.StatusBadRequest, "")
			}
		})
	}
	if got := w.get("/v1/status").list("hosts"); len(got) != 0 {
		t.Errorf("refused beats were heard: %v", got)
	}
}

func TestHostsAreBounded(t *testing.T) {
	w := beating(t)
	for i := range 300 {
		w.clock.advance(time.Millisecond)
		if a := w.call(agentToken, http.MethodPost, fmt.Sprintf("/v1/hosts/h%03d/beat", i), `{"host":"a"}`); a.status != http.StatusOK {
			t.Fatalf("beat %d: got %d %s", i, a.status, a.raw)
		}
	}
	got := w.get("/v1/status").list("hosts")
	if len(got) != 256 || got[0].(map[string]any)["id"] != "h044" {
		t.Errorf("got %d hosts, the first %v; want the 256 heard last", len(got), got[0])
	}
}

func TestWhetherASessionWasEverBegun(t *testing.T) {
	w := open(t, "")
	ask := func(key string) answer { return w.call(agentToken, http.MethodGet, "/v1/sessions/"+key+"/begun", "") }
	want(t, ask("agent:main:main"), "begun", false)
	want(t, ask("agent:main:main"), "begun", false) // asking begins nothing
	w.say("agent:main:main", "Hello.")
	a := ask("agent:main:main")
	want(t, a, "begun", true)
	want(t, a, "session", "agent:main:main")
	if len(a.body) != 2 {
		t.Errorf("got %s, want nothing else about the session", a.raw)
	}
	wantProblem(t, w.call("", http.MethodGet, "/v1/sessions/s/begun", ""), http.StatusUnauthorized, "")
	wantProblem(t, ask("%00"), http.StatusBadRequest, "")
}

func TestAPluginGetsTheLineThatShowsItIsAlive(t *testing.T) {
	w := open(t, "")
	ask := func(token, key string) answer {
		return w.call(token, http.MethodGet, "/v1/sessions/"+key+"/handshake", "")
	}
	want(t, ask(agentToken, "agent:main:main"), "line", "") // nobody wants one
	wantProblem(t, ask(approverToken, "s"), http.StatusForbidden, "")
	wantProblem(t, ask(agentToken, "%00"), http.StatusBadRequest, "")
}
