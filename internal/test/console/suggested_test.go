package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// asksAlways is a policy with a rule that asks about two tools, whatever the context holds.
const asksAlways = "# ours\nrules:\n  - name: ask-first\n    tools: [note_add, note_read] # both\n    effect: ask\n"

// alwaysYes has a rule ask so often, and everybody say yes.
func (w *world) alwaysYes(n int) {
	w.t.Helper()
	for i := range n {
		session := fmt.Sprint("yes-", i)
		w.hook(session, "message_received", map[string]any{"content": "Add the note Bread", "from": "owner"})
		w.hook(session, "before_tool_call", map[string]any{"toolName": "note_add", "params": map[string]any{"text": "Bread"}, "toolCallId": "c1"})
	}
	for _, q := range w.questions() {
		if status, text := w.api(http.MethodPost, "/v1/approvals/"+q.ID, w.app.Tokens.Approver, map[string]any{"decision": "approve"}, nil); status != http.StatusOK {
			w.t.Fatalf("approve: %d %s", status, text)
		}
	}
}

var draftLink = regexp.MustCompile(`href="(/console/policy\?[^"]*suggestion=[^"]*)"`)

// CAU-11 CON-34: a suggestion opens as a draft, with what it would have changed; saving it takes what saving takes.
func TestASuggestionOpensAsADraft(t *testing.T) {
	t.Parallel()
	w := serve(t, asksAlways)
	w.alwaysYes(10)
	p := w.signIn("admin")
	m := draftLink.FindStringSubmatch(p.get("/console/reports").body)
	if m == nil {
		t.Fatalf("no suggestion leads to a draft:\n%s", p.get("/console/reports").body)
	}
	to := strings.ReplaceAll(m[1], "&amp;", "&")
	a := p.get(to)
	a.want(t, http.StatusOK, "A draft: effect: allow for note_add in rules.ask-first", "Nothing is saved yet", "Against 10 recorded sessions, 10 calls",
		"10 fewer", "note_add was ask and would be allow", "<ins>+    tools: [note_read] # both</ins>", "<del>-    tools: [note_add, note_read] # both</del>")
	file := filepath.Join(w.data, "tidemark.yaml")
	if raw, err := os.ReadFile(file); err != nil || string(raw) != asksAlways {
		t.Fatalf("opening a draft wrote %q, %v", raw, err)
	}
	draft := strings.Replace(asksAlways, "note_add, ", "", 1)
	f := url.Values{"do": {"save"}, "text": {draft}}
	for _, h := range fields.FindAllStringSubmatch(a.body, -1) {
		f.Set(h[1], h[2])
	}
	const path = "/console/policy/edit"
	f.Set("token", p.form("/console/policy?show=edit", path).Get("token"))
	p.post(path, f).want(t, http.StatusConflict, "not every such entry is ticked")
	for _, m := range regexp.MustCompile(`name="looser" value="([^"]*)"`).FindAllStringSubmatch(a.body, -1) {
		f.Add("looser", strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&amp;", "&").Replace(m[1]))
	}
	f.Set("do", "save")
	p.post(path, f).want(t, http.StatusOK, "Saved and in force")
	if raw, err := os.ReadFile(file); err != nil || string(raw) != draft {
		t.Errorf("the file says %q, %v", raw, err)
	}
	p.get(to).want(t, http.StatusConflict, "no longer fits the policy", "no longer about note_add", "This is the policy as it is")
	p.get("/console/policy?show=edit&suggestion=none").want(t, http.StatusNotFound, "makes no such suggestion")
	ada := w.stranger()
	ada.post("/console/login", url.Values{"code": {w.add("ada", "approver")}}).want(t, http.StatusOK)
	a = ada.get(to)
	a.want(t, http.StatusForbidden, "The text of the file is for admins")
	if strings.Contains(a.body, "note_read") {
		t.Errorf("the text of the file is shown to somebody who is no admin:\n%s", a.body)
	}
}

// CAU-11 CON-34: the same at the API.
func TestADraftAtTheAPI(t *testing.T) {
	t.Parallel()
	w := serve(t, asksAlways)
	w.alwaysYes(10)
	var r report.Report
	if status, text := w.api(http.MethodGet, "/v1/report", w.app.Tokens.Reader, nil, &r); status != http.StatusOK || len(r.Suggestions) == 0 {
		t.Fatalf("report: %d %s", status, text)
	}
	var out struct {
		Text       string                `json:"text"`
		Draft      string                `json:"draft"`
		Suggestion report.Suggestion     `json:"suggestion"`
		Comparison policyfile.Comparison `json:"comparison"`
	}
	at := "/v1/policy/draft?suggestion=" + r.Suggestions[0].ID
	if status, text := w.api(http.MethodGet, at, w.app.Tokens.Admin, nil, &out); status != http.StatusOK {
		t.Fatalf("draft: %d %s", status, text)
	}
	if out.Text != asksAlways || !strings.Contains(out.Draft, "tools: [note_read] # both") || out.Comparison.Fewer != 10 ||
		len(out.Comparison.Loosens()) == 0 || out.Suggestion.Tool != "note_add" {
		t.Errorf("got %+v", out)
	}
	for path, want := range map[string]int{
		"/v1/policy/draft?suggestion=none": http.StatusNotFound, "/v1/policy/draft": http.StatusBadRequest,
		"/v1/policy/draft?suggestion=x&days=0": http.StatusBadRequest,
	} {
		if status, text := w.api(http.MethodGet, path, w.app.Tokens.Admin, nil, nil); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, _ := w.api(http.MethodGet, at, w.add("ada", "approver"), nil, nil); status != http.StatusForbidden {
		t.Errorf("somebody who is no admin reads the file: %d", status)
	}
}
