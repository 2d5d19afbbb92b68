package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/eventstream"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/internal/llm/sigv4"
)

// Amazon's and Google's services are scripted here: they speak the recorded wire, and none was run against the real one.

// clouds adds upstreams that are clouds.
func clouds(o *proxy.Options) {
	base := o.Upstreams[0].BaseURL
	o.Upstreams = append(o.Upstreams,
		proxy.Upstream{Name: "bedrock", API: "bedrock", BaseURL: base, Sign: &sigv4.Key{ID: "AKIDOURS", Secret: "s", Region: "us-east-1", Service: "bedrock"}},
		proxy.Upstream{Name: "unsigned", API: "bedrock", BaseURL: base},
		proxy.Upstream{Name: "vertex", API: "vertex", BaseURL: base + "/v1"},
		proxy.Upstream{Name: "google", API: "gemini", BaseURL: base},
	)
}

const (
	cloudModel    = "us.anthropic.claude-x-v1:0"
	cloudMessages = `{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"messages":[{"role":"user","content":"tell Petra"}],"tools":[` + noteMessages + `,{"name":"wipe","input_schema":{"type":"object"}}]}`
)

func messagesCall(tool string) string {
	return fmt.Sprintf(`{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"t1","name":%q,"input":{"to":"petra"}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`, tool)
}

