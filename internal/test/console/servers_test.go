package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// offers lists a tool of an MCP server as a relay does, and says whether the agent sees it.
func (w *world) offers(name, description string) bool {
	w.t.Helper()
	list, err := strictList(name, description)
	if err != nil {
		w.t.Fatal(err)
	}
	var out struct {
		Same bool `json:"same"`
	}
	status, body := w.api(http.MethodPost, "/v1/pins", w.app.Tokens.Agent,
		map[string]any{"ask": "tools", "server": map[string]any{"name": "mail", "command": []string{"mail"}}, "result": list}, &out)
	if status != http.StatusOK {
		w.t.Fatalf("%d %s", status, body)
	}
	return out.Same
}

// MCP-25
func TestDefinitionsAreAcceptedInTheConsole(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	w.offers("send_mail", "Sends.")
	if w.offers("send_mail", "Sends, and "+hostile["H1"]) {
		t.Fatal("what changed is shown to the agent")
	}
	const page = "/console/servers"
	reader := w.signIn("reader")
	reader.get(page).want(t, http.StatusOK, "send_mail", "Sends, and &lt;script&gt;", "Hidden because")
	f := reader.form(page, page)
	f.Set("do", "accept")
	reader.post(page, f).want(t, http.StatusForbidden, "takes the role approver")
	p := w.signIn("approver")
	f = p.form(page, page)
	f.Set("do", "accept")
	w.offers("send_mail", "Sends, and deletes.")
	p.post(page, f).want(t, http.StatusConflict, "not what was shown")
	p.post(page, url.Values{"do": {"accept"}, "what": f["what"]}).want(t, http.StatusForbidden)
	f = p.form(page, page)
	f.Set("do", "accept")
	p.post(page, f).want(t, http.StatusOK, "hidden: 0")
	if !w.offers("send_mail", "Sends, and deletes.") {
		t.Error("what was accepted is hidden")
	}
}

// MCP-25
func TestWithAPasskeyNoTokenAcceptsDefinitions(t *testing.T) {
	w := serve(t, "")
	b := w.browser()
	w.offers("send_mail", "Sends.")
	w.offers("send_mail", "Sends twice.")
	b.signIn("approver")
	b.authenticator(true)
	b.enrol("laptop")
	var review struct {
		Seen string `json:"seen"`
	}
	w.api(http.MethodGet, "/v1/servers/mail", w.app.Tokens.Admin, nil, &review)
	for _, token := range []string{w.app.Tokens.Approver, w.app.Tokens.Admin} {
		status, body := w.api(http.MethodPost, "/v1/servers/mail/accept", token, map[string]any{"seen": review.Seen}, nil)
		if status != http.StatusForbidden || !strings.Contains(body, "proof-required") {
			t.Errorf("a token alone: %d %s", status, body)
		}
	}
	b.open("/console/servers")
	b.click(`button[value=accept]`)
	b.until(`document.body.innerText.includes('hidden: 0') || document.querySelector('.problem')?.textContent`)
	if !w.offers("send_mail", "Sends twice.") {
		t.Errorf("with the key: still hidden\n%s", b.text())
	}
}

func strictList(name, description string) (string, error) {
	raw, err := strictjson.Marshal(map[string]any{"tools": []any{map[string]any{"name": name, "description": description}}})
	return string(raw), err
}

// MCP-25
func TestHiddenDefinitionsAreAskedAboutWithTheOtherQuestions(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	const page, path = "/console/", "/console/definitions"
	w.offers("send_mail", "Sends.")
	w.offers("send_mail", "Sends, and "+hostile["H1"])
	p := w.signIn("approver")
	p.get(page).want(t, http.StatusOK, "Definitions of MCP servers", "Sends, and &lt;script&gt;", "Keep it hidden")
	f := p.form(page, path)
	f.Set("do", "maybe")
	p.post(path, f).want(t, http.StatusBadRequest, "say accept or deny")
	f.Set("do", "deny")
	p.post(path, f).want(t, http.StatusOK, "Nothing waits for an answer")
	if body := p.get(page).body; strings.Contains(body, "send_mail") {
		t.Error("what a person denied is asked again")
	}
	f.Set("do", "accept")
	p.post(path, f).want(t, http.StatusConflict, "nobody asks this any more")

	w.offers("send_mail", "Sends twice.")
	reader := w.signIn("reader")
	g := reader.form(page, path)
	g.Set("do", "accept")
	reader.post(path, g).want(t, http.StatusForbidden, "takes the role approver")
	if w.offers("send_mail", "Sends twice.") {
		t.Fatal("a reader accepts")
	}
	f = p.form(page, path)
	f.Set("do", "accept")
	p.post(path, f).want(t, http.StatusOK, "Nothing waits for an answer")
	if !w.offers("send_mail", "Sends twice.") {
		t.Error("what was accepted is hidden")
	}
}
