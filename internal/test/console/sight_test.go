package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// limited has the common reader and approver see the sessions of one agent.
const limited = "approvals:\n  agentGroups: {ours: [claude]}\n  people:\n    ana: {accounts: [reader, approver], sees: [\"group:ours\"]}\n"

// Somebody who sees the sessions of one agent is shown nothing of another's on any page, and can do nothing about it.
func TestNoPageShowsWhatIsHidden(t *testing.T) {
	w := serve(t, limited)
	own := w.ask("seen-session")
	w.agent = "theirs"
	q := w.asks("hidden-session", wish, "https://quartz.example", bait, "send_email", map[string]any{"to": evil, "body": "quartz"})
	for _, role := range []string{"reader", "approver"} {
		p := w.signIn(role)
		for _, path := range []string{
			"/console/", "/console/snapshot", "/console/sessions", "/console/grants", "/console/audit", "/console/audit/export?format=csv",
			"/console/audit?text=quartz", "/console/audit?session=hidden-session", "/console/session?key=hidden-session",
			"/console/session?key=hidden-session&show=graph", "/console/q/" + q.ID, "/console/q/" + q.ID + "/card", "/console/policy",
			"/console/tools", "/console/tools/history", "/console/health", "/console/reports", "/console/labels", "/console/writes",
			"/console/servers", "/console/stop", "/console/keys", "/console/several?id=" + q.ID + "&id=" + own.ID,
		} {
			a := p.get(path)
			for _, mark := range []string{"hidden-session", "theirs", "quartz"} {
				if strings.Contains(a.body, mark) && !strings.Contains(path, mark) {
					t.Errorf("%s shows %s to the %s: %d", path, mark, role, a.status)
				}
			}
		}
		p.get("/console/").want(t, http.StatusOK, own.ID)
		p.get("/console/sessions").want(t, http.StatusOK, "seen-session")
		p.get("/console/session?key=seen-session").want(t, http.StatusOK, "claude")
		p.get("/console/session?key=hidden-session").want(t, http.StatusNotFound)
		p.get("/console/reports").want(t, http.StatusForbidden, "you do not see all of them")
		f := p.form("/console/session?key=seen-session", "/console/session/act")
		f.Set("what", "hidden-session")
		f.Set("do", "deny-all")
		p.post("/console/session/act", f).want(t, http.StatusNotFound)
	}
	if got := w.question(q.ID); got.State != "pending" {
		t.Errorf("the hidden question is %s", got.State)
	}
	admin := w.signIn("admin")
	admin.get("/console/").want(t, http.StatusOK, q.ID, own.ID)
	admin.get("/console/session?key=hidden-session").want(t, http.StatusOK, "theirs")
}

// The picture has the edge it is for: from the page's text to the held call with a value of it, and says what to look at.
func TestThePictureLeadsFromTheTextToTheHeldCall(t *testing.T) {
	w := serve(t, "")
	w.ask("s")
	_, raw := w.api(http.MethodGet, "/v1/sessions/s/turns/latest/graph", w.app.Tokens.Reader, nil, nil)
	if !strings.Contains(raw, `{"from":"call-2","to":"result-1","relation":"consumes"}`) {
		t.Errorf("the graph has no such edge: %s", raw)
	}
	page := w.signIn("reader").get("/console/session?key=s&show=graph")
	page.want(t, http.StatusOK, `stroke-width="4"`, "A thick line leads from a text to the call in question")
}
