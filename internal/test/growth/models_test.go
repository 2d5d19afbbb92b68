//go:build unix

package growth_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// wire is a format of a provider's: a path, requests, and answers.
type wire struct {
	path   string
	body   string                                          // of messages and tools
	user   func(text string) string                        // a message
	used   func(id, args, result string) string            // messages: a call and its result
	tool   func(name, description, schema string) string   // a definition
	answer func(args string) string                        // one call of send_email
	stream func(args []string) (kind, path, answer string) // the same in pieces; nil: there is none here
}

const event = "text/event-stream"

func sse(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }

var wires = map[string]wire{
	"chat": {
		path: "/openai/v1/chat/completions", body: `{"model":"m","messages":[%s],"tools":%s}`,
		user: func(text string) string { return `{"role":"user","content":` + quote(text) + `}` },
		used: func(id, args, result string) string {
			return `{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"web_fetch","arguments":` + quote(args) +
				`}}]},{"role":"tool","tool_call_id":"` + id + `","content":` + quote(result) + `}`
		},
		tool: func(name, description, schema string) string {
			return fmt.Sprintf(`{"type":"function","function":{"name":%q,"description":%s,"parameters":%s}}`, name, quote(description), schema)
		},
		answer: func(args string) string {
			return `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[` +
				`{"id":"t1","type":"function","function":{"name":"send_email","arguments":` + quote(args) + `}}]}}]}`
		},
		stream: func(args []string) (kind, path, answer string) {
			chunk := func(delta, end string) string {
				return `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + end + `}]}`
			}
			events := []string{chunk(`{"role":"assistant","tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"send_email","arguments":""}}]}`, "null")}
			for _, a := range args {
				events = append(events, chunk(`{"tool_calls":[{"index":0,"function":{"arguments":`+quote(a)+`}}]}`, "null"))
			}
			return event, "", sse(append(events, chunk(`{}`, `"tool_calls"`), "[DONE]")...)
		},
	},
	"responses": {
		path: "/openai/v1/responses", body: `{"model":"m","store":false,"input":[%s],"tools":%s}`,
		user: func(text string) string { return `{"role":"user","content":` + quote(text) + `}` },
		used: func(id, args, result string) string {
			return `{"type":"function_call","call_id":"` + id + `","name":"web_fetch","arguments":` + quote(args) + `},{"type":"function_call_output","call_id":"` + id + `","output":` + quote(result) + `}`
		},
		tool: func(name, description, schema string) string {
			return fmt.Sprintf(`{"type":"function","name":%q,"description":%s,"parameters":%s}`, name, quote(description), schema)
		},
		answer: func(args string) string {
			return `{"id":"r","object":"response","status":"completed","model":"m","output":[{"id":"f","type":"function_call","status":"completed","call_id":"t1","name":"send_email","arguments":` + quote(args) + `}]}`
		},
		stream: func(args []string) (kind, path, answer string) {
			item := func(status, args string) string {
				return `{"id":"f","type":"function_call","status":"` + status + `","call_id":"t1","name":"send_email","arguments":` + quote(args) + `}`
			}
			whole := strings.Join(args, "")
			events := []string{
				`{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","model":"m","output":[]}}`,
				`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":` + item("in_progress", "") + `}`,
			}
			for i, a := range args {
				events = append(events, fmt.Sprintf(`{"type":"response.function_call_arguments.delta","sequence_number":%d,"item_id":"f","output_index":0,"delta":%s}`, i+2, quote(a)))
			}
			n := len(args)
			events = append(events,
				fmt.Sprintf(`{"type":"response.function_call_arguments.done","sequence_number":%d,"item_id":"f","output_index":0,"arguments":%s}`, n+2, quote(whole)),
				fmt.Sprintf(`{"type":"response.output_item.done","sequence_number":%d,"output_index":0,"item":%s}`, n+3, item("completed", whole)),
				fmt.Sprintf(`{"type":"response.completed","sequence_number":%d,"response":{"id":"r","object":"response","status":"completed","model":"m","output":[%s]}}`, n+4, item("completed", whole)))
			return event, "", sse(events...)
		},
	},
	"messages": {
		path: "/anthropic/v1/messages", body: `{"model":"m","max_tokens":9,"messages":[%s],"tools":%s}`,
		user: messagesUser, used: messagesUsed, tool: messagesTool, answer: messagesAnswer,
		stream: func(args []string) (kind, path, answer string) {
			events := []string{
				`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"send_email","input":{}}}`,
			}
			for _, a := range args {
				events = append(events, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+quote(a)+`}}`)
			}
			events = append(events, `{"type":"content_block_stop","index":0}`,
				`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`)
			return event, "", sse(events...)
		},
	},
	"bedrock": {
		path: "/bedrock/model/anthropic.claude-x-v1:0/invoke", body: `{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"messages":[%s],"tools":%s}`,
		user: messagesUser, used: messagesUsed, tool: messagesTool, answer: messagesAnswer,
	},
	"vertex": {
		path: "/vertex/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:rawPredict",
		body: `{"anthropic_version":"vertex-2023-10-16","max_tokens":9,"messages":[%s],"tools":%s}`,
		user: messagesUser, used: messagesUsed, tool: messagesTool, answer: messagesAnswer,
	},
	"gemini": {
		path: "/gemini/v1beta/models/m:generateContent", body: `{"contents":[%s],"tools":[{"functionDeclarations":%s}]}`,
		user: func(text string) string { return `{"role":"user","parts":[{"text":` + quote(text) + `}]}` },
		used: func(id, args, result string) string {
			return `{"role":"model","parts":[{"functionCall":{"id":"` + id + `","name":"web_fetch","args":` + args + `}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"` + id + `","name":"web_fetch","response":{"output":` + quote(result) + `}}}]}`
		},
		tool: func(name, description, schema string) string {
			return fmt.Sprintf(`{"name":%q,"description":%s,"parametersJsonSchema":%s}`, name, quote(description), schema)
		},
		answer: func(args string) string {
			return `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"send_email","args":` + args + `}}]},"finishReason":"STOP","index":0}]}`
		},
	},
	"converse": {
		path: "/bedrock/model/amazon.nova-pro-v1:0/converse", body: `{"messages":[%s],"toolConfig":{"tools":%s}}`,
		user: func(text string) string { return `{"role":"user","content":[{"text":` + quote(text) + `}]}` },
		used: func(id, args, result string) string {
			return `{"role":"assistant","content":[{"toolUse":{"toolUseId":"` + id + `","name":"web_fetch","input":` + args + `}}]},` +
				`{"role":"user","content":[{"toolResult":{"toolUseId":"` + id + `","content":[{"text":` + quote(result) + `}]}}]}`
		},
		tool: func(name, description, schema string) string {
			return fmt.Sprintf(`{"toolSpec":{"name":%q,"description":%s,"inputSchema":{"json":%s}}}`, name, quote(description), schema)
		},
		answer: func(args string) string {
			return `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"send_email","input":` + args + `}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1}}`
		},
	},
	"ollama": {
		path: "/ollama/api/chat", body: `{"model":"m","stream":false,"messages":[%s],"tools":%s}`,
		user: func(text string) string { return `{"role":"user","content":` + quote(text) + `}` },
		used: func(id, args, result string) string {
			return `{"role":"assistant","content":"","tool_calls":[{"id":"` + id + `","function":{"name":"web_fetch","arguments":` + args + `}}]},` +
				`{"role":"tool","tool_call_id":"` + id + `","tool_name":"web_fetch","content":` + quote(result) + `}`
		},
		tool: func(name, description, schema string) string {
			return fmt.Sprintf(`{"type":"function","function":{"name":%q,"description":%s,"parameters":%s}}`, name, quote(description), schema)
		},
		answer: func(args string) string {
			return `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"t1","function":{"name":"send_email","arguments":` + args + `}}]},"done_reason":"stop","done":true}`
		},
	},
}

