package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// flood lets a session ask about many calls.
func (w *world) flood(session string, n int) {
	w.t.Helper()
	w.ask(session)
	for i := 1; i < n; i++ {
		w.hook(session, "before_tool_call", map[string]any{"toolName": "send_email", "toolCallId": fmt.Sprintf("f%d", i),
			"params": map[string]any{"to": fmt.Sprintf("promo%d@spam.example", i), "subject": "Bread", "body": "Good bread"}})
	}
}

// What floods the list is shown as one thing, hides nobody else's question, and is denied at once.
func TestAFloodIsOneThing(t *testing.T) {
	w := serve(t, "")
	w.flood("noisy", 41)
	other := w.ask("quiet")
	p := w.signIn("reader")
	page := p.get("/console/")
	page.want(t, http.StatusOK, "41 calls of this session wait", "Deny all 41 of this session", `id="q-`+other.ID+`"`)
	if n := strings.Count(page.body, `<article`); n != 6 {
		t.Errorf("%d cards, want five of the flood and the other one", n)
	}
	p.get("/console/snapshot").want(t, http.StatusOK, "41 calls of this session wait", "Deny all 41 of this session")
	f := p.form("/console/", "/console/session/act")
	f.Set("do", "deny-all")
	p.post("/console/session/act", f).want(t, http.StatusOK, other.ID)
	for _, q := range w.questions() {
		if want := map[bool]string{true: "pending", false: "denied"}[q.ID == other.ID]; q.State != want && q.State != "" {
			t.Errorf("%s of %s is %s, want %s", q.ID, q.Session, q.State, want)
		}
	}
	if got := w.question(other.ID); got.State != "pending" {
		t.Errorf("the question of another session is %s", got.State)
	}
	p.get("/console/snapshot").want(t, http.StatusOK, `"floods":""`)
	p.post("/console/session/act", f).want(t, http.StatusConflict, "no call of this session waits")
}
