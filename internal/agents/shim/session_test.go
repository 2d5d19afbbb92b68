package shim_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/trust"
)

// claudeEvent is one payload of a session.
func claudeEvent(session, event, rest string) []byte {
	return fmt.Appendf(nil, `{"hook_event_name":%q,"session_id":%q,"cwd":"/home/user/work"%s}`, event, session, rest)
}

const (
	fetched = `,"tool_name":"WebFetch","tool_input":{"url":"https://example.com/"},"tool_use_id":"c1"`
	runs    = `,"tool_name":"Bash","tool_input":{"command":"make clean"},"tool_use_id":"c2"`
)

// says feeds events of which all must pass but the last, which must be refused or not.
func (w *world) says(refused bool, events ...[]byte) {
	w.t.Helper()
	for i, body := range events {
		p := w.run("claude", "", body)
		if want := refused && i == len(events)-1; refuses("claude", p) != want {
			w.t.Fatalf("event %d %s: got %+v, want refused %v", i+1, body, p, want)
		}
	}
}

// BEY-06
func TestASubAgentCannotLaunderWhatItRead(t *testing.T) {
	in := `,"agent_id":"sub","agent_type":"general"`
	spawn := `,"tool_name":"Task","tool_input":{"prompt":"look"},"tool_use_id":"t1"`
	began := claudeEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`)
	inside := [][]byte{
		began, claudeEvent("s", "PreToolUse", spawn), claudeEvent("s", "SubagentStart", in),
		claudeEvent("s", "PreToolUse", in+fetched), claudeEvent("s", "PostToolUse", in+fetched+`,"tool_response":"evil"`),
	}
	t.Run("inside it the page counts", func(t *testing.T) {
		open(t).says(true, append(inside, claudeEvent("s", "PreToolUse", in+runs))...)
	})
	t.Run("the conversation is clean while it works", func(t *testing.T) {
		open(t).says(false, append(inside, claudeEvent("s", "PreToolUse", runs))...)
	})
	t.Run("its result brings the page back", func(t *testing.T) {
		open(t).says(true, append(inside, claudeEvent("s", "PostToolUse", spawn+`,"tool_response":"done"`), claudeEvent("s", "PreToolUse", runs))...)
	})
	t.Run("its end brings the page back", func(t *testing.T) {
		open(t).says(true, append(inside, claudeEvent("s", "SubagentStop", in), claudeEvent("s", "PreToolUse", runs))...)
	})
	t.Run("one that starts later starts with what was read", func(t *testing.T) {
		open(t).says(true, began, claudeEvent("s", "PreToolUse", fetched), claudeEvent("s", "PostToolUse", fetched+`,"tool_response":"evil"`),
			claudeEvent("s", "PreToolUse", in+runs))
	})
}

// BEY-06
func TestAChildSessionOfOpenCodeInheritsAndCannotSpeakAsTheOwner(t *testing.T) {
	w, story := open(t), lines(t, "opencode-story.jsonl")
	for _, l := range story[:3] {
		w.run("opencode", "", l.Body)
	}
	created := `{"k":"event","i":{"type":"session.created","properties":{"sessionID":"s-2","info":{"id":"s-2","parentID":"s-1"}}}}`
	if p := w.run("opencode", "", []byte(created)); refuses("opencode", p) {
		t.Fatalf("session.created: got %+v", p)
	}
	said := `{"k":"chat.message","parent":"s-1","i":{"sessionID":"s-2"},"o":{"parts":[{"type":"text","text":"run make"}]}}`
	if p := w.run("opencode", "", []byte(said)); refuses("opencode", p) {
		t.Fatalf("chat.message: got %+v", p)
	}
	body := strings.ReplaceAll(strings.Replace(string(story[3].Body), `{`, `{"parent":"s-1",`, 1), `"s-1","callID"`, `"s-2","callID"`)
	if p := w.run("opencode", "", []byte(body)); !refuses("opencode", p) {
		t.Errorf("a command in the child: got %+v, want it refused as in its parent", p)
	}
}

// A conversation that goes on under a name the server never saw may hold anything.
func TestAResumedConversationNobodyKnowsIsUntrusted(t *testing.T) {
	began := claudeEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`)
	call := claudeEvent("s", "PreToolUse", runs)
	open(t).says(true, claudeEvent("s", "SessionStart", `,"source":"fork"`), began, call)
	open(t).says(true, claudeEvent("s", "SessionStart", `,"source":"resume"`), began, call)
	open(t).says(false, claudeEvent("s", "SessionStart", `,"source":"startup"`), began, call)
	open(t).says(false, claudeEvent("s", "SessionStart", `,"source":"startup"`), began, claudeEvent("s", "SessionStart", `,"source":"resume"`), call)
}

// The relay of an MCP server is started before the hook runs, and may have begun the session by then.
func TestAResumedConversationThatARelayBeganIsUntrusted(t *testing.T) {
	began := claudeEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`)
	call := claudeEvent("s", "PreToolUse", runs)
	for source, asked := range map[string]bool{"resume": true, "fork": true, "startup": false} {
		w := open(t)
		_, err := w.monitor.Begin(t.Context(), engine.Turn{
			Ref: engine.Ref{Session: "claude:s"}, Agent: "claude", Plain: true, UserUnheard: true,
			Sender: trust.Sender{Provider: "mcp", IsOwner: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		w.says(asked, claudeEvent("s", "SessionStart", `,"source":"`+source+`"`), began, call)
	}
}

func TestAChangedSettingsFileIsHeldInATaintedSession(t *testing.T) {
	change := claudeEvent("s", "ConfigChange", `,"source":"project_settings","file_path":"/home/user/work/.claude/settings.json"`)
	open(t).says(false, change, claudeEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), claudeEvent("s", "PreToolUse", runs))
	open(t).says(true, claudeEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), claudeEvent("s", "PreToolUse", fetched),
		claudeEvent("s", "PostToolUse", fetched+`,"tool_response":"evil"`), change)
}

func TestLoadedInstructionsDoNotTaintAndDoNotEndTheTurn(t *testing.T) {
	open(t).says(false, claudeEvent("s", "InstructionsLoaded", `,"file_path":"/home/user/work/CLAUDE.md"`),
		claudeEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), claudeEvent("s", "PreToolUse", runs))
}

// A turn the agent goes on with after it said it was over.
func TestAnAgentMayGoOnAfterTheEndOfItsTurn(t *testing.T) {
	turn := `,"prompt_id":"p1"`
	open(t).says(false, claudeEvent("s", "UserPromptSubmit", turn+`,"prompt":"tidy up"`), claudeEvent("s", "PreToolUse", turn+runs),
		claudeEvent("s", "Stop", turn), claudeEvent("s", "PostToolUse", turn+runs+`,"tool_response":"late"`),
		claudeEvent("s", "PreToolUse", turn+runs), claudeEvent("s", "UserPromptSubmit", turn+`,"prompt":"again"`), claudeEvent("s", "PreToolUse", turn+runs))
}

// The server was away when a result came back: the next call is judged by the worst.
func TestAResultThatCouldNotBeReportedIsNotForgotten(t *testing.T) {
	w := open(t)
	var down atomic.Bool
	front := behind(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if down.Load() {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.api.ServeHTTP(rw, r)
	}))
	read := `,"tool_name":"Read","tool_input":{"file_path":"/home/user/work/a"},"tool_use_id":"c1"`
	front.says(false, claudeEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), claudeEvent("s", "PreToolUse", read))
	down.Store(true)
	front.says(true, claudeEvent("s", "PostToolUse", read+`,"tool_response":"text"`))
	down.Store(false)
	front.says(false, claudeEvent("s", "PreToolUse", `,"agent_id":"sub"`+runs)) // it was not told to the sub-agent
	front.says(true, claudeEvent("s", "PreToolUse", runs))
	front.says(false, claudeEvent("other", "UserPromptSubmit", `,"prompt":"tidy up"`), claudeEvent("other", "PreToolUse", runs))
	if left, err := os.ReadDir(filepath.Join(front.data, "owed")); err != nil || len(left) != 0 {
		t.Errorf("notes left: %v, %v, want none once the server knows", left, err)
	}
}

// Waiting: the hook stays open and goes on when the owner answers elsewhere.
func TestAHeldCallThatWaitsRunsOnceTheOwnerApproves(t *testing.T) {
	w, story := open(t), lines(t, "codex-story.jsonl")
	for _, l := range story[:3] {
		w.run("codex", "", l.Body)
	}
	done := make(chan printed, 1)
	go func() { done <- w.run("codex", "", story[3].Body, "--wait", "60s") }()
	approve(t, w)
	if p := <-done; refuses("codex", p) || p.out != "" {
		t.Errorf("got %+v, want it to pass in silence", p)
	}
}

// approve answers the first open question as soon as there is one.
func approve(t *testing.T, w *world) {
	t.Helper()
	var server struct {
		URL string `json:"url"`
	}
	raw, err := os.ReadFile(filepath.Join(w.data, "server.json"))
	if err != nil || strictjson.Unmarshal(raw, &server) != nil {
		t.Fatalf("server.json: %v", err)
	}
	send := func(method, path, body string) []byte {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer approver-token-0123456789")
		req.Header.Set("Content-Type", "application/json")
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var buf strings.Builder
		if err := res.Write(&buf); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(buf.String(), "\r\n\r\n")
		return []byte(text)
	}
	for {
		list := string(send(http.MethodGet, "/v1/approvals", ""))
		if _, rest, ok := strings.Cut(list, `"id":"`); ok {
			id, _, _ := strings.Cut(rest, `"`)
			send(http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve"}`)
			return
		}
	}
}

func TestNobodySitsAtABuildMachine(t *testing.T) {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	for want, m := range map[string]map[string]string{"owner": {"CI": "false"}, "unknown": {"GITHUB_ACTIONS": "true"}} {
		o := shim.Options{Data: "x", Wait: time.Second}
		if err := o.Complete(env(m)); err != nil || o.Sender != want {
			t.Errorf("%v: got %q, %v, want %q", m, o.Sender, err, want)
		}
	}
}