func messagesUser(text string) string { return `{"role":"user","content":` + quote(text) + `}` }

func messagesUsed(id, args, result string) string {
	return `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"web_fetch","input":` + args + `}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":` + quote(result) + `}]}`
}

func messagesTool(name, description, schema string) string {
	return fmt.Sprintf(`{"name":%q,"description":%s,"input_schema":%s}`, name, quote(description), schema)
}

func messagesAnswer(args string) string {
	return `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"send_email","input":` + args +
		`}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`
}

const letter = `{"to":"a1@b.example","body":"x"}`

// ask sends a request to a model that answers with a call.
func (h *house) ask(w wire, messages, tools, answer string) {
	h.Helper()
	h.answers.Store(&script{"application/json", answer})
	h.send(w, messages, tools)
}

func (h *house) send(w wire, messages, tools string) {
	h.Helper()
	h.post(w.path, fmt.Sprintf(w.body, messages, tools), "Authorization", "Bearer k", "Anthropic-Version", "2023-06-01", "X-Tidemark-Token", h.app.Tokens.Agent)
}

// The LLM proxy, in each format: a conversation of n messages, of n calls with results, one long message, one long result, one call of the
// model's with long arguments, definitions, and answers in n pieces.
func TestModels(t *testing.T) {
	h := newHouse(t, "1ms")
	for name, w := range wires {
		tools := "[" + w.tool("send_email", "Sends a mail.", `{"type":"object"}`) + "," + w.tool("web_fetch", "Reads a page.", `{"type":"object"}`) + "]"
		first := func() string { return w.user("Mail Petra, conversation " + h.session()) }
		all := texts(map[string]func(n int) string{
			"messages": func(n int) string {
				return numbered(n, ","+w.used("c#", `{"url":"https://a.example/#"}`, "page #")+","+w.user("Go on, #"))
			},
			"calls": func(n int) string { return numbered(n, ","+w.used("c#", `{"url":"https://a.example/#"}`, "page #")) },
		}, func(rest string) { h.ask(w, first()+rest, tools, w.answer(letter)) })
		for kind, of := range few(some, "words", "a table", "marks of harnesses") {
			maps.Copy(all, texts(map[string]func(n int) string{"words: " + kind: of}, func(text string) {
				h.ask(w, first()+","+w.used("c", `{"url":"https://a.example/"}`, "a page")+","+w.user(text), tools, w.answer(letter))
			}))
			maps.Copy(all, texts(map[string]func(n int) string{"a result: " + kind: of}, func(text string) {
				h.ask(w, first()+","+w.used("c", `{"url":"https://a.example/"}`, text), tools, w.answer(letter))
			}))
		}
		for kind, of := range few(shapes, "keys", "entries", "objects", "escapes") {
			maps.Copy(all, texts(map[string]func(n int) string{"arguments: " + kind: of}, func(args string) {
				h.ask(w, first()+","+w.used("c", `{"url":"https://a.example/"}`, "a page"), tools, w.answer(args))
			}))
		}
		for kind, of := range few(definitions(w.tool), "tools", "parameters") {
			maps.Copy(all, texts(map[string]func(n int) string{"definitions: " + kind: of}, func(list string) { h.ask(w, first(), list, w.answer(letter)) }))
		}
		if w.stream != nil {
			all["pieces of an answer"] = func(n int) input {
				kind, _, answer := w.stream(append(append([]string{`{"to":"a1@b.example","body":"`}, strings.Split(strings.Repeat("word |", n), "|")...), `"}`))
				streamed := w
				streamed.body = `{"stream":true,` + w.body[1:]
				return input{len(answer), func() {
					h.answers.Store(&script{kind, answer})
					h.send(streamed, first(), tools)
				}}
			}
		}
		t.Run(name, func(t *testing.T) { linear(t, all) })
	}
}

