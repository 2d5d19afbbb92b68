package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// An administrator stops everything with two presses, and every page says so until it is resumed.
func TestAnAdministratorStopsEverything(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	admin := w.signIn("admin")
	const path = "/console/stop"
	if page := admin.get("/console/"); !strings.Contains(page.body, `href="`+path+`"`) {
		t.Error("the way to the page is not on the first page")
	}
	form := admin.form(path, path)
	form.Set("do", "stop")
	form.Set("reason", "<b>too many mails</b>")
	admin.post(path, form).want(t, http.StatusOK, "<h1")
	admin.get("/console/sessions").want(t, http.StatusOK, "Everything is stopped")
	admin.get(path).want(t, http.StatusOK, "&lt;b&gt;too many mails", "Resume")
	read := map[string]any{"toolName": "read", "params": map[string]any{"path": "a.txt"}}
	if v := w.hook("laptop/claude/7", "before_tool_call", read); v["block"] != true || !strings.Contains(v["blockReason"].(string), "too many mails") {
		t.Errorf("a call: got %v", v)
	}
	form = admin.form(path, path)
	form.Set("do", "resume")
	admin.post(path, form).want(t, http.StatusOK, "<h1")
	if page := admin.get("/console/"); strings.Contains(page.body, "Everything is stopped") {
		t.Error("it still says so")
	}
}

func TestOnlyAnAdministratorStopsAndResumes(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	const path = "/console/stop"
	for _, role := range []string{"reader", "approver"} {
		p := w.signIn(role)
		if page := p.get("/console/"); strings.Contains(page.body, path) {
			t.Errorf("%s is shown the way", role)
		}
		form := p.form("/console/", "/console/logout") // no form of the page is theirs
		p.post(path, url.Values{"do": {"stop"}, "token": form["token"]}).want(t, http.StatusForbidden)
	}
	if status, _ := w.api(http.MethodPost, "/v1/stop", w.token("approver"), map[string]any{}, nil); status != http.StatusForbidden {
		t.Errorf("an approver's token: got %d", status)
	}
	if status, said := w.api(http.MethodPost, "/v1/stop", w.token("admin"), map[string]any{}, nil); status != http.StatusOK {
		t.Fatalf("an admin's token: got %d %s", status, said)
	}
	p := w.signIn("approver")
	form := p.form(path, path)
	form.Set("do", "resume")
	p.post(path, form).want(t, http.StatusForbidden, "role admin")
}
