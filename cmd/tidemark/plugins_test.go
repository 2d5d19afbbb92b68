package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/plugins/compliance"
	"github.com/tidemark/tidemark/internal/plugins/cost"
)

// chatFormat is how one API of a provider asks and answers.
type chatFormat struct {
	path, question, answer string
}

// chatFormats are the four that the proxy speaks. Each answer says that 600 tokens were used.
var chatFormats = map[string]chatFormat{
	"chat": {"/openai/v1/chat/completions", `{"model":"large","messages":[{"role":"system","content":"Help."},{"role":"user","content":%q}]}`,
		`{"id":"c","object":"chat.completion","created":1,"model":"large","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"fine"}}],` +
			`"usage":{"prompt_tokens":590,"completion_tokens":10,"total_tokens":600}}`},
	"responses": {"/openai/v1/responses", `{"model":"large","instructions":"Help.","input":%q}`,
		`{"id":"r","object":"response","created_at":1,"model":"large","status":"completed","output":[{"type":"message","id":"m","role":"assistant","status":"completed",` +
			`"content":[{"type":"output_text","text":"fine","annotations":[]}]}],"usage":{"input_tokens":590,"output_tokens":10,"total_tokens":600}}`},
	"messages": {"/anthropic/v1/messages", `{"model":"large","max_tokens":100,"system":"Help.","messages":[{"role":"user","content":%q}]}`,
		`{"id":"m","type":"message","role":"assistant","model":"large","content":[{"type":"text","text":"fine"}],"stop_reason":"end_turn","stop_sequence":null,` +
			`"usage":{"input_tokens":590,"output_tokens":10}}`},
	"gemini": {"/gemini/v1beta/models/large:generateContent",
		`{"systemInstruction":{"parts":[{"text":"Help."}]},"contents":[{"role":"user","parts":[{"text":%q}]}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"fine"}]},"finishReason":"STOP","index":0}],` +
			`"usageMetadata":{"promptTokenCount":590,"candidatesTokenCount":10,"totalTokenCount":600},"modelVersion":"large"}`},
}

