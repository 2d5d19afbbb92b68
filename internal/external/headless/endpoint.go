package headless

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// endpoint is a scripted model on loopback that speaks the programs' wires, keeps every request whole, and lets nothing out: it is
// the program's way to everywhere else too.
type endpoint struct {
	url string

	mu   sync.Mutex
	seen []seen // guarded by mu
}

// seen is one request.
type seen struct {
	path string
	head string
	body []byte
	asks bool // for an answer
}

// maxRequest bounds what is kept of a request.
const maxRequest = 16 << 20

func serve() (*endpoint, func(), error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("start scripted model: %w", err)
	}
	m := &endpoint{url: "http://" + l.Addr().String()}
	srv := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends when it is closed
	}()
	return m, func() {
		_ = srv.Close()
		<-done
	}, nil
}

func (m *endpoint) requests() []seen {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]seen(nil), m.seen...)
}

// ServeHTTP answers every path, so that programs that look around find nothing odd. What is for another host is refused.
func (m *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head, _ := httputil.DumpRequest(r, false) // without a body it cannot fail
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	path := r.URL.Path
	wire := wireOf(path)
	away := r.Method == http.MethodConnect || r.URL.Host != "" && !strings.HasSuffix(m.url, r.URL.Host)
	m.mu.Lock()
	asks := wire != nil && !away && r.Method == http.MethodPost
	m.seen = append(m.seen, seen{path: r.URL.Host + path, head: string(head), body: body, asks: asks})
	m.mu.Unlock()
	switch {
	case away:
		http.Error(w, "nothing leaves here", http.StatusBadGateway)
	case r.Method != http.MethodPost:
		reply(w, object{"object": "list", "data": []any{}, "models": []any{}})
	case strings.HasSuffix(path, "/count_tokens"):
		reply(w, object{"input_tokens": 10})
	case strings.HasSuffix(path, ":countTokens"):
		reply(w, object{"totalTokens": 5})
	case wire == nil:
		reply(w, object{})
	default:
		var q struct {
			Stream bool `json:"stream"`
			Tools  []struct {
				Name string `json:"name"`
			} `json:"tools"`
		}
		_ = strictjson.Unmarshal(body, &q) // what cannot be read is found by whoever looks at it
		formed := false
		for _, t := range q.Tools {
			formed = formed || t.Name == "StructuredOutput"
		}
		wire(w, q.Stream || strings.Contains(path, "stream"), formed)
	}
}

// wireOf is the wire that a path is spoken to in; nil: it is no question.
func wireOf(path string) func(w http.ResponseWriter, stream, formed bool) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return messages
	case strings.HasSuffix(path, "/responses"):
		return responses
	case strings.HasSuffix(path, "enerateContent"):
		return generate
	}
	return nil
}

type object = map[string]any

func reply(w http.ResponseWriter, v any) {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return // our own maps: it cannot fail
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // whoever went away is seen in what it says
}

// events writes server-sent events; an odd one is the name of the next, "" for none.
func events(w http.ResponseWriter, list ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Connection", "close")
	for i := 0; i+1 < len(list); i += 2 {
		raw, err := strictjson.Marshal(list[i+1])
		if err != nil {
			return
		}
		if name := list[i]; name != "" {
			fmt.Fprintf(w, "event: %s\n", name)
		}
		fmt.Fprintf(w, "data: %s\n\n", raw)
	}
}

// messages is Anthropic's wire. A program that wants a form has it as a tool.
func messages(w http.ResponseWriter, stream, formed bool) {
	block, stop := object{"type": "text", "text": trialAnswer}, "end_turn"
	empty, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": trialAnswer}
	if formed {
		block = object{"type": "tool_use", "id": "toolu_trial", "name": "StructuredOutput", "input": strictjson.Value(trialAnswer)}
		empty = object{"type": "tool_use", "id": "toolu_trial", "name": "StructuredOutput", "input": object{}}
		delta, stop = object{"type": "input_json_delta", "partial_json": trialAnswer}, "tool_use"
	}
	message := object{
		"id": "msg_trial", "type": "message", "role": "assistant", "model": "trial", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 5, "output_tokens": 1},
	}
	if !stream {
		message["content"], message["stop_reason"] = []any{block}, stop
		reply(w, message)
		return
	}
	events(w,
		"message_start", object{"type": "message_start", "message": message},
		"content_block_start", object{"type": "content_block_start", "index": 0, "content_block": empty},
		"content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta},
		"content_block_stop", object{"type": "content_block_stop", "index": 0},
		"message_delta", object{
			"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5},
		},
		"message_stop", object{"type": "message_stop"})
}

// responses is OpenAI's.
func responses(w http.ResponseWriter, _, _ bool) {
	events(w,
		"response.created", object{"type": "response.created", "response": object{"id": "resp_trial"}},
		"response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": object{
			"type": "message", "role": "assistant", "id": "m1", "content": []any{object{"type": "output_text", "text": trialAnswer}},
		}},
		"response.completed", object{"type": "response.completed", "response": object{"id": "resp_trial", "usage": object{
			"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
		}}})
}

// generate is Google's.
func generate(w http.ResponseWriter, stream, _ bool) {
	answer := object{
		"candidates": []any{object{
			"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{object{"text": trialAnswer}}},
		}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "trial",
	}
	if stream {
		events(w, "", answer)
		return
	}
	reply(w, answer)
}
