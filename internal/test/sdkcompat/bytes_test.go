package sdkcompat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// requests are how a stream is asked for in each protocol, without any client.
func requests(prompt string) map[string]struct{ path, body string } {
	text, err := json.Marshal(prompt)
	if err != nil {
		panic(err) // a string
	}
	p := string(text)
	return map[string]struct{ path, body string }{
		"chat":      {"/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":` + p + `}]}`},
		"responses": {"/v1/responses", `{"model":"m","stream":true,"input":` + p + `}`},
		"messages":  {"/v1/messages", `{"model":"m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":` + p + `}]}`},
		"gemini":    {"/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":` + p + `}]}]}`},
	}
}

// A stream of many tiny events without a call comes out byte for byte as it was sent.
func TestTextIsByteForByteWhatWasSent(t *testing.T) {
	words := strings.Split(strings.Repeat("aé日", most/3), "")
	sent := map[string]string{}
	for kind := range requests("") {
		sent[kind] = (&script{kind: kind}).begin().text(words...).end().String()
	}
	h := newHostile(t, map[string]act{"words": func(a *answer) { a.stream(sent[a.kind]) }})
	w := newWorld(t, h.url)
	for kind, q := range requests("hostile:words:look") {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.base(kind)+q.path, strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Close = true
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		if closed := answer.Body.Close(); err != nil || closed != nil {
			t.Errorf("%s: read the answer: %v, %v", kind, err, closed)
		}
		if string(got) != sent[kind] {
			t.Errorf("%s: got %d bytes that are not the %d sent", kind, len(got), len(sent[kind]))
		}
	}
}
