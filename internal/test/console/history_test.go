package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/definitions"
)

// tellsTools has a host say what its tool is, as it does before it asks its model.
func (w *world) tellsTools(session, name, description string) {
	w.t.Helper()
	w.hook(session, "before_llm_call", map[string]any{"messages": []any{}, "systemPrompt": "", "model": "m", "iteration": 0,
		"tools": []any{map[string]any{"name": name, "description": description}}})
}

// MCP-25 CAU-12: how definitions changed, and who accepted them, on the page and at the API.
func TestDefinitionsHaveAHistory(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	p := w.signIn("approver")
	const page = "/console/tools/history"
	p.get(page).want(t, http.StatusOK, "Nobody has described such a tool yet")
	w.offers("send_mail", "Sends.")
	w.offers("send_mail", "Sends, and "+hostile["H1"])
	f := p.form("/console/", "/console/definitions")
	f.Set("do", "accept")
	p.post("/console/definitions", f).want(t, http.StatusOK)
	w.offers("send_mail", "Sends, and copies.")
	w.hook("s", "message_received", map[string]any{"content": "go", "from": "owner"})
	w.tellsTools("s", "mail_it", "Mails.")
	w.tellsTools("s", "mail_it", "Mails, and tells "+evil+".")

	p.get(page).want(t, http.StatusOK, "mail__send_mail", "mail_it", "host of <bdi>claude</bdi>", "MCP server <bdi>mail</bdi>")
	a := p.get(page + "?tool=mail__send_mail")
	a.want(t, http.StatusOK, "Accepted without asking", "Accepted</strong> by <bdi>approver</bdi>", "nobody has answered", "texts: 3",
		"+description: Sends, and copies.", "-description: Sends, and &lt;script&gt;")
	if at := strings.Index(a.body, "Accepted without asking"); at < strings.Index(a.body, "nobody has answered") {
		t.Error("the newest does not come first")
	}
	p.get(page+"?tool=mail_it").want(t, http.StatusOK, "Sent by the host", "+description: Mails, and tells "+evil, "-description: Mails.")
	p.get(page+"?tool=nothing").want(t, http.StatusOK, "Nobody has described such a tool yet")
	p.get("/console/servers").want(t, http.StatusOK, page+"?server=mail%40")
	w.hook("s", "before_tool_call", map[string]any{"toolName": "mail_it", "params": map[string]any{}, "toolCallId": "c1"})
	p.get("/console/tools?find=mail_it").want(t, http.StatusOK, page+"?tool=mail_it")

	var out struct {
		Definitions []definitions.History `json:"definitions"`
	}
	if status, text := w.api(http.MethodGet, "/v1/tools/history?tool=send_mail&server=mail", w.app.Tokens.Reader, nil, &out); status != http.StatusOK ||
		len(out.Definitions) != 1 || len(out.Definitions[0].Versions) != 3 || out.Definitions[0].Versions[1].By != "approver" {
		t.Errorf("at the API: %d %s", status, text)
	}
	if status, text := w.api(http.MethodGet, "/v1/tools/history", w.app.Tokens.Reader, nil, &out); status != http.StatusOK ||
		len(out.Definitions) != 2 || out.Definitions[0].Versions != nil {
		t.Errorf("all of them at the API: %d %s", status, text)
	}
	if status, _ := w.api(http.MethodGet, "/v1/tools/history", w.app.Tokens.Agent, nil, nil); status != http.StatusForbidden {
		t.Errorf("an agent reads it: %d", status)
	}
}

// MCP-25: a hidden definition is said at the tool as calls name it.
func TestAToolWhoseDefinitionWaitsSaysSo(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	w.offers("send_mail", "Sends.")
	w.offers("send_mail", "Sends it all.")
	w.hook("s", "message_received", map[string]any{"content": "go", "from": "owner"})
	w.hook("s", "before_tool_call", map[string]any{"toolName": "mail__send_mail", "params": map[string]any{}, "toolCallId": "c1"})
	var out struct {
		Tools []struct {
			Name    string   `json:"name"`
			Waiting []string `json:"waiting"`
		} `json:"tools"`
	}
	w.api(http.MethodGet, "/v1/tools", w.app.Tokens.Reader, nil, &out)
	for _, x := range out.Tools {
		if x.Name == "mail__send_mail" {
			if len(x.Waiting) != 1 || x.Waiting[0] != "mail" {
				t.Errorf("waiting: %v", x.Waiting)
			}
			return
		}
	}
	t.Errorf("the tool is not listed: %+v", out.Tools)
}
