package audittest

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

const (
	pathOpenAI    = "/v1/chat/completions"
	pathAnthropic = "/v1/messages"
)

// Step is what happens to one request.
type Step func(c *call)

// call is a request being answered.
type call struct {
	s   *Server
	w   http.ResponseWriter
	r   *http.Request
	req Request

	status int // of an answer; 0 is 200
}

// read finds the prompt in a body of either protocol.
func (r *Request) read() {
	var body struct {
		Model    string           `json:"model"`
		System   strictjson.Value `json:"system"`
		Messages []struct {
			Role    string           `json:"role"`
			Content strictjson.Value `json:"content"`
		} `json:"messages"`
	}
	if strictjson.Unmarshal(r.Body, &body) != nil || strictjson.Unmarshal(r.Body, &r.Fields) != nil {
		return
	}
	r.Model, r.System = body.Model, text(body.System)
	for _, m := range body.Messages {
		if m.Role == "system" {
			r.System += text(m.Content)
		} else {
			r.User += text(m.Content)
		}
	}
}

// text is a content: a string or a list of text blocks.
func text(v strictjson.Value) string {
	var s string
	if strictjson.Unmarshal(v, &s) == nil {
		return s
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = strictjson.Unmarshal(v, &blocks)
	for _, b := range blocks {
		s += b.Text
	}
	return s
}

// Say answers.
func Say(answer string) Step {
	return func(c *call) { c.answer(answer, "stop", "end_turn") }
}

// SayTo answers with what a function makes of the request.
func SayTo(f func(Request) string) Step {
	return func(c *call) { c.answer(f(c.req), "stop", "end_turn") }
}

// Cut answers with a text that ended at the limit of tokens.
func Cut(answer string) Step {
	return func(c *call) { c.answer(answer, "length", "max_tokens") }
}

// Refuse answers as a model whose provider stopped it.
func Refuse(answer string) Step {
	return func(c *call) { c.answer(answer, "content_filter", "refusal") }
}

// CallTool answers with a text and a tool call.
func CallTool(answer string) Step {
	return func(c *call) { c.answer(answer, "tool_calls", "tool_use") }
}

// Empty answers without a choice or a block.
func Empty() Step {
	return func(c *call) {
		if c.req.Path == pathAnthropic {
			c.raw(http.StatusOK, "application/json", `{"id":"msg_1","type":"message","role":"assistant",`+
				`"model":"test-model","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
			return
		}
		c.raw(http.StatusOK, "application/json", `{"id":"x","object":"chat.completion","created":1,"model":"test-model","choices":[]}`)
	}
}

// Fail answers with a status and an error of the API; header is names and values.
func Fail(status int, message string, header ...string) Step {
	return func(c *call) {
		for i := 0; i+1 < len(header); i += 2 {
			c.w.Header().Set(header[i], header[i+1])
		}
		quoted, _ := strictjson.Marshal(message)
		body := fmt.Sprintf(`{"type":"error","error":{"type":"test_error","message":%s,"param":null,"code":null}}`, quoted)
		c.raw(status, "application/json", body)
	}
}

// Raw answers with exactly this.
func Raw(status int, contentType, body string) Step {
	return func(c *call) { c.raw(status, contentType, body) }
}

// Redirect sends the client elsewhere, with a body that looks like an answer.
func Redirect(to, answer string) Step {
	return func(c *call) {
		c.w.Header().Set("Location", to)
		c.status = http.StatusTemporaryRedirect
		c.answer(answer, "stop", "end_turn")
	}
}

// Flood answers with n bytes of blanks before an answer; known says whether their
// number is announced.
func Flood(n int, known bool) Step {
	return func(c *call) {
		if known {
			c.w.Header().Set("Content-Length", fmt.Sprint(n))
		}
		c.w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(c.w, strings.Repeat(" ", n))
	}
}

// Drop breaks the connection in the middle of an answer.
func Drop() Step {
	return func(c *call) {
		c.w.Header().Set("Content-Type", "application/json")
		c.w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(c.w, `{"choices":[`)
		_ = http.NewResponseController(c.w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Hang does not answer until the client has left or the test is over.
func Hang() Step {
	return func(c *call) {
		select {
		case <-c.r.Context().Done():
		case <-c.s.quit:
		}
	}
}

// Hold tells arrived about a request and answers it once release gives or is closed.
func Hold(arrived chan<- struct{}, release <-chan struct{}, then Step) Step {
	return func(c *call) {
		arrived <- struct{}{}
		select {
		case <-release:
			then(c)
		case <-c.r.Context().Done():
		case <-c.s.quit:
		}
	}
}

// Without answers with a refusal to every request that has one of these parameters, and
// with then to others.
func Without(then Step, parameters ...string) Step {
	return func(c *call) {
		for _, p := range parameters {
			if _, has := c.req.Fields[p]; has {
				Fail(http.StatusBadRequest, fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", p))(c)
				return
			}
		}
		then(c)
	}
}

// Models lists models, as both protocols do.
func Models(names ...string) Step {
	return func(c *call) {
		var list []string
		for _, n := range names {
			list = append(list, fmt.Sprintf(`{"id":%q,"object":"model","type":"model","created":1,`+
				`"created_at":"2026-01-01T00:00:00Z","display_name":%q,"owned_by":"test"}`, n, n))
		}
		c.raw(http.StatusOK, "application/json", fmt.Sprintf(`{"object":"list","has_more":false,"data":[%s]}`, strings.Join(list, ",")))
	}
}

func (c *call) raw(status int, contentType, body string) {
	c.w.Header().Set("Content-Type", contentType)
	c.w.WriteHeader(status)
	_, _ = io.WriteString(c.w, body)
}

// answer writes a text in the protocol it was asked in.
func (c *call) answer(text, finish, stop string) {
	quoted, err := strictjson.Marshal(text)
	if err != nil {
		c.raw(http.StatusInternalServerError, "text/plain", err.Error())
		return
	}
	tool, block := "", ""
	if finish == "tool_calls" {
		tool = `,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"exec","arguments":"{}"}}]`
		block = `,{"type":"tool_use","id":"toolu_1","name":"exec","input":{}}`
	}
	body := fmt.Sprintf(`{"id":"x","object":"chat.completion","created":1,"model":"test-model",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":%s%s},"finish_reason":%q}],`+
		`"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, quoted, tool, finish)
	if c.req.Path == pathAnthropic {
		body = fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"test-model",`+
			`"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":%s}%s],`+
			`"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`, quoted, block, stop)
	}
	c.raw(max(http.StatusOK, c.status), "application/json", body)
}
