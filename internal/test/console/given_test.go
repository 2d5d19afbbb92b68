package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// What a yes for the task opened is listed with its end and how often yet, and one press takes it back.
func TestWhatWasGivenIsListedAndTakenBack(t *testing.T) {
	w := serve(t, "")
	q := w.ask("s")
	if q.Task == "" {
		t.Fatal("there is no yes for the task")
	}
	p := w.signIn("approver")
	p.get("/console/grants").want(t, http.StatusOK, "No grants")
	p.votes(q, "task", nil).want(t, http.StatusOK)
	page := p.get("/console/grants")
	page.want(t, http.StatusOK, "for a task", "send_email", "ends 2", "calls left", "not used yet", "by ", "End it")
	reader := w.signIn("reader") // it narrows: whoever may deny may
	f := reader.form("/console/grants", "/console/session/act")
	f.Set("do", "revoke")
	reader.post("/console/session/act", f).want(t, http.StatusOK, "No grants")
	if strings.Contains(p.get("/console/grants").body, "End it") {
		t.Error("it is still there")
	}
}
