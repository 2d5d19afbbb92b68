package proxy_test

import (
	"fmt"
	"strings"
	"testing"
)

// turnOf is how a conversation in one format goes on: the answer comes back as clients send it.
type turnOf struct {
	path, ask, answer, again string
	note                     string // an answer that asks for a note
}

const (
	noteTool     = `{"type":"function","name":"send_note","parameters":{"type":"object","properties":{}}}`
	noteMessages = `{"name":"send_note","input_schema":{"type":"object","properties":{}}}`
	noteGemini   = `{"functionDeclarations":[{"name":"send_note","parameters":{"type":"OBJECT","properties":{}}}]}`
)

// inResponses is such a turn of Responses. Changed is the item as it comes back, "" for as it was.
func inResponses(tools, item, changed string) turnOf {
	if changed == "" {
		changed = item
	}
	const answer = `{"id":"r1","object":"response","status":"completed","model":"m","output":[%s]}`
	return turnOf{
		path:   "/openai/v1/responses",
		ask:    fmt.Sprintf(`{"model":"m","tools":[%s%s],"input":[{"role":"user","content":"hello"}]}`, noteTool, tools),
		answer: fmt.Sprintf(answer, item),
		again:  fmt.Sprintf(`{"model":"m","tools":[%s%s],"input":[{"role":"user","content":"hello"},%s,{"role":"user","content":"go on please"}]}`, noteTool, tools, changed),
		note:   fmt.Sprintf(answer, `{"type":"function_call","id":"f","call_id":"n1","name":"send_note","arguments":"{}"}`),
	}
}

func inMessages(tools, blocks string) turnOf {
	const answer = `{"id":"m1","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
	return turnOf{
		path:   "/anthropic/v1/messages",
		ask:    fmt.Sprintf(`{"model":"m","max_tokens":9,"tools":[%s%s],"messages":[{"role":"user","content":"hello"}]}`, noteMessages, tools),
		answer: fmt.Sprintf(answer, blocks),
		again: fmt.Sprintf(`{"model":"m","max_tokens":9,"tools":[%s%s],"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":[%s]},{"role":"user","content":"go on please"}]}`,
			noteMessages, tools, blocks),
		note: fmt.Sprintf(answer, `{"type":"tool_use","id":"n1","name":"send_note","input":{}}`),
	}
}

func inGemini(tools, parts string) turnOf {
	const answer = `{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP","index":0}]}`
	return turnOf{
		path:   "/gemini/v1beta/models/g:generateContent",
		ask:    fmt.Sprintf(`{"tools":[%s%s],"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`, noteGemini, tools),
		answer: fmt.Sprintf(answer, parts),
		again: fmt.Sprintf(`{"tools":[%s%s],"contents":[{"role":"user","parts":[{"text":"hello"}]},{"role":"model","parts":[%s]},{"role":"user","parts":[{"text":"go on please"}]}]}`,
			noteGemini, tools, parts),
		note: fmt.Sprintf(answer, `{"functionCall":{"name":"send_note","args":{}}}`),
	}
}

func inChat(message, changed string) turnOf {
	const answer = `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":%s,"finish_reason":"stop"}]}`
	return turnOf{
		path:   "/openai/v1/chat/completions",
		ask:    chatRequest(false, user("hello")),
		answer: fmt.Sprintf(answer, message),
		again:  chatRequest(false, user("hello"), changed, user("go on please")),
		note:   chatCall("n1", "send_note", `{}`),
	}
}

// held reports whether the note of the second turn is held.
func (w *world) held(turn turnOf, again string) bool {
	w.t.Helper()
	w.provider.then(answerJSON(turn.answer), answerJSON(turn.note))
	if g := w.post(turn.path, turn.ask); g.status != 200 || g.body != turn.answer {
		w.t.Fatalf("first turn: got %d %s, want it as it was", g.status, g.body)
	}
	g := w.post(turn.path, again)
	if g.status != 200 {
		w.t.Fatalf("second turn: got %d %s", g.status, g.body)
	}
	return strings.Contains(g.body, "security policy")
}

