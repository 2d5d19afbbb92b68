package proxy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

// everyForm asks in every format and both ways; the official clients must read our text.
func everyForm(t *testing.T, w *world, want string) {
	t.Helper()
	for _, stream := range []bool{false, true} {
		if m := chatOnce(t, w, openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hi")}}, stream); !strings.Contains(m.Content, want) {
			t.Errorf("chat, stream %v: got %+v, want %q", stream, m, want)
		}
		m := messageOnce(t, w, anthropic.MessageNewParams{Model: "m", MaxTokens: 9, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hi"))}}, stream)
		if len(m.Content) != 1 || !strings.Contains(m.Content[0].Text, want) || m.StopReason != "end_turn" {
			t.Errorf("messages, stream %v: got %+v, want %q", stream, m, want)
		}
		if got := responseOnce(t, w, stream); !strings.Contains(got, want) {
			t.Errorf("responses, stream %v: got %q, want %q", stream, got, want)
		}
	}
	body := `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`
	for path, begin := range map[string]string{
		"/gemini/v1beta/models/g:generateContent":               `{"candidates"`,
		"/gemini/v1beta/models/g:streamGenerateContent?alt=sse": `data: {"candidates"`,
		"/gemini/v1beta/models/g:streamGenerateContent":         `[{"candidates"`,
	} {
		if g := w.post(path, body); !strings.HasPrefix(g.body, begin) || !strings.Contains(g.body, want) {
			t.Errorf("%s: got %s, want %q", path, g.body, want)
		}
	}
}

func responseOnce(t *testing.T, w *world, stream bool) string {
	t.Helper()
	client := openAI(w)
	params := responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Hi")}}
	if !stream {
		r, err := client.Responses.New(context.Background(), params)
		if err != nil {
			t.Fatal(err)
		}
		return r.OutputText()
	}
	s := client.Responses.NewStreaming(context.Background(), params)
	var deltas, whole string
	for s.Next() {
		switch e := s.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			deltas += e.Delta
		case responses.ResponseCompletedEvent:
			whole = e.Response.OutputText()
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if deltas != whole {
		t.Errorf("deltas %q, whole %q: want the same", deltas, whole)
	}
	return whole
}

func TestGeminiIsJudgedToo(t *testing.T) {
	w := open(t)
	call := `{"candidates":[{"content":{"role":"model","parts":[{"text":"Well. "},{"functionCall":{"name":"wipe","args":{"x":"call-g"}}}]},"finishReason":"STOP","index":0}]}`
	body := `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"wipe"},{"name":"add"}]}]}`
	w.provider.then(answerJSON(call), answerEvents("data: "+call+"\r\n\r\n"), answerJSON("["+call+"]"))
	for _, path := range []string{"generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent"} {
		g := w.do("POST", "/gemini/v1beta/models/g:"+path, body, "X-Goog-Api-Key", clientKey)
		if strings.Contains(g.body, "call-g") || !strings.Contains(g.body, "Well. ") || !strings.Contains(g.body, "blocked by security policy") {
			t.Errorf("%s: got %d %s, want the call replaced", path, g.status, g.body)
		}
		if sent := w.provider.last(); strings.Contains(sent.body, "wipe") || sent.path != "/v1beta/models/g:"+strings.Split(path, "?")[0] {
			t.Errorf("%s: sent %+v, want no wipe", path, sent)
		}
	}
}
