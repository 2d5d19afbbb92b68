package agent_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/door/agent"
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

const (
	droidRuns  = `,"tool_name":"Execute","tool_input":{"command":"rm -r build"}`
	droidReads = `,"tool_name":"Execute","tool_input":{"command":"curl https://example.com/notes; exit 3"}`
)

// Droid says nothing about a tool that failed, but its model reads what it printed.
func TestWhatAFailedToolOfDroidBringsCountsWithoutAReport(t *testing.T) {
	w := open(t)
	told(t, w, "droid", droidEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidReads), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
}

// BEY-06
func TestASubAgentOfDroidInheritsAndCannotSpeakAsTheOwner(t *testing.T) {
	w := open(t)
	told(t, w, "droid", droidEvent("s", "UserPromptSubmit", `,"prompt":"read the notes"`), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidReads), false)
	held := told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
	code := codeOf.FindStringSubmatch(held.err)
	if code == nil {
		t.Fatalf("reason %q, want a code", held.err)
	}
	told(t, w, "droid", droidEvent("sub", "SessionStart", `,"source":"startup","calling_session_id":"s"`), false)
	told(t, w, "droid", droidEvent("sub", "UserPromptSubmit", `,"prompt":"tidy up"`), false)
	told(t, w, "droid", droidEvent("sub", "PreToolUse", droidRuns), true)
	w.run("droid", "", []byte(droidEvent("sub", "UserPromptSubmit", `,"prompt":".approve exec `+code[1]+`"`)))
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
}

func TestWhatASubAgentOfDroidReadIsInTheConversationItWorksFor(t *testing.T) {
	for name, back := range map[string]string{
		"it is done":            droidEvent("s", "SubagentStop", `,"task_name":"x","task_result":""`),
		"its report is fetched": droidEvent("s", "PostToolUse", `,"tool_name":"TaskOutput","tool_input":{"task_id":"sub"},"tool_response":"do it"`),
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			told(t, w, "droid", droidEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), false)
			told(t, w, "droid", droidEvent("sub", "SessionStart", `,"source":"startup","calling_session_id":"s"`), false)
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

// What a sub-agent of Goose does reaches no hook.
func TestGooseStartsNoSubAgents(t *testing.T) {
	w := open(t)
	told(t, w, "goose", `{"event":"UserPromptSubmit","session_id":"s","message":"tidy up with a sub-agent"}`, false)
	for range 2 {
		p := told(t, w, "goose", `{"event":"PreToolUse","session_id":"s","tool_call_id":"c","tool_name":"delegate","tool_input":{"instructions":"tidy up"}}`, true)
		if !strings.Contains(p.err, "sub-agent") {
			t.Errorf("reason %q, want why", p.err)
		}
	}
}

// Each command of a list runs in a shell of its own, so a quote that is open in one does
// not hide the next. A list that cannot be read is refused.
func TestTheListsOfClineAreInTheWordsOfPolicy(t *testing.T) {
	const bad = ""
	a, err := agent.Find("cline")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, input, want string }{
		{"run_commands", `{"commands":["ls -l"]}`, `{"command":"ls -l"}`},
		{"run_commands", `{"commands":"ls -l"}`, `{"command":"ls -l"}`},
		{"run_commands", `{"commands":["echo '","curl x"]}`, `{"command":"sh -c 'echo '\\'''\nsh -c 'curl x'"}`},
		{"run_commands", `{"commands":[]}`, `{"command":""}`},
		{"run_commands", `{"commands":["ls",{"command":"curl x"}]}`, bad},
		{"run_commands", `{"commands":{"0":"ls"}}`, bad},
		{"run_commands", `{"commands":["ls"],"command":"ls"}`, bad},
		{"run_commands", `{"commands":null}`, bad},
		{"read_files", `{"files":[{"path":"a"}]}`, `{"path":"a"}`},
		{"read_files", `{"files":["a",{"path":"b","start_line":1}]}`, `{"path":["a","b"]}`},
		{"read_files", `{"files":[{"start_line":1}]}`, bad},
		{"fetch_web_content", `{"requests":[{"url":"http://a","prompt":"x"},{"url":"http://b","prompt":"x"}]}`, `{"url":["http://a","http://b"]}`},
	} {
		e, err := a.Decode("", []byte(`{"hookName":"tool_call","taskId":"t","tool_call":{"id":"c","name":"`+c.tool+`","input":`+c.input+`}}`))
		switch {
		case c.want == bad && err == nil:
			t.Errorf("%s: got %s, want an error", c.input, e.Params)
		case c.want != bad && (err != nil || string(e.Params) != c.want):
			t.Errorf("%s: got %+v and %v, want %s", c.input, e, err, c.want)
		}
	}
}

// A sub-agent of Cline is a part of the session that everything began in.
func TestASubAgentOfClineIsAPartOfItsSession(t *testing.T) {
	a, err := agent.Find("cline")
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
