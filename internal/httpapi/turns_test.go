package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/tool"
)

// PRV-04 PRV-06
func TestWhoSpeaksDecidesTheLevel(t *testing.T) {
	for name, c := range map[string]struct{ event, ctx, level string }{
		"the owner":                        {`{"from":"u1","content":"x"}`, `"messageProvider":"slack","senderId":"u1","senderIsOwner":true`, "owner"},
		"the owner in a group":             {`{"from":"u1","content":"x"}`, `"messageProvider":"slack","senderId":"u1","senderIsOwner":true,"groupId":"g"`, "shared"},
		"somebody else":                    {`{"from":"u2","content":"x"}`, `"messageProvider":"slack","senderId":"u2"`, "external"},
		"somebody named by the event":      {`{"from":"u2","content":"x"}`, `"messageProvider":"slack"`, "external"},
		"somebody of an unnamed channel":   {`{"from":"u2","content":"x"}`, ``, "external"},
		"a channel id alone":               {`{"from":"","content":"x"}`, `"channelId":"slack"`, "untrusted"},
		"nobody":                           {`{"from":"","content":"x"}`, `"messageProvider":"webhook"`, "untrusted"},
		"the system":                       {`{"from":"","content":"x"}`, ``, "system"},
		"a session that is not named":      {`{"from":"u1","content":"x"}`, `"messageProvider":"slack","senderIsOwner":true,"inputProvenance":{"kind":"inter_session"}`, "untrusted"},
		"a user, as the host says":         {`{"from":"u1","content":"x"}`, `"messageProvider":"slack","senderIsOwner":true,"inputProvenance":{"kind":"external_user"}`, "owner"},
		"a host that cannot say who it is": {`{"from":"u1","content":"x"}`, `"messageProvider":"slack","senderIsOwner":true,"senderMetadata":false`, "untrusted"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, "")
			ctx := strings.TrimSuffix(`{"sessionKey":"s",`+c.ctx, ",") + "}"
			a := w.must(hook.NameMessageReceived, c.event, ctx)
			want(t, a, "tidemark.level", c.level)
			want(t, a, "tidemark.taint", c.level)
			if a.text("tidemark.turnId") == "" || a.text("tidemark.rule") == "" {
				t.Errorf("no turn or no rule: %s", a.raw)
			}
		})
	}
}

// BEY-06
func TestTaintOfAnotherSessionComesAlong(t *testing.T) {
	w := open(t, "")
	w.say("parent", "Read the page.")
	w.fetch("parent")
	spawned := `{"sessionKey":"child-1","messageProvider":"internal","spawnedBy":"parent"}`
	sent := `{"sessionKey":"child-2","messageProvider":"internal","senderIsOwner":true,"inputProvenance":{"kind":"inter_session","sourceSessionKey":"parent"}}`
	for _, ctx := range []string{spawned, sent} {
		want(t, w.must(hook.NameMessageReceived, `{"from":"","content":"x"}`, ctx), "tidemark.taint", "untrusted")
	}
	// A result that names its child session brings the child's taint.
	for _, result := range []string{`{"childSessionKey":"parent"}`, `{"details":{"childSessionKey":"parent"}}`} {
		session := fmt.Sprintf("collector-%d", len(result))
		w.say(session, "Collect.")
		want(t, w.after(session, "sessions_spawn", result), "tidemark.taint", "untrusted")
	}
	w.say("plain", "Collect.")
	want(t, w.after("plain", "sessions_spawn", `{"details":"done"}`), "tidemark.taint", "local")
	want(t, w.after("plain", "sessions_spawn", fmt.Sprintf(`{"childSessionKey":%q}`, strings.Repeat("x", 600))), "tidemark.taint", "untrusted")
}

