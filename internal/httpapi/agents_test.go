package httpapi_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

// withPeople is a server that keeps tokens of people and agents.
func withPeople(t *testing.T) func(*httpapi.Options) {
	t.Helper()
	r, err := accounts.Open(accounts.Options{
		Path: filepath.Join(t.TempDir(), "people.json"), Now: time.Now, Rand: strings.NewReader(strings.Repeat("0123456789abcdefghijklmn", 8)),
		Record: func(context.Context, event.Person) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *httpapi.Options) { o.People = r }
}

func TestATokenOfOneAgentSpeaksForNoOther(t *testing.T) {
	w := open(t, byLevels, withPeople(t))
	made := w.call(agentToken, http.MethodPost, "/v1/agents", `{"name":"night","agent":"night-build"}`)
	token := made.text("token")
	want(t, made, "agent", "night-build")
	say := func(token, session, agent string) answer {
		return w.call(token, http.MethodPost, "/v1/hooks/message_received",
			`{"event":{"content":"hello"},"ctx":{"sessionKey":"`+session+`","agentId":"`+agent+`","messageProvider":"cli","senderIsOwner":true}}`)
	}
	if a := say(token, "n1", ""); a.status != http.StatusOK {
		t.Fatalf("its own session: %d %s", a.status, a.raw)
	}
	if a := say(token, "n1", "night-build"); a.status != http.StatusOK {
		t.Fatalf("by its name: %d %s", a.status, a.raw)
	}
	wantProblem(t, say(token, "n1", "codex"), http.StatusForbidden, "night-build's")
	say(agentToken, "c1", "codex") // the common token goes on
	wantProblem(t, say(token, "c1", ""), http.StatusForbidden, "codex")
	wantProblem(t, say(token, "c1", "night-build"), http.StatusForbidden, "codex")
	at := w.call(readerToken, http.MethodGet, "/v1/sessions/n1", "")
	want(t, at, "agentId", "night-build")

	wantProblem(t, w.call(token, http.MethodPost, "/v1/agents", `{"name":"other","agent":"codex"}`), http.StatusForbidden, "makes no others")
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/agents", `{"name":"night","agent":"x"}`), http.StatusConflict, "name")
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/agents", `{"name":"y","agent":""}`), http.StatusBadRequest, "agent")
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/people", `{"name":"eve","role":"approver"}`), http.StatusForbidden, "role")
	w.call(adminToken, http.MethodDelete, "/v1/people/night", "")
	wantProblem(t, say(token, "n1", ""), http.StatusUnauthorized, "nobody")
}

// A client that has an agent's own token and no other knows the server by it.
func TestTheServerProvesItselfToATokenOfOneAgent(t *testing.T) {
	w := open(t, byLevels, withPeople(t))
	token := w.call(agentToken, http.MethodPost, "/v1/agents", `{"name":"night","agent":"night-build"}`).text("token")
	address := strings.TrimPrefix(w.url, "http://")
	for name, c := range map[string]struct {
		secret string
		good   bool
	}{"the common token": {agentToken, true}, "its own": {token, true}, "a stranger's": {"tm-agent-nobody-knows-this-one", false}} {
		conn, err := serverproof.Dialer(c.secret, w.url)(t.Context(), "tcp", address)
		if got := err == nil; got != c.good {
			t.Errorf("%s: %v", name, err)
		}
		if conn != nil {
			_ = conn.Close()
		}
	}
}
