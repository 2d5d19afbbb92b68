package httpapi_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Whatever a host sends: an answer that fits, or a refusal that is the sender's fault.
// Never a fault of ours, never a gate that neither answers nor blocks.
func FuzzHookRequest(f *testing.F) {
	w := open(f, "taintPolicy: {untrusted: hide}\n")
	handler := w.api.Handler()
	for i, event := range []string{
		`{"toolName":"exec","params":{"command":"ls"}}`, `{"toolName":"read","result":{"childSessionKey":"x"}}`,
		`{"messages":[{"role":"user","content":".approve all 00000000"}],"tools":[{"name":"exec"}],"iteration":3}`,
		`{"toolCalls":[{"id":"1","name":"exec","arguments":{}}]}`, `{"content":"Done."}`, `{"from":"u1","content":".reset-trust"}`,
		`{"sources":[{"kind":"history","trust":"external"}]}`, `{"toolName":"read","message":{"details":{"childSessionKey":""}}}`,
		`{"toolName":"\ud800"}`, `{"iteration":-1}`, `{}`, `null`, `[]`,
	} {
		for n := range hook.Names() {
			f.Add(uint8(n), []byte(`{"event":`+event+`,"ctx":`+owner("s")+`}`))
		}
		f.Add(uint8(i), []byte(`{"event":`+event+`,"ctx":{"sessionKey":"s","branch":"b","runId":"r","spawnedBy":"p","senderMetadata":false,"inputProvenance":{"kind":"inter_session","sourceSessionKey":"q"}}}`))
	}
	f.Add(uint8(6), []byte("{\"event\":{\"toolName\":\"\xff\"},\"ctx\":{\"sessionKey\":\"s\"}}"))
	f.Add(uint8(6), bytes.Repeat([]byte("["), 5000))
	names := hook.Names()
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		name := names[int(which)%len(names)]
		r := httptest.NewRequest(http.MethodPost, "http://localhost/v1/hooks/"+string(name), bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+agentToken)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		if rec.Code >= 500 {
			t.Fatalf("%s: got status %d for %q: %s", name, rec.Code, body, rec.Body)
		}
		var answer map[string]any
		if err := strictjson.Unmarshal(rec.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%s: the answer is no JSON object: %v: %s", name, err, rec.Body)
		}
		gates := name == hook.NameBeforeToolCall || name == hook.NameBeforeLLMCall || name == hook.NameBeforeResponseEmit
		if gates && rec.Code != http.StatusOK && answer["block"] != true {
			t.Fatalf("%s: a refusal that does not block: %s", name, rec.Body)
		}
	})
}
