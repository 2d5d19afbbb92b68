package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/httpapi"
)

// With the agent's token alone nobody learns what answers a question, and chat commands are
// not carried out, whatever the host says of who speaks.
//
// WAR-10
func TestTheAgentsTokenCannotSpeakForTheOwner(t *testing.T) {
	w := open(t, "")
	q := held(w, "s")
	code, id := q.text("tidemark.approval.code"), q.text("tidemark.approval.id")
	if code == "" || id == "" || !strings.Contains(q.text("tidemark.approval.text"), ".approve exec "+code) {
		t.Fatalf("the owner's host is not told how to answer: %s", q.raw)
	}
	if reason := q.text("blockReason"); strings.Contains(reason, code) || strings.Contains(reason, id) {
		t.Errorf("the model is told the code or the question: %s", reason)
	}
	w.alone = true
	again := w.before("s", "exec", command)
	if raw := string(again.raw); strings.Contains(raw, code) || strings.Contains(raw, id) || again.text("tidemark.approval.prompt") == "" {
		t.Errorf("with the agent's token: %s", raw)
	}
	for _, words := range []string{".approve exec " + code, ".approve all " + code + " 60", ".deny " + code, ".reset-trust", ".approve exec"} {
		a := w.say("s", words)
		if a.text("tidemark.command") != "" || !strings.Contains(a.text("tidemark.notice"), "tidemark approvals watch") {
			t.Errorf("%s: got %s", words, a.raw)
		}
		for _, name := range []hook.Name{hook.NameBeforeAgentStart, hook.NameContextAssembled} {
			event := map[hook.Name]string{
				hook.NameBeforeAgentStart: `{"prompt":"` + words + `","messages":[]}`, hook.NameContextAssembled: `{"messages":[{"role":"user","content":"` + words + `"}]}`,
			}[name]
			if a := w.must(name, event, owner("s")); a.text("tidemark.command") != "" {
				t.Errorf("%s by %s: got %s", words, name, a.raw)
			}
		}
	}
	if a := w.before("s", "exec", command); a.at("block") != true {
		t.Errorf("it runs: %s", a.raw)
	}
	w.alone = false
	w.say("s", ".approve exec "+w.before("s", "exec", command).text("tidemark.approval.code"))
	if a := w.before("s", "exec", command); a.at("block") == true {
		t.Errorf("the owner's own word does not count: %s", a.raw)
	}
}

// Who takes the owner's token for one that opens hooks is told where it goes.
func TestTheOwnersTokenAloneOpensNothing(t *testing.T) {
	w := open(t, "")
	body := `{"event":{"from":"u1","content":"hi"},"ctx":{"sessionKey":"s"}}`
	wantProblem(t, w.call(ownerToken, http.MethodPost, "/v1/hooks/message_received", body), http.StatusForbidden, "X-Tidemark-Owner")
	wantProblem(t, w.call(ownerToken, http.MethodGet, "/v1/approvals", ""), http.StatusForbidden, "X-Tidemark-Owner")
}

// WAR-10
func TestWhoseTokenVouchesForTheOwner(t *testing.T) {
	w := open(t, "")
	for token, want := range map[string]int{
		ownerToken: http.StatusOK, approverToken: http.StatusOK, adminToken: http.StatusOK,
		agentToken: http.StatusUnauthorized, readerToken: http.StatusUnauthorized, "": http.StatusUnauthorized, ownerToken + "x": http.StatusUnauthorized,
		httpapi.HashToken(ownerToken): http.StatusUnauthorized,
	} {
		r, err := http.NewRequest(http.MethodPost, w.url+"/v1/hooks/message_received", strings.NewReader(`{"event":{"from":"u1","content":"hi"},"ctx":{"sessionKey":"s"}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + agentToken}, "Content-Type": {"application/json"}, "X-Tidemark-Owner": {token}}
		if a := w.request(r); a.status != want {
			t.Errorf("%q: got status %d, want %d", token, a.status, want)
		}
	}
}