// some are the kinds of text that more is done for than to copy them, where every format would try all.
var some = map[string]func(n int) string{
	"words": long["words"], "a table": long["a table"], "tags": long["tags"], "rows": long["rows"], "links": long["links"], "objects": long["objects"],
	"marks of harnesses": func(n int) string { return strings.Repeat("<system-reminder>x", n) },
	"notices":            func(n int) string { return strings.Repeat("[tidemark notice]\nx\n", n) },
}

// Responses over a websocket, one answer at a time.
func TestAModelsWebsocket(t *testing.T) {
	h := newHouse(t, "1ms")
	w := wires["responses"]
	tools := "[" + w.tool("send_email", "Sends a mail.", `{"type":"object"}`) + "]"
	h.answers.Store(&script{"", `{"type":"response.completed","sequence_number":0,"response":` + w.answer(letter) + `}`})
	linear(t, texts(some, func(text string) {
		c, _, err := websocket.Dial(h.Context(), h.url+w.path, &websocket.DialOptions{HTTPHeader: map[string][]string{
			"Authorization": {"Bearer k"}, "X-Tidemark-Token": {h.app.Tokens.Agent},
		}}) // the library closes it
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.CloseNow() }()
		body := `{"type":"response.create",` + fmt.Sprintf(w.body, w.user("Mail Petra, "+h.session())+","+w.used("c", `{}`, text), tools)[1:]
		if err := c.Write(h.Context(), websocket.MessageText, []byte(body)); err != nil {
			t.Fatal(err)
		}
		c.SetReadLimit(-1)
		if _, said, err := c.Read(h.Context()); err != nil || !strings.Contains(string(said), "response.completed") {
			t.Fatalf("%.300s, %v", said, err)
		}
	}))
}