// provider is a model that answers in every format, and remembers what it was asked.
func provider(t *testing.T) (url string, asked func() string) {
	t.Helper()
	var mu sync.Mutex
	var all strings.Builder
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		fmt.Fprintf(&all, "%s %s\n", r.URL.Path, body)
		mu.Unlock()
		for _, f := range chatFormats {
			_, path, _ := strings.Cut(f.path[1:], "/")
			if strings.Contains(r.URL.Path, "generateContent") && strings.Contains(path, "generateContent") || r.URL.Path == "/"+path {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, f.answer)
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(p.Close)
	return p.URL, func() string { mu.Lock(); defer mu.Unlock(); return all.String() }
}

// withPlugins is a server whose file switches plugins on, and its model.
func withPlugins(t *testing.T, section string) (s *server, asked func() string) {
	t.Helper()
	data := t.TempDir()
	url, asked := provider(t)
	file := "plugins:\n" + section + "llm:\n  upstreams:\n"
	for _, name := range []string{"openai", "anthropic", "gemini"} {
		file += fmt.Sprintf("    %s: {baseUrl: %q}\n", name, url)
	}
	if err := os.WriteFile(filepath.Join(data, "tidemark.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return startServer(t, data), asked
}

// chat asks a model through the proxy.
func (s *server) chat(t *testing.T, format, words string) string {
	t.Helper()
	f := chatFormats[format]
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+f.path, strings.NewReader(fmt.Sprintf(f.question, words)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer own")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %d %s", format, res.StatusCode, raw)
	}
	return string(raw)
}

// end stops the server as an operator does, so that everything is written.
func (s *server) end(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
}

// A budget ends turns through every door that sees model calls; the hook of an agent, which sees
// only that a turn begins, refuses the prompt once the day's is spent.
// HOOK-15
func TestTheCostGuardThroughEveryDoor(t *testing.T) {
	for format := range chatFormats {
		t.Run("llm-"+format, func(t *testing.T) {
			s, _ := withPlugins(t, "  cost: {day: {tokens: 1000}}\n")
			if got := s.chat(t, format, "How is the weather in the harbour today?"); !strings.Contains(got, "fine") {
				t.Fatalf("the first question: got %s", got)
			}
			s.chat(t, format, "And how was it in the harbour yesterday?")
			if got := s.chat(t, format, "What will it be like in the harbour tomorrow?"); !strings.Contains(got, "plugins.cost.day.tokens") {
				t.Errorf("beyond the budget: got %s", got)
			}
			code, out, errOut := runHook(t, s.data, `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"go on"}`, "--agent", "claude")
			if said := out + errOut; code == exitOK && !strings.Contains(out, "block") || !strings.Contains(said, "plugins.cost.day.tokens") {
				t.Errorf("the hook of an agent: got %d, %s", code, said)
			}
			s.end(t)
			out, errOut, code = command(t, "plugins", "cost", "--json", "--data", s.data)
			if code != exitOK || !strings.Contains(out, `"calls": 2`) || !strings.Contains(out, `"input": 1180`) {
				t.Errorf("tidemark report plugins cost: got %d, %s%s", code, out, errOut)
			}
		})
	}
	t.Run("http", func(t *testing.T) {
		s, _ := withPlugins(t, "  cost: {session: {tokens: 1000}, prices: {\"*\": {input: 1, output: 2}}}\n")
		ask := func(session string) (blocked bool, reason string) {
			t.Helper()
			var out struct {
				Block       bool   `json:"block"`
				BlockReason string `json:"blockReason"`
			}
			event := map[string]any{"messages": []any{map[string]any{"role": "user", "content": "go on"}}, "model": "m", "iteration": 0, "tools": []any{}}
			if err := s.hook(t.Context(), session, "before_llm_call", event, &out); err != nil {
				t.Fatal(err)
			}
			return out.Block, out.BlockReason
		}
		if blocked, why := ask("a"); blocked {
			t.Fatalf("the first call: %s", why)
		}
		used := map[string]any{"messages": []any{}, "toolCalls": []any{}, "model": "m", "iteration": 0, "latencyMs": 5, "tokenUsage": map[string]any{"input": 900, "output": 200}}
		if err := s.hook(t.Context(), "a", "after_llm_call", used, nil); err != nil {
			t.Fatal(err)
		}
		if blocked, why := ask("a"); !blocked || !strings.Contains(why, "plugins.cost.session.tokens") {
			t.Errorf("beyond the budget: got %v, %s", blocked, why)
		}
		if blocked, why := ask("b"); blocked {
			t.Errorf("another session: %s", why)
		}
		s.end(t)
		for e, err := range cost.Entries(filepath.Join(s.data, "cost"), "") {
			if err != nil || e.Session == "a" && e.Money == 0 {
				t.Errorf("got %+v, %v", e, err)
			}
		}
	})
}

// Who, what and why, through every door.
// HOOK-15
func TestTheComplianceRecordThroughEveryDoor(t *testing.T) {
	s, _ := withPlugins(t, "  compliance: {content: redacted}\n")
	for format := range chatFormats {
		s.chat(t, format, "My address is ada@example.com, remember it through "+format)
	}
	if err := s.hook(t.Context(), "http", "message_received", map[string]any{"content": "write to bob@example.com"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.hook(t.Context(), "http", "before_tool_call", map[string]any{"toolName": "exec", "params": map[string]any{"command": "ls"}, "toolCallId": "h1"}, nil); err != nil {
		t.Fatal(err)
	}
	runHook(t, s.data, `{"session_id":"hooked","hook_event_name":"UserPromptSubmit","prompt":"list it for eve@example.com"}`, "--agent", "claude")
	runHook(t, s.data, `{"session_id":"hooked","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"b1"}`, "--agent", "claude")
	pages := relayed(t, s.data, "pages", []string{"CLAUDE_CODE_SESSION_ID=", "TIDEMARK_SESSION="})
	calls(t, pages, "read_page", nil, nil)
	s.end(t)
	out, errOut, code := command(t, "plugins", "record", "--data", s.data)
	if code != exitOK {
		t.Fatalf("got %d, %s", code, errOut)
	}
	if strings.Contains(out, "@example.com") {
		t.Errorf("an address is in the record:\n%s", out)
	}
	prompts, calls, reasons := 0, map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(out) {
		var l compliance.Line
		if err := strictjson.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if l.Hook == "before_llm_call" && strings.Contains(l.Content, "[email]") {
			prompts++
		}
		if l.Hook == "before_tool_call" {
			calls[l.Tool] = true
		}
		if l.Decision != nil {
			reasons[l.Tool] = l.Decision.Rule != "" && l.Decision.Verdict == "allow"
		}
	}
	if prompts != len(chatFormats) {
		t.Errorf("%d prompts of %d formats are in the record:\n%s", prompts, len(chatFormats), out)
	}
	if !calls["exec"] || len(calls) != 2 || !reasons["exec"] || len(reasons) != 2 {
		t.Errorf("calls %v, with reasons %v, want those of two hosts and of the MCP server:\n%s", calls, reasons, out)
	}
	if !strings.Contains(out, `"who":{"provider":"test","sender":"owner","owner":true}`) {
		t.Errorf("nobody is named:\n%s", out)
	}
}

// The same session is asked the same way through every door that asks a model.
// HOOK-15
func TestAnExperimentThroughEveryDoor(t *testing.T) {
	s, asked := withPlugins(t, "  experiment: {name: brief, share: 100, model: small, appendPrompt: Be brief.}\n")
	for format := range chatFormats {
		s.chat(t, format, "Tell me about the harbour of the town, through "+format)
	}
	for line := range strings.Lines(asked()) {
		if !strings.Contains(line, "small") || !strings.Contains(line, "Be brief.") || !strings.Contains(line, "Help.") {
			t.Errorf("the model was asked %s", line)
		}
	}
	if n := strings.Count(asked(), "\n"); n != len(chatFormats) {
		t.Errorf("the model was asked %d times", n)
	}
	var out struct {
		Model  string  `json:"model"`
		Prompt *string `json:"systemPrompt"`
	}
	event := map[string]any{"messages": []any{}, "systemPrompt": "Help.", "model": "large", "iteration": 0, "tools": []any{}}
	if err := s.hook(t.Context(), "http", "before_llm_call", event, &out); err != nil || out.Model != "small" || out.Prompt == nil || *out.Prompt != "Help.\n\nBe brief." {
		t.Errorf("http: got %+v, %v", out, err)
	}
	s.end(t)
	text, errOut, code := command(t, "plugins", "experiment", "--json", "--data", s.data)
	if code != exitOK || !strings.Contains(text, `"tokensIn": 2360`) {
		t.Errorf("tidemark report plugins experiment: got %d, %s%s", code, text, errOut)
	}
	if text, _, code = command(t, "plugins", "experiment", "--data", s.data); code != exitOK || !strings.Contains(text, "arm b") {
		t.Errorf("got %d, %s", code, text)
	}
}

// Every door's calls are spans.
// HOOK-15
func TestTelemetryThroughEveryDoor(t *testing.T) {
	var mu sync.Mutex
	var got strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&got, "%s %s\n", r.URL.Path, body)
	}))
	t.Cleanup(collector.Close)
	s, _ := withPlugins(t, fmt.Sprintf("  telemetry: {endpoint: %q, every: 1h}\n", collector.URL))
	for format := range chatFormats {
		s.chat(t, format, "Tell me about the harbour of the town, through "+format)
	}
	if err := s.hook(t.Context(), "over-http", "message_received", map[string]any{"content": "list it"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.hook(t.Context(), "over-http", "before_tool_call", map[string]any{"toolName": "exec", "params": map[string]any{"command": "ls"}}, nil); err != nil {
		t.Fatal(err)
	}
	runHook(t, s.data, `{"session_id":"hooked","hook_event_name":"UserPromptSubmit","prompt":"list it"}`, "--agent", "claude")
	runHook(t, s.data, `{"session_id":"hooked","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"b1"}`, "--agent", "claude")
	pages := relayed(t, s.data, "pages", []string{"CLAUDE_CODE_SESSION_ID=", "TIDEMARK_SESSION="})
	calls(t, pages, "read_page", nil, nil)
	s.end(t)
	all := got.String()
	if n := strings.Count(all, `"name":"chat large"`); n != len(chatFormats) {
		t.Errorf("%d spans of model calls, want one for each format:\n%s", n, all)
	}
	if n := strings.Count(all, `"name":"execute_tool exec"`); n != 2 {
		t.Errorf("%d spans of commands, want two:\n%s", n, all)
	}
	for _, part := range []string{`"mcp.method.name"`, `"gen_ai.client.token.usage"`, `"tidemark.decisions"`, `"tidemark.warrant"`, `"tidemark.verdict","value":{"stringValue":"allow"}`} {
		if !strings.Contains(all, part) {
			t.Errorf("%s is not among what was sent:\n%s", part, all)
		}
	}
	if strings.Contains(all, "harbour") {
		t.Error("words of a prompt were sent")
	}
}
