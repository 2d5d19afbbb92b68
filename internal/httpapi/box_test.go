package httpapi_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/hook"
)

const makes = "make deploy"

// boxing is the owner's context in a host with a shell of its own that runs commands in a box.
func boxing(session string) string {
	return strings.TrimSuffix(owner(session), "}") + `,"hostTools":["exec","read"],"boxes":true,"workspaceDir":"/work/acme"}`
}

// confined has a command confined, and returns its ticket.
func confined(w *world, session, id, line string) string {
	w.t.Helper()
	w.must(hook.NameMessageReceived, `{"content":"Look at the page and mend the build"}`, boxing(session))
	w.fetch(session)
	a := w.must(hook.NameBeforeToolCall, fmt.Sprintf(`{"toolName":"exec","toolCallId":%q,"params":{"command":%q}}`, id, line), boxing(session))
	want(w.t, a, "decision", "confine")
	want(w.t, a, "block", true) // a host that knows of no boxes does not run it
	want(w.t, a, "tidemark.verdict", "confine")
	return a.text("confine.ticket")
}

func redeem(w *world, ticket, line string) answer {
	w.t.Helper()
	body := fmt.Sprintf(`{"ticket":%q,"command_sha256":"%x","pid":7}`, ticket, sha256.Sum256([]byte(line)))
	return w.call(agentToken, http.MethodPost, "/v1/box/redeem", body)
}

func TestACommandIsConfinedAndItsTicketRedeemedOnce(t *testing.T) {
	w := open(t, "box: {guard: [deploy/]}")
	ticket := confined(w, "s", "c1", makes)
	wantProblem(t, redeem(w, ticket, "make other"), http.StatusConflict, "another command")
	wantProblem(t, redeem(w, strings.Repeat("0", 32), makes), http.StatusNotFound, "")
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/box/redeem", `{"ticket":"x","command_sha256":"abc"}`), http.StatusBadRequest, "64")
	a := redeem(w, ticket, makes)
	if a.status != http.StatusOK {
		t.Fatalf("got %d %s", a.status, a.raw)
	}
	for path, value := range map[string]any{
		"session": "s", "call": "c1", "workspace": "/work/acme", "taint": "untrusted", "settings.layer": "caches",
	} {
		want(t, a, path, value)
	}
	if got := a.list("settings.guard"); len(got) != 1 || got[0] != "deploy/" {
		t.Errorf("got guard %v", got)
	}
	wantProblem(t, redeem(w, ticket, makes), http.StatusConflict, "used already")
	end := fmt.Sprintf(`{"ticket":%q,"exit":2,"report":{"refused":["x.example"]}}`, ticket)
	if a := w.call(agentToken, http.MethodPost, "/v1/box/ended", end); a.status != http.StatusOK {
		t.Errorf("got %d %s", a.status, a.raw)
	}
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/box/ended", end), http.StatusConflict, "used already")
	more := strings.Replace(end, "x.example", "y.example", 1) // when the box has ended, once
	if a := w.call(agentToken, http.MethodPost, "/v1/box/ended", more); a.status != http.StatusOK {
		t.Errorf("got %d %s", a.status, a.raw)
	}
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/box/ended", more), http.StatusConflict, "used already")
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/box/ended", end), http.StatusConflict, "used already")
	after := w.must(hook.NameAfterToolCall, `{"toolName":"exec","toolCallId":"c1","params":{"command":"make deploy"},"result":"ok"}`, boxing("s"))
	if got := after.at("tidemark.closed"); got != nil {
		t.Errorf("closed: %v", got)
	}
}

// BOX-03
func TestAResultWithoutItsBoxIsTold(t *testing.T) {
	w := open(t, "")
	confined(w, "s", "c1", makes)
	a := w.must(hook.NameAfterToolCall, `{"toolName":"exec","toolCallId":"c1","params":{"command":"make deploy"},"result":"ok"}`, boxing("s"))
	if text := a.text("tidemark.closed"); !strings.Contains(text, "was to run in a box") {
		t.Errorf("got closed %q", text)
	}
	if log := w.log.String(); !strings.Contains(log, "session closed to acts") {
		t.Errorf("the server's log does not say it: %s", log)
	}
	b := w.must(hook.NameBeforeToolCall, `{"toolName":"exec","params":{"command":"ls"}}`, boxing("s"))
	want(t, b, "block", true)
	want(t, b, "tidemark.rule", "session-closed")
	want(t, b, "confine", nil)
}

// A host that does not say that it makes boxes is asked as before.
func TestAHostWithoutBoxesIsAsked(t *testing.T) {
	w := open(t, "")
	from := strings.Replace(boxing("s"), `"boxes":true`, `"boxes":false`, 1)
	w.must(hook.NameMessageReceived, `{"content":"Look at the page and mend the build"}`, from)
	w.fetch("s")
	a := w.must(hook.NameBeforeToolCall, `{"toolName":"exec","params":{"command":"make deploy"}}`, from)
	want(t, a, "tidemark.verdict", "confirm")
	want(t, a, "confine", nil)
}
