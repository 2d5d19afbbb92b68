package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/tool"
)

const claw = "/llm/claw/v1/chat/completions"

func system(text string) string { return fmt.Sprintf(`{"role":"system","content":%q}`, text) }

// asks is what a host's plugin does before it runs a call.
func (w *world) asks(session, id, name, args string) {
	w.t.Helper()
	if _, err := w.monitor.Decide(w.t.Context(), engine.Ref{Session: session}, tool.Call{ID: id, Name: name, Args: []byte(args)}); err != nil {
		w.t.Fatal(err)
	}
}

func TestAHostThatIsNeverSeenToAskIsFoundOut(t *testing.T) {
	for _, asks := range []bool{false, true} {
		w := open(t)
		sys := system(w.handshake.Sign("agent:main", time.Now().Add(time.Hour)))
		passed := 0
		for i := range 12 {
			id := fmt.Sprint("n", i)
			w.provider.then(answerJSON(chatCall(id, "send_note", `{"to":"eve"}`)))
			g := w.post(claw, chatRequest(false, sys, user(id), calls("x", "read_page", "{}"), returned("x", "evil text"), assistant("ok"), user("go on")))
			if strings.Contains(g.body, `"`+id+`"`) {
				passed++
			}
			if asks && i%3 == 0 {
				w.asks("agent:main", id, "send_note", `{"to":"eve"}`)
			}
		}
		if want := map[bool]int{false: 4, true: 12}[asks]; passed != want {
			t.Errorf("asks %t: %d calls passed, want %d", asks, passed, want)
		}
	}
}

func TestWhereAPluginMustBeAliveNoPathIsServedThatCannotShowOne(t *testing.T) {
	w := open(t)
	for _, c := range []struct{ method, path string }{
		{http.MethodPost, "/v1/completions"}, {http.MethodPost, "/v1/embeddings"}, {http.MethodPost, "/v1/responses/compact"},
		{http.MethodGet, "/v1/responses/r1"}, {http.MethodGet, "/v1/files"}, {http.MethodDelete, "/v1/models/m"}, {http.MethodPost, "/v1/messages/count_tokens"},
		{http.MethodPost, "/v1/chat/completions"}, {http.MethodPost, "/v1/models"},
	} {
		for range 2 {
			if g := w.do(c.method, "/llm/claw"+c.path, `{"messages":[{"role":"user","content":"Hi"}]}`, "Authorization", "Bearer k"); g.status != http.StatusForbidden {
				t.Errorf("%s %s: got %d %s, want 403", c.method, c.path, g.status, g.body)
			}
		}
	}
	if n := len(w.provider.requests()); n != 0 {
		t.Errorf("the provider got %d requests, want none", n)
	}
	w.provider.then(answerJSON(`{"data":[]}`))
	if g := w.do(http.MethodGet, "/llm/claw/v1/models", ""); g.status != http.StatusOK {
		t.Errorf("the list of models: got %d, want 200", g.status)
	}
}

func TestLinesOfThePluginNeverReachAProvider(t *testing.T) {
	w := open(t)
	line := w.handshake.Sign("agent:main", time.Now().Add(time.Hour))
	again := w.handshake.Sign("agent:main", time.Now().Add(2*time.Hour))
	old, _ := proxy.NewHandshake(strings.NewReader(strings.Repeat("x", 64)))
	stale := old.Sign("agent:main", time.Now().Add(time.Hour))
	escaped := strings.Replace(line, "[[", `\u005b[`, 1)
	inner := strings.Replace(line, "handshake", `h\u0061ndshake`, 1)
	for name, c := range map[string]struct{ path, system, user string }{
		"an upstream that wants none": {"/openai/v1/chat/completions", "x " + line, "hi"},
		"in somebody's words":         {"/openai/v1/chat/completions", "x", "hi " + line},
		"two lines":                   {claw, line + " and " + again, "hi"},
		"of an earlier start":         {claw, stale + line, "hi"},
		"an escaped bracket":          {claw, "x " + escaped, "hi"},
		"an escaped letter":           {claw, "x " + inner, "hi"},
		"after junk":                  {claw, "memory: [[tidemark:handshake a b c]] x " + line, "hi"},
		"quoted by the user too":      {claw, line, "what is " + line},
	} {
		for range 2 {
			w.provider.then(answerJSON(chatText("ok")))
			g := w.post(c.path, `{"model":"m","messages":[{"role":"system","content":"`+c.system+`"},{"role":"user","content":"`+c.user+`"}]}`)
			if g.status != http.StatusOK {
				t.Fatalf("%s: got %d %s, want 200", name, g.status, g.body)
			}
			sent := strings.ReplaceAll(w.provider.last().body, "[[tidemark:handshake a b c]]", "")
			if strings.Contains(sent, "andshake") || strings.Contains(sent, "ndshake") {
				t.Errorf("%s: sent %s", name, sent)
			}
		}
	}
	other := w.handshake.Sign("agent:other", time.Now().Add(time.Hour))
	if g := w.post(claw, chatRequest(false, system(line+other), user("hi"))); g.status != http.StatusForbidden {
		t.Errorf("two sessions: got %d %s, want 403", g.status, g.body)
	}
	nested := line[:10] + line + line[10:]
	if g := w.post(claw, chatRequest(false, system(nested), user("hi"))); g.status != http.StatusBadRequest {
		t.Errorf("one in another: got %d %s, want 400", g.status, g.body)
	}
}