// HOOK-03
func TestCensusOfTheContextTaints(t *testing.T) {
	w := open(t, "")
	w.say("s", "Go on.")
	a := w.must(hook.NameContextAssembled, `{"messages":[],"sources":[
		{"kind":"system_prompt","trust":"system","messageIndex":0},
		{"kind":"tool_result","tool":"message","trust":"external","messageIndex":3}]}`, owner("s"))
	want(t, a, "tidemark.taint", "external")
	want(t, a, "tidemark.turnId", "turn-1")
}

// A host that only has the tool hook is served too: the turn begins there, from what the
// host says about it, and without that nothing is assumed in its favour.
//
// PRV-04
func TestTurnBegunByItsFirstCall(t *testing.T) {
	w := open(t, "")
	call := `{"toolName":"exec","params":{}}`
	a := w.must(hook.NameBeforeToolCall, call, `{"sessionKey":"known","runId":"r1","messageProvider":"discord","senderId":"u1","senderIsOwner":true}`)
	want(t, a, "tidemark.taint", "owner")
	want(t, a, "block", nil)
	a = w.must(hook.NameBeforeToolCall, call, `{"sessionKey":"unknown"}`)
	want(t, a, "tidemark.taint", "untrusted")
	want(t, a, "block", true)
	a = w.must(hook.NameBeforeToolCall, call, `{"sessionKey":"claims","senderMetadata":true,"senderIsOwner":true}`)
	want(t, a, "tidemark.taint", "untrusted")
	a = w.must(hook.NameBeforeToolCall, call, `{"sessionKey":"child","spawnedBy":"known"}`)
	want(t, a, "tidemark.taint", "local")
	// The next run of another sender is judged by who that is.
	run := `{"sessionKey":"known","runId":"r2","messageProvider":"discord","senderId":"u2"}`
	a = w.must(hook.NameBeforeToolCall, call, run)
	want(t, a, "tidemark.taint", "external")
	want(t, a, "block", true)
}

// PRV-09
func TestSealedTurnStaysSealed(t *testing.T) {
	w := open(t, "")
	ctx := `{"sessionKey":"s","runId":"r1","messageProvider":"discord","senderId":"u1","senderIsOwner":true}`
	w.must(hook.NameMessageReceived, `{"from":"u1","content":"Hello."}`, ctx)
	w.must(hook.NameBeforeResponseEmit, `{"content":"Hi."}`, ctx)
	a := w.must(hook.NameBeforeToolCall, `{"toolName":"read","params":{}}`, ctx)
	want(t, a, "block", true)
	want(t, a, "tidemark.rule", "turn-sealed")
	for name, event := range map[hook.Name]string{
		hook.NameMessageReceived:    `{"from":"u1","content":"Hello."}`,
		hook.NameBeforeAgentStart:   `{"prompt":"Hello.","messages":[]}`,
		hook.NameContextAssembled:   `{"messages":[],"sources":[]}`,
		hook.NameBeforeResponseEmit: `{"content":"Hi."}`,
	} {
		wantProblem(t, w.hook(name, event, ctx), http.StatusConflict, "sealed")
	}
	late := w.hook(hook.NameAfterToolCall, `{"toolName":"web_fetch","result":"late"}`, ctx)
	wantProblem(t, late, http.StatusConflict, "taint was recorded")
	want(t, w.get("/v1/sessions/s"), "taint.level", "untrusted")
	// A model call after the answer is a turn of its own.
	want(t, w.must(hook.NameBeforeLLMCall, `{"messages":[],"tools":[],"iteration":0}`, ctx), "tidemark.taint", "untrusted")
	if g := w.get("/v1/sessions/s/turns/r1/graph"); g.status != http.StatusOK {
		t.Errorf("graph of the sealed turn: got %d %s", g.status, g.raw)
	}
}

func TestEndingWhatNeverBegan(t *testing.T) {
	w := open(t, "")
	wantProblem(t, w.hook(hook.NameBeforeResponseEmit, `{"content":"Hi."}`, owner("s")), http.StatusNotFound, "")
	want(t, w.must(hook.NameAgentEnd, `{"messages":[],"success":true}`, owner("s")), "tidemark.taint", "untrusted")
}

