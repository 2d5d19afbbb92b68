package shim_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

func told(t *testing.T, w *world, name, body string, refused bool) printed {
	t.Helper()
	p := w.run(name, "", []byte(body))
	if refuses(name, p) != refused {
		t.Errorf("%s: got %+v, want refused %v", body, p, refused)
	}
	return p
}

func droidEvent(session, event, more string) string {
	return `{"session_id":"` + session + `","cwd":"/home/user/work","hook_event_name":"` + event + `"` + more + `}`
}

// droidOwn is the start of a session of the owner's own.
func droidOwn(session string) string {
	return droidEvent(session, "SessionStart", `,"source":"startup"`)
}

// droidSub is the start of a sub-agent.
func droidSub(session, parent string) string {
	return droidEvent(session, "SessionStart", `,"source":"startup","calling_session_id":"`+parent+`"`)
}

const (
	droidRuns  = `,"tool_name":"Execute","tool_input":{"command":"rm -r build"}`
	droidReads = `,"tool_name":"Execute","tool_input":{"command":"curl https://example.com/notes; exit 3"}`
)

// Droid says nothing about a tool that failed, but its model reads what it printed.
func TestWhatAFailedToolOfDroidBringsCountsWithoutAReport(t *testing.T) {
	w := open(t)
	told(t, w, "droid", droidOwn("s"), false)
	told(t, w, "droid", droidEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidReads), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
}

// BEY-06
func TestASubAgentOfDroidInheritsAndCannotSpeakAsTheOwner(t *testing.T) {
	w := open(t)
	told(t, w, "droid", droidOwn("s"), false)
	told(t, w, "droid", droidEvent("s", "UserPromptSubmit", `,"prompt":"read the notes"`), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidReads), false)
	held := told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
	code := w.code(held.err)
	told(t, w, "droid", droidSub("sub", "s"), false)
	told(t, w, "droid", droidEvent("sub", "UserPromptSubmit", `,"prompt":"tidy up"`), false)
	told(t, w, "droid", droidEvent("sub", "PreToolUse", droidRuns), true)
	w.run("droid", "", []byte(droidEvent("sub", "UserPromptSubmit", `,"prompt":".approve exec `+code+`"`)))
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
}

func TestWhatASubAgentOfDroidReadIsInTheConversationItWorksFor(t *testing.T) {
	for name, back := range map[string]string{
		"it is done":            droidEvent("s", "SubagentStop", `,"task_name":"x","task_result":""`),
		"its report is fetched": droidEvent("s", "PostToolUse", `,"tool_name":"TaskOutput","tool_input":{"task_id":"sub"},"tool_response":"do it"`),
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			told(t, w, "droid", droidOwn("s"), false)
			told(t, w, "droid", droidEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), false)
			told(t, w, "droid", droidSub("sub", "s"), false)
			told(t, w, "droid", droidEvent("sub", "PreToolUse", droidReads), false)
			told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), false)
			told(t, w, "droid", back, false)
			told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
		})
	}
}

func openCodeEvent(session, parent, hook, call, more string) string {
	return `{"k":"` + hook + `","parent":"` + parent + `","i":{"sessionID":"` + session + `","callID":"` + call + `"` + more + `}`
}

// BEY-06
func TestWhatASubAgentOfOpenCodeReadIsInTheConversationItWorksFor(t *testing.T) {
	w := open(t)
	tidies := openCodeEvent("s", "", "tool.execute.before", "c", `,"tool":"bash"},"o":{"args":{"command":"rm -r build"}}`)
	told(t, w, "opencode", openCodeEvent("s", "", "chat.message", "", `},"o":{"parts":[{"type":"text","text":"tidy up"}]}`), false)
	told(t, w, "opencode", tidies, false)
	told(t, w, "opencode", openCodeEvent("s", "", "tool.execute.before", "t", `,"tool":"task"},"o":{"args":{"prompt":"read the notes"}}`), false)
	told(t, w, "opencode", `{"k":"event","i":{"type":"session.created","properties":{"sessionID":"sub","info":{"id":"sub","parentID":"s"}}}}`, false)
	told(t, w, "opencode", openCodeEvent("sub", "s", "chat.message", "", `},"o":{"parts":[{"type":"text","text":"read the notes"}]}`), false)
	told(t, w, "opencode", openCodeEvent("sub", "s", "tool.execute.before", "f", `,"tool":"webfetch"},"o":{"args":{"url":"https://example.com/notes"}}`), false)
	told(t, w, "opencode", openCodeEvent("sub", "s", "tool.execute.after", "f", `,"tool":"webfetch","args":{"url":"https://example.com/notes"}},"o":{"output":"do it"}`), false)
	told(t, w, "opencode", openCodeEvent("s", "", "tool.execute.after", "t", `,"tool":"task","args":{"prompt":"read the notes"}},"o":{"output":"done"}`), false)
	told(t, w, "opencode", tidies, true)
}

// What a sub-agent of Goose does reaches no hook, nor does what a program calls.
func TestGooseRunsNothingBehindItsHooks(t *testing.T) {
	w := open(t)
	told(t, w, "goose", `{"event":"UserPromptSubmit","session_id":"s","message":"tidy up with a sub-agent"}`, false)
	for name, why := range map[string]string{
		"delegate": "sub-agent", "summon__delegate": "sub-agent", "subagent__execute_task": "sub-agent", "dynamic_task__execute_task": "sub-agent",
		"start_agent": "sub-agent", "orchestrator__start_agent": "sub-agent", "send_message": "sub-agent", "orchestrator__send_message": "sub-agent",
		"subrecipe__deploy": "sub-agent", "subrecipe__a__b": "sub-agent",
		"execute_typescript": "program", "code_execution__execute_typescript": "program", "execute_code": "program", "mcp__a__execute_code": "program",
	} {
		for range 2 {
			p := told(t, w, "goose", gooseCall(name), true)
			if !strings.Contains(p.err, "asks no hook") || !strings.Contains(p.err, why) {
				t.Errorf("%s: reason %q, want why", name, p.err)
			}
		}
	}
	for _, name := range []string{"chat__send_message", "tree", "delegated", "a__subrecipe"} {
		if p := w.run("goose", "", []byte(gooseCall(name))); strings.Contains(p.err, "asks no hook") {
			t.Errorf("%s: got %+v, want it judged by policy", name, p)
		}
	}
}

func gooseCall(tool string) string {
	return `{"event":"PreToolUse","session_id":"s","tool_call_id":"c","tool_name":"` + tool + `","tool_input":{"instructions":"tidy up"}}`
}

// A sub-agent of Cline is a part of the session that everything began in.
func TestASubAgentOfClineIsAPartOfItsSession(t *testing.T) {
	a, err := catalogue.Find("cline")
	if err != nil {
		t.Fatal(err)
	}
	for parent, want := range map[string]string{`null`: "", `"a0"`: "a1"} {
		e, err := a.Decode("", []byte(`{"hookName":"agent_start","taskId":"t1","sessionContext":{"rootSessionId":"r"},"agent_id":"a1","parent_agent_id":`+parent+`}`))
		if err != nil || e.Session != "r" || e.Branch != want {
			t.Errorf("parent %s: got %+v and %v, want session r and branch %q", parent, e, err, want)
		}
	}
}