func messagesCallEvents(tool string) []string {
	return []string{
		`{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I will."}}`,
		`{"type":"content_block_stop","index":0}`,
		fmt.Sprintf(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":%q,"input":{}}}`, tool),
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"to\":\"petra\"}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":1}}`,
	}
}

// answerFrames is a stream in Amazon's frames.
func answerFrames(t *testing.T, kind eventstream.Kind, events ...string) http.HandlerFunc {
	t.Helper()
	frames, err := eventstream.Frames([]byte(strings.Join(events, "")), kind)
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", eventstream.MediaType)
		for len(frames) > 0 { // in pieces that are no frames
			n := min(len(frames), 100)
			_, _ = w.Write(frames[:n])
			_ = http.NewResponseController(w).Flush()
			frames = frames[n:]
		}
	}
}

func data(events ...string) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = "data: " + e + "\n\n"
	}
	return out
}

// unframed is what a client reads in frames.
func unframed(t *testing.T, g got, kind eventstream.Kind) string {
	t.Helper()
	if g.status != 200 || g.header.Get("Content-Type") != eventstream.MediaType {
		t.Fatalf("got %d %s %s, want frames", g.status, g.header.Get("Content-Type"), g.body)
	}
	out, err := io.ReadAll(eventstream.NewReader(bytes.NewReader([]byte(g.body)), kind))
	if err != nil {
		t.Fatalf("frames: %v in %q", err, g.body)
	}
	return string(out)
}

// judgedBoth checks that a call is let through as it came, and its twin is not.
func judgedBoth(t *testing.T, w *world, path, body string, whole func(tool string) string) {
	t.Helper()
	w.provider.then(answerJSON(whole("send_note")), answerJSON(whole("wipe")))
	if g := w.post(path, body); g.status != 200 || g.body != whole("send_note") {
		t.Errorf("%s: allowed: got %d %s, want it as it came", path, g.status, g.body)
	}
	if g := w.post(path, body); g.status != 200 || !strings.Contains(g.body, "security policy") || strings.Contains(g.body, `"t1"`) {
		t.Errorf("%s: refused: got %d %s, want our words", path, g.status, g.body)
	}
}

func TestClaudeOnBedrockIsJudged(t *testing.T) {
	w := open(t, clouds)
	judgedBoth(t, w, "/bedrock/model/"+cloudModel+"/invoke", cloudMessages, messagesCall)
	for _, s := range w.provider.requests() {
		if strings.Contains(s.body, "wipe") || s.path != "/model/"+cloudModel+"/invoke" {
			t.Errorf("got %s %s, want the tool that may not be used hidden", s.path, s.body)
		}
	}
	stream := "/bedrock/model/us.anthropic.claude-x-v1%3A0/invoke-with-response-stream"
	w.provider.then(answerFrames(t, eventstream.Chunks, data(messagesCallEvents("send_note")...)...), answerFrames(t, eventstream.Chunks, data(messagesCallEvents("wipe")...)...))
	if got, want := unframed(t, w.post(stream, cloudMessages), eventstream.Chunks), strings.Join(data(messagesCallEvents("send_note")...), ""); got != want {
		t.Errorf("allowed: got %s, want every event as it came", got)
	}
	if got := unframed(t, w.post(stream, cloudMessages), eventstream.Chunks); !strings.Contains(got, "security policy") || strings.Contains(got, `"t1"`) || !strings.Contains(got, `"end_turn"`) {
		t.Errorf("refused: got %s, want our words", got)
	}
}

// A resource of an account has a slash in its name, and is one part of the path all the same.
func TestRequestsToBedrockAreSignedAnew(t *testing.T) {
	w := open(t, clouds)
	arn := "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2"
	escaped := "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2"
	w.provider.then(answerJSON(messagesCall("send_note")), answerJSON(`{"inputTokens":1}`))
	const theirs = "AWS4-HMAC-SHA256 Credential=AKIDCLIENT/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00"
	if g := w.do("POST", "/bedrock/model/"+escaped+"/invoke", cloudMessages, "Authorization", theirs, "X-Amz-Security-Token", "theirs"); g.status != 200 {
		t.Fatalf("got %d %s", g.status, g.body)
	}
	s := w.provider.last()
	if s.path != "/model/"+arn+"/invoke" || !strings.HasPrefix(s.header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=AKIDOURS/") || s.header.Get("X-Amz-Security-Token") != "" {
		t.Errorf("got %s %v, want our signature alone", s.path, s.header)
	}
	if g := w.do("POST", "/bedrock/model/"+cloudModel+"/count-tokens", `{"input":{}}`, "Authorization", theirs); g.status != 200 {
		t.Errorf("counting: got %d %s", g.status, g.body)
	}
	if s := w.provider.last(); !strings.Contains(s.header.Get("Authorization"), "AKIDOURS") || s.body != `{"input":{}}` {
		t.Errorf("counting: got %v %s, want our signature", s.header, s.body)
	}
	before := len(w.provider.requests())
	if g := w.do("POST", "/llm/unsigned/model/"+cloudModel+"/invoke", cloudMessages, "Authorization", theirs); g.status != http.StatusUnauthorized || !strings.Contains(g.body, "sign") {
		t.Errorf("without a key: got %d %s, want the way out", g.status, g.body)
	}
	for _, path := range []string{"/bedrock/model/a%2Fb/invoke", "/bedrock/model/..%2Fadmin/invoke", "/bedrock/model/a%2F..%2Fb/converse", "/bedrock%2Fmodel/" + cloudModel + "/invoke", "/openai/model/" + escaped + "/invoke"} {
		if g := w.do("POST", path, cloudMessages); g.status != http.StatusBadRequest && g.status != http.StatusForbidden && g.status != http.StatusNotFound {
			t.Errorf("%s: got %d %s, want a refusal", path, g.status, g.body)
		}
	}
	if n := len(w.provider.requests()); n != before {
		t.Errorf("%d requests went out", n-before)
	}
	w.provider.then(answerJSON(messagesCall("send_note")))
	if g := w.do("POST", "/llm/unsigned/model/"+cloudModel+"/invoke", cloudMessages, "Authorization", "Bearer bedrock-api-key"); g.status != 200 || w.provider.last().header.Get("Authorization") != "Bearer bedrock-api-key" {
		t.Errorf("a key for Bedrock: got %d %s, want it passed on", g.status, g.body)
	}
}

// Conversations go by who signs, not by the signature, which is another each time.
func TestAConversationOutlivesASignature(t *testing.T) {
	w := open(t, clouds)
	sign := func(n int) string {
		return fmt.Sprintf("AWS4-HMAC-SHA256 Credential=AKIDCLIENT/2026010%d/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=%064d", n, n)
	}
	const first = `{"role":"user","content":"hello"}`
	body := func(messages ...string) string {
		return `{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"tools":[` + noteMessages + `],"messages":[` + strings.Join(messages, ",") + `]}`
	}
	w.provider.then(answerJSON(`{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hi there"}],"stop_reason":"end_turn","usage":{}}`),
		answerJSON(messagesCall("send_note")))
	path := "/bedrock/model/" + cloudModel + "/invoke"
	w.do("POST", path, body(first), "Authorization", sign(1))
	g := w.do("POST", path, body(first, `{"role":"assistant","content":[{"type":"text","text":"Hi there"}]}`, `{"role":"user","content":"tell Petra"}`), "Authorization", sign(2))
	if !strings.Contains(g.body, `"t1"`) {
		t.Errorf("got %d %s, want the second turn clean", g.status, g.body)
	}
}

func TestErrorsOfCloudsPassAndBrokenAnswersDoNot(t *testing.T) {
	w := open(t, clouds)
	stream := "/bedrock/model/" + cloudModel + "/invoke-with-response-stream"
	w.provider.then(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("X-Amzn-Errortype", "ThrottlingException")
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(rw, `{"message":"slow down"}`)
	})
	if g := w.post(stream, cloudMessages); g.status != 429 || g.header.Get("X-Amzn-Errortype") != "ThrottlingException" || g.body != `{"message":"slow down"}` {
		t.Errorf("an error: got %d %v %s, want it as it came", g.status, g.header, g.body)
	}
	events := data(messagesCallEvents("send_note")...)
	w.provider.then(answerFrames(t, eventstream.Chunks, append(events[:3:3], "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"modelStreamErrorException\",\"message\":\"gone\"}}\n\n")...))
	if got := unframed(t, w.post(stream, cloudMessages), eventstream.Chunks); !strings.Contains(got, "I will.") || !strings.Contains(got, `"modelStreamErrorException","message":"gone"`) {
		t.Errorf("an exception: got %s, want it where it stood", got)
	}
	whole, err := eventstream.Frames([]byte(strings.Join(events, "")), eventstream.Chunks)
	if err != nil {
		t.Fatal(err)
	}
	whole[len(whole)/2] ^= 1
	w.provider.then(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", eventstream.MediaType)
		_, _ = rw.Write(whole)
	})
	if g := w.post(stream, cloudMessages); strings.Contains(g.body, "t1") || !strings.Contains(g.body, "internalServerException") {
		t.Errorf("a broken frame: got %q, want an exception and no call", g.body)
	}
	w.provider.then(answerJSON(`{"output":{"message":{"content":[{"toolUse":{"name":"wipe","input":{}}}]}}}`))
	if g := w.post("/bedrock/model/"+cloudModel+"/invoke", cloudMessages); g.status != http.StatusBadGateway || strings.Contains(g.body, "wipe") {
		t.Errorf("an answer of another maker: got %d %s, want 502", g.status, g.body)
	}
}

