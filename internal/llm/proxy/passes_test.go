package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/llm/proxy"
)

// What is not known to carry no calls is refused, with what to do about it.
func TestPathsThatNobodyNamedAreRefused(t *testing.T) {
	w := open(t)
	for _, c := range []struct{ method, path, says string }{
		{"GET", "/anthropic/v1/sessions/s/events/stream", "agents that run at the provider"},
		{"GET", "/anthropic/v1/sessions/s/events", "agents that run at the provider"},
		{"POST", "/anthropic/v1/sessions", "agents that run at the provider"},
		{"GET", "/anthropic/v1/environments/e/work/poll", "agents that run at the provider"},
		{"GET", "/anthropic/v1/deployments/d/files", "agents that run at the provider"},
		{"POST", "/openai/v1/conversations/c/restart", "agents that run at the provider"},
		{"GET", "/openai/v1/conversations/c/history", "agents that run at the provider"},
		{"POST", "/openai/v1/agents/completions", "agents that run at the provider"},
		{"POST", "/openai/v1/fim/completions", "not known here"},
		{"PUT", "/openai/v1/chat/completions", "method"},
		{"PATCH", "/openai/v1/responses/r", "method"},
		{"POST", "/openai/v3/ai/language-model", "not known here"},
		{"GET", "/openai/v1/evals/e/runs/r/output_items", "runs"},
		{"PUT", "/openai/v1/models", "not known here"},
		{"POST", "/gemini/v1/projects/p/locations/l/endpoints/e:predict", "can carry tool calls"},
		{"POST", "/gemini/v1beta/models/g:somethingNew", "can carry tool calls"},
	} {
		for range 2 {
			g := w.do(c.method, c.path, "{}")
			if g.status != http.StatusForbidden || !strings.Contains(g.body, c.says) {
				t.Errorf("%s %s: got %d %s, want 403 and %q", c.method, c.path, g.status, g.body, c.says)
			}
			if _, rest, _ := strings.Cut(c.path[1:], "/"); !strings.Contains(g.body, c.method+" /"+rest) || !strings.Contains(g.body, "passPaths") {
				t.Errorf("%s %s: got %s, want the way to allow it", c.method, c.path, g.body)
			}
		}
	}
	if n := len(w.provider.requests()); n != 0 {
		t.Errorf("the provider got %d requests, want none", n)
	}
}

func TestPathsThatCarryNoCallsPass(t *testing.T) {
	w := open(t)
	for _, c := range []struct{ method, path string }{
		{"GET", "/openai/v1/models"}, {"GET", "/openai/v1/models/ft:gpt:org::x"}, {"GET", "/openai/models"}, {"HEAD", "/anthropic/v1/whatever"},
		{"POST", "/openai/v1/embeddings"}, {"POST", "/openai/deployments/d/embeddings"}, {"POST", "/openai/openai/deployments/d/audio/speech"},
		{"POST", "/openai/v1/files"}, {"GET", "/openai/v1/files/f/content"}, {"DELETE", "/openai/v1/files/f"}, {"POST", "/openai/v1/moderations"},
		{"POST", "/openai/v1/audio/transcriptions"}, {"POST", "/openai/v1/images/generations"}, {"GET", "/openai/v1/vector_stores/v/files"},
		{"POST", "/anthropic/v1/messages/count_tokens"}, {"GET", "/anthropic/v1/models/m"}, {"POST", "/openai/v1/responses/input_tokens"},
		{"DELETE", "/openai/v1/responses/r"}, {"POST", "/gemini/v1beta/models/g:countTokens"}, {"POST", "/gemini/v1beta/models/g:embedContent"},
		{"POST", "/gemini/v1/projects/p/locations/l/publishers/google/models/i:predict"}, {"POST", "/gemini/upload/v1beta/files"},
		{"GET", "/gemini/v1beta/models"}, {"GET", "/gemini/v1beta/files/f"}, {"GET", "/openai/api/tags"}, {"GET", "/openai/api/v1/models"},
		{"POST", "/openai/v1/conversations"}, {"GET", "/openai/v1/conversations/c"},
	} {
		w.provider.only(answerJSON(`{"ok":true}`))
		if g := w.do(c.method, c.path, "{}"); g.status != http.StatusOK || c.method != "HEAD" && g.body != `{"ok":true}` {
			t.Errorf("%s %s: got %d %s, want it to pass", c.method, c.path, g.status, g.body)
		}
	}
}

func TestAStreamOnAPathThatIsNotKnownForOneIsRefused(t *testing.T) {
	w := open(t)
	for path, passes := range map[string]bool{"/openai/v1/models": false, "/openai/v1/files/f/content": false} {
		w.provider.only(answerEvents("data: {\"type\":\"agent.tool_use\",\"name\":\"wipe\"}\n\n"))
		if g := w.do("GET", path, ""); strings.Contains(g.body, "wipe") != passes || g.status != http.StatusBadGateway {
			t.Errorf("%s: got %d %s", path, g.status, g.body)
		}
	}
	w.provider.only(answerEvents("data: {\"type\":\"speech.audio.delta\"}\n\n"))
	if g := w.do("POST", "/openai/v1/audio/speech", "{}"); !strings.Contains(g.body, "speech.audio.delta") {
		t.Errorf("speech: got %d %s", g.status, g.body)
	}
}

