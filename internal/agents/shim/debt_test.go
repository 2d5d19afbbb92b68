package shim_test

import "testing"

const (
	droidTask   = `,"tool_name":"Task","tool_input":{"prompt":"read the notes"}`
	droidReport = droidTask + `,"tool_response":"done"`
)

// begins is a session of Droid that starts a sub-agent.
func begins(t *testing.T) *world {
	t.Helper()
	w := open(t)
	told(t, w, "droid", droidOwn("s"), false)
	told(t, w, "droid", droidEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidTask), false)
	told(t, w, "droid", droidSub("sub", "s"), false)
	return w
}

// BEY-06
func TestASubAgentOfDroidThatFailsBringsWhatItRead(t *testing.T) {
	w := begins(t)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), false) // it has read nothing
	told(t, w, "droid", droidEvent("sub", "PreToolUse", droidReads), false)
	for range 2 { // no result is ever reported
		told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
	}
}

func TestASubAgentOfDroidThatReportedIsWaitedForNoMore(t *testing.T) {
	w := begins(t)
	told(t, w, "droid", droidEvent("s", "PostToolUse", droidReport), false)
	if left := w.notes("owed"); len(left) != 0 {
		t.Errorf("notes %v, want none", left)
	}
	told(t, w, "droid", droidEvent("sub", "PreToolUse", droidReads), false) // it goes on in the background
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", `,"tool_name":"TaskOutput","tool_input":{"task_id":"x"}`), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true) // its words were asked for
}

func TestOfTwoSubAgentsOfDroidWithOneErrandEachIsWaitedFor(t *testing.T) {
	w := begins(t)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidTask), false)
	told(t, w, "droid", droidSub("sub2", "s"), false)
	told(t, w, "droid", droidEvent("s", "PostToolUse", droidReport), false)
	told(t, w, "droid", droidEvent("sub2", "PreToolUse", droidReads), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
}

func TestTheEndOfASessionOfDroidKeepsWhatItsSubAgentsRead(t *testing.T) {
	w := begins(t)
	told(t, w, "droid", droidEvent("sub", "PreToolUse", droidReads), false)
	told(t, w, "droid", droidEvent("s", "SessionEnd", ""), false)
	if left := w.notes("owed"); len(left) != 0 {
		t.Errorf("notes %v, want none", left)
	}
	told(t, w, "droid", droidEvent("s", "SessionStart", `,"source":"resume"`), false)
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
}

func TestASubAgentOfDroidThatCannotBeNotedDoesNotStart(t *testing.T) {
	w := open(t)
	told(t, w, "droid", droidOwn("s"), false)
	told(t, w, "droid", droidEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), false)
	end := w.fills("owed")
	for range 2 {
		told(t, w, "droid", droidEvent("s", "PreToolUse", droidTask), true)
	}
	end()
	for range 64 {
		told(t, w, "droid", droidEvent("s", "PreToolUse", droidTask), false)
	}
	for range 2 {
		told(t, w, "droid", droidEvent("s", "PreToolUse", droidTask), true)
	}
}