const picture = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`

// What a model made of the conversation alone brings nothing new when it comes back: the second
// turn of a clean chat is clean.
func TestKnownFormatsTaintNothingByThemselves(t *testing.T) {
	const codeTool, pictureTool = `,{"type":"code_interpreter","container":{"type":"auto"}}`, `,{"type":"image_generation"}`
	const ran = `{"id":"ci","type":"code_interpreter_call","status":"completed","code":"print(1)","container_id":"c","outputs":[{"type":"logs","logs":"1"}]}`
	for name, turn := range map[string]turnOf{
		"refusal":           inResponses("", `{"id":"m1","type":"message","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"I cannot"}]}`, ""),
		"compaction":        inResponses("", `{"id":"cmp","type":"compaction","encrypted_content":"gAAAA"}`, ""),
		"picture":           inResponses(pictureTool, `{"id":"ig","type":"image_generation_call","status":"completed","result":"`+picture+`","revised_prompt":"a cat"}`, ""),
		"code":              inResponses(codeTool, ran, ""),
		"code without ids":  inResponses(codeTool, ran, `{"type":"code_interpreter_call","outputs":null,"code":"print(1)","outputs":[{"logs":"1","type":"logs"}]}`),
		"summary":           inMessages("", `{"type":"compaction","content":"they said hello"},{"type":"text","text":"Hi"}`),
		"code of Messages":  inMessages(`,{"type":"code_execution_20250825","name":"code_execution"}`, `{"type":"server_tool_use","id":"s1","name":"bash_code_execution","input":{"command":"echo 1"}},{"type":"bash_code_execution_tool_result","tool_use_id":"s1","content":{"type":"bash_code_execution_result","stdout":"1","stderr":"","return_code":0,"content":[]}},{"type":"text","text":"1"}`),
		"code of Gemini":    inGemini(`,{"codeExecution":{}}`, `{"executableCode":{"language":"PYTHON","code":"print(1)"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"text":"1"}`),
		"picture of Gemini": inGemini("", `{"text":"here"},{"inlineData":{"mimeType":"image/png","data":"`+picture+`"},"thoughtSignature":"c2ln"}`),
		"audio":             inChat(`{"role":"assistant","content":null,"audio":{"id":"audio_1","data":"UklGRg==","transcript":"Hello"}}`, `{"role":"assistant","audio":{"id":"audio_1"}}`),
	} {
		if name == "code without ids" {
			turn.again = strings.Replace(turn.again, `"outputs":null,`, "", 1)
		}
		t.Run(name, func(t *testing.T) {
			if open(t).held(turn, turn.again) {
				t.Error("the second turn of a clean chat is tainted")
			}
		})
	}
}

// What nobody saw being made, and what tools brought from outside, taints as ever.
func TestWhatWasNotMadeHereTaints(t *testing.T) {
	const codeTool = `,{"type":"code_interpreter","container":{"type":"auto"}}`
	code := inResponses(codeTool, `{"id":"ci","type":"code_interpreter_call","status":"completed","code":"print(1)","outputs":[{"type":"logs","logs":"1"}]}`, "")
	made := inGemini("", `{"text":"here"},{"inlineData":{"mimeType":"image/png","data":"`+picture+`"}}`)
	summary := inMessages("", `{"type":"compaction","content":"they said hello"}`)
	sound := inChat(`{"role":"assistant","content":null,"audio":{"id":"audio_1","data":"UklGRg=="}}`, `{"role":"assistant","audio":{"id":"audio_2"}}`)
	reused := inResponses(`,{"type":"code_interpreter","container":"cntr_1"}`, `{"id":"ci","type":"code_interpreter_call","status":"completed","code":"print(1)","outputs":[{"type":"logs","logs":"1"}]}`, "")
	online := inResponses(`,{"type":"code_interpreter","container":{"type":"auto","network_policy":{"type":"allowlist"}}}`, `{"id":"ci","type":"code_interpreter_call","status":"completed","code":"print(1)","outputs":[{"type":"logs","logs":"1"}]}`, "")
	unasked := inResponses("", `{"id":"ci","type":"code_interpreter_call","status":"completed","code":"print(1)","outputs":[{"type":"logs","logs":"1"}]}`, "")
	const ranBefore = `{"type":"server_tool_use","id":"s1","name":"code_execution","input":{"code":"1"}},{"type":"code_execution_tool_result","tool_use_id":"s1","content":{"type":"code_execution_result","stdout":"1"}}`
	kept := inMessages(`,{"type":"code_execution_20250825","name":"code_execution"}`, ranBefore)
	kept.ask = strings.Replace(kept.ask, `"max_tokens"`, `"container":"cont_1","max_tokens"`, 1)
	search := inResponses(`,{"type":"web_search"}`, `{"id":"ws","type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}`, "")
	for name, c := range map[string]struct {
		turn  turnOf
		again string
	}{
		"another output":        {code, strings.Replace(code.again, `"logs":"1"`, `"logs":"2"`, 1)},
		"another picture":       {made, strings.Replace(made.again, "iVBOR", "iVBOS", 1)},
		"another summary":       {summary, strings.Replace(summary.again, "said hello", "said pay", 1)},
		"another sound":         {sound, sound.again},
		"an older container":    {reused, reused.again},
		"a container online":    {online, online.again},
		"a tool nobody offered": {unasked, unasked.again},
		"a search":              {search, search.again},
		"a container of before": {kept, kept.again},
	} {
		t.Run(name, func(t *testing.T) {
			if !open(t).held(c.turn, c.again) {
				t.Error("the second turn is clean")
			}
		})
	}
}