func TestRequestsToCloudsThatCannotBeReadAreNotSent(t *testing.T) {
	w := open(t, clouds)
	vertex := "/vertex/v1/projects/p/locations/l/publishers/"
	for path, body := range map[string]string{
		"/bedrock/model/amazon.nova-pro-v1:0/invoke":            `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`,
		"/bedrock/model/" + cloudModel + "/invoke":              `{"anthropic_version":"x","messages":[],"messages":[]}`,
		"/bedrock/model/x/async-invoke":                         cloudMessages,
		vertex + "anthropic/models/claude:rawPredict":           `{"messages":[{"role":"user","content":"hi"}]}`,
		vertex + "anthropic/models/claude:streamRawPredict":     `{"anthropic_version":"vertex-2023-10-16","messages":{}}`,
		vertex + "acme/models/one:rawPredict":                   cloudMessages,
		"/vertex/v1/projects/p/locations/l/endpoints/7:predict": `{}`,
	} {
		if g := w.post(path, body); g.status != http.StatusBadRequest && g.status != http.StatusForbidden {
			t.Errorf("%s: got %d %s, want a refusal", path, g.status, g.body)
		}
	}
	if n := len(w.provider.requests()); n > 0 {
		t.Errorf("%d requests went out", n)
	}
}

func TestModelsOnVertexAreJudged(t *testing.T) {
	w := open(t, clouds)
	models := "/vertex/v1/projects/p/locations/l/publishers/"
	body := strings.Replace(cloudMessages, "bedrock-2023-05-31", "vertex-2023-10-16", 1)
	judgedBoth(t, w, models+"anthropic/models/claude-x@20250929:rawPredict", body, messagesCall)
	judgedBoth(t, w, models+"google/models/gemini-x:generateContent", `{"tools":[`+noteGemini+`],"contents":[{"role":"user","parts":[{"text":"tell Petra"}]}]}`, func(tool string) string {
		return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"t1","name":%q,"args":{}}}]},"finishReason":"STOP"}]}`, tool)
	})
	judgedBoth(t, w, models+"mistralai/models/codestral:rawPredict", chatRequest(false, user("tell Petra")), func(tool string) string { return chatCall("t1", tool, `{}`) })
	var events []string
	for _, e := range messagesCallEvents("wipe") {
		name, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		events = append(events, "event: "+name+"\ndata: "+e+"\n\n")
	}
	w.provider.then(answerEvents(events...), answerJSON(`{"input_tokens":3}`))
	g := w.post(models+"anthropic/models/claude-x:streamRawPredict", strings.Replace(body, `"max_tokens"`, `"stream":true,"max_tokens"`, 1))
	if g.status != 200 || !strings.Contains(g.body, "security policy") || strings.Contains(g.body, `"t1"`) {
		t.Errorf("a stream: got %d %s, want our words", g.status, g.body)
	}
	if s := w.provider.last(); s.path != "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:streamRawPredict" || s.header.Get("Authorization") != "Bearer "+clientKey {
		t.Errorf("got %s %v, want the path and the key as they came", s.path, s.header)
	}
	if g := w.post(models+"anthropic/models/count-tokens:rawPredict", `{"model":"m","messages":[]}`); g.status != 200 || g.body != `{"input_tokens":3}` {
		t.Errorf("counting: got %d %s, want it passed", g.status, g.body)
	}
}

// A turn that policy ends is answered in the client's own frames.
func TestOurWordsComeInFrames(t *testing.T) {
	w := open(t, clouds, func(o *proxy.Options) { o.MaxIterations = 1 })
	path := "/bedrock/model/" + cloudModel + "/invoke-with-response-stream"
	w.provider.then(answerFrames(t, eventstream.Chunks, data(messagesCallEvents("send_note")...)...))
	w.post(path, cloudMessages)
	again := strings.Replace(cloudMessages, `"tell Petra"}]`, `"tell Petra"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"send_note","input":{"to":"petra"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]`, 1)
	if got := unframed(t, w.post(path, again), eventstream.Chunks); !strings.Contains(got, `"message_stop"`) || len(w.provider.requests()) != 1 {
		t.Errorf("got %s, want our own answer", got)
	}
}
