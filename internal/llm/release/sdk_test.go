package release_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicsse "github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	openaisse "github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tidemark/tidemark/internal/llm/format"
)

func answer(body string) *http.Response {
	return &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// sdkView is what an official client has understood: texts and calls in their order, and
// why the model stopped.
type sdkView struct {
	Parts []string
	Stop  string
}

func readChat(body string) (sdkView, error) {
	s := openaisse.NewStream[openai.ChatCompletionChunk](openaisse.NewDecoder(answer(body)), nil)
	acc := openai.ChatCompletionAccumulator{}
	for s.Next() {
		if !acc.AddChunk(s.Current()) {
			return sdkView{}, fmt.Errorf("accumulator refuses %s", s.Current().RawJSON())
		}
	}
	if s.Err() != nil || len(acc.Choices) == 0 {
		return sdkView{}, fmt.Errorf("stream: %w", s.Err())
	}
	m := acc.Choices[0].Message
	v := sdkView{Stop: acc.Choices[0].FinishReason}
	if m.Content != "" {
		v.Parts = append(v.Parts, "text "+m.Content)
	}
	for _, c := range m.ToolCalls {
		v.Parts = append(v.Parts, "call "+c.ID+" "+c.Function.Name+" "+cmp.Or(c.Function.Arguments, "{}"))
	}
	return v, nil
}

func readMessages(body string) (sdkView, error) {
	s := anthropicsse.NewStream[anthropic.MessageStreamEventUnion](anthropicsse.NewDecoder(answer(body)), nil)
	var m anthropic.Message
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			return sdkView{}, err
		}
	}
	v := sdkView{Stop: string(m.StopReason)}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			v.Parts = append(v.Parts, "text "+b.Text)
		case "tool_use":
			v.Parts = append(v.Parts, "call "+b.ID+" "+b.Name+" "+string(b.Input))
		}
	}
	return v, s.Err()
}

func readResponses(body string) (sdkView, error) {
	s := openaisse.NewStream[responses.ResponseStreamEventUnion](openaisse.NewDecoder(answer(body)), nil)
	var v, streamed sdkView
	last := int64(-1)
	for s.Next() {
		e := s.Current()
		if e.SequenceNumber <= last {
			return v, fmt.Errorf("%s has number %d after %d", e.Type, e.SequenceNumber, last)
		}
		last = e.SequenceNumber
		switch e.Type {
		case "response.output_item.done":
			streamed.Parts = append(streamed.Parts, itemView(e.Item)...)
		case "response.completed":
			v.Stop = string(e.Response.Status)
			for _, i := range e.Response.Output {
				v.Parts = append(v.Parts, itemView(i)...)
			}
		}
	}
	if d := gocmp.Diff(streamed.Parts, v.Parts); d != "" && s.Err() == nil {
		return v, fmt.Errorf("the events and the end differ: %s", d)
	}
	return v, s.Err()
}

func itemView(i responses.ResponseOutputItemUnion) []string {
	switch i.Type {
	case "message":
		text := ""
		if len(i.Content) > 0 { // fuzzing finds messages that say nothing
			text = i.Content[0].Text
		}
		return []string{"text " + text}
	case "function_call":
		return []string{"call " + i.CallID + " " + i.Name + " " + cmp.Or(i.Arguments.OfString, "{}")}
	}
	return nil
}

var readers = map[format.API]func(string) (sdkView, error){format.Chat: readChat, format.Messages: readMessages, format.Responses: readResponses}

func TestOfficialClientsReadWhatComesOut(t *testing.T) {
	ok, other, no := saying{tool: "read", id: "c1", args: `{"path":"a.txt"}`}, saying{tool: "list", id: "c2", args: `{"n":2}`}, saying{tool: "send", id: "c3", args: `{"to":"` + bad + `"}`}
	call := func(s saying) string { return "call " + s.id + " " + s.tool + " " + s.args }
	hello, bye := saying{text: "Let me look."}, saying{text: "And more."}
	type want struct {
		parts []string
		stop  bool // the model stopped for calls that are still there
	}
	tests := []struct {
		name string
		says []saying
		want want
	}{
		{"text alone", []saying{{thinking: "hm", text: "Hello, wörld"}}, want{[]string{"text Hello, wörld"}, false}},
		{"all calls allowed", []saying{hello, ok, other}, want{[]string{"text Let me look.", call(ok), call(other)}, true}},
		{"the only call refused", []saying{no}, want{[]string{"text " + refusal}, false}},
		{"the first of two refused", []saying{hello, no, ok}, want{[]string{"text Let me look.", "text " + refusal, call(ok)}, true}},
		{"the last of three refused", []saying{ok, other, no}, want{[]string{call(ok), call(other), "text " + refusal}, true}},
		{"text after a refused call", []saying{{thinking: "why not"}, no, bye}, want{[]string{"text " + refusal, "text And more."}, false}},
		{"a call without arguments", []saying{{tool: "now", id: "c9"}}, want{[]string{"call c9 now {}"}, true}},
	}
	stops := map[format.API][2]string{format.Chat: {"stop", "tool_calls"}, format.Messages: {"end_turn", "tool_use"}, format.Responses: {"completed", "completed"}}
	for _, tt := range tests {
		for api, read := range readers {
			t.Run(fmt.Sprintf("%s in format %d", tt.name, api), func(t *testing.T) {
				in := stream(api, tt.says)
				out, o, _, err := through(t, api, in, 7)
				if err != nil {
					t.Fatalf("stream: %v\n%s", err, out)
				}
				got, err := read(out)
				if err != nil {
					t.Fatalf("the client: %v\n%s", err, out)
				}
				stop := stops[api][0]
				if tt.want.stop {
					stop = stops[api][1]
				}
				if got.Stop != stop || o.Stop != stop || !o.Complete || o.TokensIn != 11 || o.TokensOut != 7 {
					t.Errorf("stop: client got %q, outcome %+v, want %q", got.Stop, o, stop)
				}
				if d := gocmp.Diff(joined(api, tt.want.parts), joined(api, got.Parts)); d != "" {
					t.Errorf("parts (-want +got):\n%s\n%s", d, out)
				}
				if o.Refused == 0 && out != in {
					t.Errorf("nothing was refused and the bytes differ:\n%s\n%s", in, out)
				}
				if d := gocmp.Diff(got.Parts, outcomeView(o.Parts)); d != "" {
					t.Errorf("the outcome is not what the client got (-client +outcome):\n%s", d)
				}
			})
		}
	}
}

func outcomeView(parts []format.Part) (out []string) {
	for _, p := range parts {
		switch p.Kind {
		case format.Text:
			out = append(out, "text "+p.Text)
		case format.Call:
			args := string(p.Args)
			out = append(out, "call "+p.CallID+" "+p.Name+" "+args)
		}
	}
	return out
}

// joined is the parts the way the format keeps them: Chat has one text, before the calls,
// and our words at its end.
func joined(api format.API, parts []string) []string {
	if api != format.Chat {
		return parts
	}
	var texts, ours, calls []string
	for _, p := range parts {
		if p == "text "+refusal {
			ours = append(ours, refusal)
		} else if s, ok := strings.CutPrefix(p, "text "); ok {
			texts = append(texts, s)
		} else {
			calls = append(calls, p)
		}
	}
	if texts = append(texts, ours...); len(texts) == 0 {
		return calls
	}
	return append([]string{"text " + strings.Join(texts, "\n\n")}, calls...)
}