// HOOK-06
func TestAgentEndSealsTheTurn(t *testing.T) {
	w := open(t, "")
	w.say("s", "Hello.")
	w.must(hook.NameAgentEnd, `{"messages":[],"success":true}`, owner("s"))
	branch, _ := w.get("/v1/sessions/s").list("branches")[0].(map[string]any)
	if branch["open"] != false {
		t.Errorf("the turn is still open: %v", branch)
	}
}

// Somebody speaks in the middle of a run: a turn of its own, and the run goes on in it.
func TestMessageInTheMiddleOfARun(t *testing.T) {
	w := open(t, "")
	ctx := `{"sessionKey":"s","runId":"r1","messageProvider":"discord","senderId":"u1","senderIsOwner":true}`
	first := w.must(hook.NameMessageReceived, `{"from":"u1","content":"Hello."}`, ctx)
	w.must(hook.NameBeforeToolCall, `{"toolName":"read","params":{}}`, ctx)
	second := w.must(hook.NameMessageReceived, `{"from":"u1","content":"And now?"}`, ctx)
	if first.text("tidemark.turnId") == second.text("tidemark.turnId") {
		t.Errorf("two messages share turn %s", first.text("tidemark.turnId"))
	}
	want(t, w.must(hook.NameBeforeToolCall, `{"toolName":"read","params":{}}`, ctx), "block", nil)
	for _, id := range []string{first.text("tidemark.turnId"), second.text("tidemark.turnId")} {
		if g := w.get("/v1/sessions/s/turns/" + id + "/graph"); g.status != http.StatusOK {
			t.Errorf("graph of turn %s: got %d %s", id, g.status, g.raw)
		}
	}
}

// BEY-03
func TestBranchStartsFromTheMainContext(t *testing.T) {
	w := open(t, "")
	w.say("s", "Read the page.")
	w.fetch("s")
	branch := func(session string) string {
		return `{"sessionKey":"` + session + `","branch":"b","messageProvider":"discord","senderId":"u1","senderIsOwner":true}`
	}
	want(t, w.must(hook.NameMessageReceived, `{"from":"u1","content":"Fork."}`, branch("s")), "tidemark.taint", "untrusted")
	// A session that has only branches has nothing to inherit.
	want(t, w.must(hook.NameMessageReceived, `{"from":"u1","content":"Hello."}`, branch("t")), "tidemark.taint", "owner")
	want(t, w.must(hook.NameLoopIterationStart, `{"iteration":0}`, branch("t")), "tidemark.taint", "owner")
}

// The digest covers the bytes as they came, not as they could be written again.
func TestParamsAreJudgedByteForByte(t *testing.T) {
	w := open(t, "")
	w.say("s", "Read the page.")
	w.fetch("s")
	params := "{ \"command\" :\t\"\\u0061b\\/c\" }"
	id := w.before("s", "exec", params).text("tidemark.approval.id")
	digest := tool.Call{Name: "exec", Args: []byte(params)}.Digest()
	want(t, w.get("/v1/approvals/"+id), "digest", digest.String())
}

func TestResultsAreCountedOnce(t *testing.T) {
	w := open(t, "")
	w.say("s", "Read.")
	w.must(hook.NameBeforeToolCall, `{"toolName":"read","toolCallId":"c1","params":{}}`, owner("s"))
	w.must(hook.NameAfterToolCall, `{"toolName":"read","toolCallId":"c1","error":"no such file"}`, owner("s"))
	w.must(hook.NameToolResultPersist, `{"toolName":"read","toolCallId":"c1","message":{"content":"no such file"}}`, owner("s"))
	if got := w.get("/v1/audit?kind=result.seen").list("records"); len(got) != 1 {
		t.Errorf("got %d results, want 1", len(got))
	}
}