// Two providers have this path: one makes a conversation, the other runs a model.
func TestAConversationIsMadeAndNotRun(t *testing.T) {
	w := open(t)
	for _, path := range []string{"/openai/v1/conversations", "/openai/v1/conversations/c"} {
		if g := w.post(path, `{"inputs":"do it","model":"m"}`); g.status != http.StatusForbidden || !strings.Contains(g.body, "agents that run") {
			t.Errorf("%s: got %d %s, want 403", path, g.status, g.body)
		}
		if g := w.post(path, `{"metadata":{},"metadata":{}}`); g.status != http.StatusBadRequest {
			t.Errorf("%s: got %d %s, want 400", path, g.status, g.body)
		}
		w.provider.only(answerJSON(`{"id":"conv_1"}`))
		if g := w.post(path, `{"metadata":{"a":"b"}}`); g.body != `{"id":"conv_1"}` || w.provider.last().body != `{"metadata":{"a":"b"}}` {
			t.Errorf("%s: got %d %s, sent %s", path, g.status, g.body, w.provider.last().body)
		}
		for _, answer := range []string{ // another provider runs a model on what holds nothing
			`{"id":"conv_1","outputs":[{"type":"function.call","name":"wipe","arguments":"{}"}]}`, `[{"name":"wipe","arguments":"{}"}]`, `{"id":1,"id":2}`, `no`,
		} {
			for _, request := range []string{`{}`, ``, `{"metadata":{}}`} {
				w.provider.only(answerJSON(answer))
				if g := w.post(path, request); g.status != http.StatusBadGateway || strings.Contains(g.body, "wipe") {
					t.Errorf("%s %s: got %d %s, want 502", path, request, g.status, g.body)
				}
			}
		}
		w.provider.only(answerEvents("data: {\"x\":1}\n\n"))
		if g := w.post(path, `{}`); g.status != http.StatusBadGateway {
			t.Errorf("%s, a stream: got %d %s, want 502", path, g.status, g.body)
		}
	}
}

func TestWhatTheOperatorVouchesForPasses(t *testing.T) {
	pattern := func(text string) endpoint.Pattern {
		p, err := endpoint.ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	w := open(t, func(o *proxy.Options) {
		o.Upstreams[0].PassPaths = []endpoint.Pattern{pattern("POST /v1/fim/completions"), pattern("GET /v1/evals/**"), pattern("POST /v1/chat/completions"), pattern("/v1/realtime")}
		o.Upstreams[0].PassNames = []string{"odd_things"}
	})
	w.provider.only(answerEvents("data: {\"x\":1}\n\n"))
	if g := w.post("/openai/v1/fim/completions", "{}"); g.body != "data: {\"x\":1}\n\n" {
		t.Errorf("a path: got %d %s", g.status, g.body)
	}
	w.provider.only(answerJSON(`{}`))
	if g := w.do("GET", "/openai/v1/evals/e/runs", ""); g.status != http.StatusOK {
		t.Errorf("a pattern: got %d %s", g.status, g.body)
	}
	if g := w.post("/anthropic/v1/fim/completions", "{}"); g.status != http.StatusForbidden {
		t.Errorf("another upstream: got %d %s, want 403", g.status, g.body)
	}
	w.provider.only(answerJSON(chatCall("c-never", "wipe", "{}")))
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi"))); strings.Contains(g.body, "c-never") {
		t.Errorf("a judged path: got %s, want it judged", g.body)
	}
	if g := w.do("GET", "/openai/v1/realtime", "", "Connection", "Upgrade", "Upgrade", "websocket"); g.status != http.StatusForbidden || strings.Contains(g.body, "passPaths") {
		t.Errorf("a websocket: got %d %s, want 403 for good", g.status, g.body)
	}
	odd := strings.Replace(chatText("Hello."), `"content"`, `"odd_things":[{"name":"x"}],"content"`, 1)
	w.provider.then(answerJSON(odd), answerJSON(odd))
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi"))); g.body != odd {
		t.Errorf("a member: got %d %s", g.status, g.body)
	}
	if g := w.post("/claw/v1/x", ""); g.status != http.StatusNotFound {
		t.Errorf("got %d", g.status)
	}
	w = open(t)
	w.provider.only(answerJSON(odd))
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi"))); g.status != http.StatusBadGateway || !strings.Contains(g.body, "odd_things") || !strings.Contains(g.body, "passNames") {
		t.Errorf("a member nobody vouches for: got %d %s", g.status, g.body)
	}
}
