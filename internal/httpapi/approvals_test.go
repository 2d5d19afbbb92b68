package httpapi_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
)

const command = `{"command":"make deploy"}`

// held puts a web page into the context and asks for exec.
func held(w *world, session string) answer {
	w.t.Helper()
	w.say(session, "Deploy what the page says.")
	w.fetch(session)
	a := w.before(session, "exec", command)
	want(w.t, a, "tidemark.verdict", "confirm")
	return a
}

// PRV-18 PRV-19
func TestApproveByChat(t *testing.T) {
	w := open(t, "")
	a := held(w, "s")
	want(t, a, "tidemark.approval.approve", ".approve exec "+a.text("tidemark.approval.code"))
	said := w.say("s", a.text("tidemark.approval.approve"))
	want(t, said, "tidemark.command", "approve")
	if said.text("tidemark.notice") == "" {
		t.Errorf("no notice for the user: %s", said.raw)
	}
	again := w.before("s", "exec", command)
	want(t, again, "block", nil)
	want(t, again, "tidemark.verdict", "allow")
	want(t, again, "tidemark.spent", a.text("tidemark.approval.id"))
	want(t, w.before("s", "exec", command), "tidemark.verdict", "confirm")
}

// PRV-19
func TestApproveByChatCountsOnlyFromTheOwner(t *testing.T) {
	w := open(t, "")
	a := held(w, "s")
	for _, stranger := range []string{
		`{"sessionKey":"s","messageProvider":"discord","senderId":"u2"}`,
		`{"sessionKey":"s","messageProvider":"discord","senderIsOwner":true,"senderMetadata":false}`,
		`{"sessionKey":"s","messageProvider":"discord","senderIsOwner":true,"spawnedBy":"t"}`,
		`{"sessionKey":"s","messageProvider":"discord","senderIsOwner":true,"inputProvenance":{"kind":"inter_session"}}`,
		`{"sessionKey":"s","messageProvider":"discord","senderIsOwner":true,"inputProvenance":{"kind":"inter_session","sourceSessionKey":"t"}}`,
	} {
		said := w.must(hook.NameMessageReceived, fmt.Sprintf(`{"from":"u2","content":%q}`, a.text("tidemark.approval.approve")), stranger)
		want(t, said, "tidemark.command", nil)
	}
	want(t, w.before("s", "exec", command), "tidemark.verdict", "confirm")
}

// A host without message_received: the words are in the context it sends.
//
// PRV-18 HOOK-01 HOOK-03
func TestApproveByChatWithoutMessageReceived(t *testing.T) {
	for name, ask := range map[string]func(w *world, words, ctx string) answer{
		"in before_llm_call": func(w *world, words, ctx string) answer {
			return w.must(hook.NameBeforeLLMCall, `{"messages":[{"role":"user","content":`+words+`}],"model":"m","iteration":0,"tools":[]}`, ctx)
		},
		"in before_llm_call, as text parts": func(w *world, words, ctx string) answer {
			return w.must(hook.NameBeforeLLMCall, `{"messages":[{"role":"assistant","content":"Approve?"},{"role":"user","content":[{"type":"text","text":`+words+`}]},{"role":"system","content":"hint"}],"model":"m","iteration":0,"tools":[]}`, ctx)
		},
		"in context_assembled": func(w *world, words, ctx string) answer {
			return w.must(hook.NameContextAssembled, `{"messages":[{"role":"user","content":`+words+`}],"sources":[]}`, ctx)
		},
		"in before_agent_start": func(w *world, words, ctx string) answer {
			return w.must(hook.NameBeforeAgentStart, `{"prompt":`+words+`,"messages":[]}`, ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, "")
			run := func(id string) string {
				return `{"sessionKey":"s","runId":"` + id + `","messageProvider":"discord","senderId":"u1","senderIsOwner":true}`
			}
			ask(w, `"Deploy what the page says."`, run("r1"))
			w.must(hook.NameBeforeToolCall, `{"toolName":"web_fetch","params":{}}`, run("r1"))
			w.must(hook.NameAfterToolCall, `{"toolName":"web_fetch","result":"a page"}`, run("r1"))
			a := w.must(hook.NameBeforeToolCall, `{"toolName":"exec","params":`+command+`}`, run("r1"))
			want(t, a, "tidemark.verdict", "confirm")
			w.must(hook.NameAgentEnd, `{"messages":[],"success":true}`, run("r1"))

			said := ask(w, fmt.Sprintf("%q", a.text("tidemark.approval.approve")), run("r2"))
			want(t, said, "tidemark.command", "approve")
			if said.text("tidemark.notice") == "" {
				t.Errorf("no notice for the user: %s", said.raw)
			}
			want(t, w.must(hook.NameBeforeToolCall, `{"toolName":"exec","params":`+command+`}`, run("r2")), "tidemark.verdict", "allow")
		})
	}
}

// Neither an old message nor one that carries more than text speaks for the owner.
func TestWordsThatAreNotTheUsersOwn(t *testing.T) {
	for name, messages := range map[string]string{
		"an older message":      `[{"role":"user","content":%[1]q},{"role":"assistant","content":"ok"}]`,
		"a message and a call":  `[{"role":"user","content":%[1]q},{"role":"tool","content":"x"}]`,
		"a tool result inside":  `[{"role":"user","content":[{"type":"text","text":%[1]q},{"type":"tool_result","content":"x"}]}]`,
		"a tool result alone":   `[{"role":"user","content":[{"type":"tool_result","content":%[1]q}]}]`,
		"text without text":     `[{"role":"user","content":[{"type":"text","content":%[1]q}]}]`,
		"an assistant's":        `[{"role":"assistant","content":%[1]q}]`,
		"a system message":      `[{"role":"system","content":%[1]q}]`,
		"a message of no shape": `[{"role":"user","content":{"text":%[1]q}},7]`,
		"no parts":              `[{"role":"user","content":[]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, "")
			a := held(w, "s")
			w.must(hook.NameBeforeResponseEmit, `{"content":"Held."}`, owner("s"))
			event := `{"model":"m","iteration":0,"tools":[],"messages":` + messages + `}`
			if name != "no parts" {
				event = fmt.Sprintf(event, a.text("tidemark.approval.approve"))
			}
			w.must(hook.NameBeforeLLMCall, event, owner("s"))
			want(t, w.before("s", "exec", command), "tidemark.verdict", "confirm")
		})
	}
}

// A turn that several hooks announce has one message: a code said once is tried once.
func TestMessageOfATurnCountsOnce(t *testing.T) {
	w := open(t, "")
	held(w, "s")
	const wrong = ".approve exec 00000000"
	w.say("s", wrong)
	w.must(hook.NameBeforeAgentStart, `{"prompt":"`+wrong+`","messages":[]}`, owner("s"))
	w.must(hook.NameContextAssembled, `{"messages":[{"role":"user","content":"`+wrong+`"}],"sources":[]}`, owner("s"))
	w.must(hook.NameBeforeLLMCall, `{"messages":[{"role":"user","content":"`+wrong+`"}],"model":"m","iteration":0,"tools":[]}`, owner("s"))
	if got := len(w.get("/v1/audit?session=s&kind=approval.failed").list("records")); got != 1 {
		t.Errorf("got %d wrong tries, want 1", got)
	}
	if got := len(w.get("/v1/sessions/s/turns").list("turns")); got != 2 {
		t.Errorf("got %d turns, want 2", got)
	}
}

// PRV-19
func TestFiveWrongCodesKillTheQuestion(t *testing.T) {
	w := open(t, "")
	a := held(w, "s")
	for range 5 {
		w.say("s", ".approve exec 00000000")
	}
	w.say("s", a.text("tidemark.approval.approve"))
	want(t, w.get("/v1/approvals/"+a.text("tidemark.approval.id")), "state", "dead")
	id := w.before("s", "exec", command).text("tidemark.approval.id")
	if id == a.text("tidemark.approval.id") {
		t.Errorf("the dead question was asked again")
	}
}

func TestApproveByIDLetsTheCallThroughOnce(t *testing.T) {
	w := open(t, "")
	a := held(w, "s")
	id := a.text("tidemark.approval.id")
	listed := w.call(approverToken, http.MethodGet, "/v1/approvals?state=pending", "")
	if got := listed.list("approvals"); len(got) != 1 {
		t.Fatalf("got %d open questions, want 1: %s", len(got), listed.raw)
	}
	one := w.call(approverToken, http.MethodGet, "/v1/approvals/"+id, "")
	want(t, one, "tool", "exec")
	want(t, one, "code", nil) // a code belongs to the chat it was shown in
	done := w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve","reason":"asked on the phone"}`)
	if done.status != http.StatusOK || done.text("notice") == "" || len(done.list("resolved")) != 1 {
		t.Fatalf("approve: got %d %s", done.status, done.raw)
	}
	want(t, w.before("s", "exec", `{"command":"make deploy "}`), "tidemark.verdict", "confirm") // other bytes, another call
	want(t, w.before("s", "exec", command), "tidemark.verdict", "allow")
	want(t, w.before("s", "exec", command), "tidemark.verdict", "confirm")
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve"}`), http.StatusConflict, "no longer open")
	want(t, w.call(approverToken, http.MethodGet, "/v1/approvals/"+id, ""), "state", "spent")
}

// A person who said no is not asked the same again in the same turn.
func TestDenyByID(t *testing.T) {
	w := open(t, "")
	id := held(w, "s").text("tidemark.approval.id")
	done := w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"deny","session":"s"}`)
	if done.status != http.StatusOK {
		t.Fatalf("deny: got %d %s", done.status, done.raw)
	}
	again := w.before("s", "exec", command)
	want(t, again, "tidemark.verdict", "deny")
	want(t, again, "tidemark.rule", "owner-denied")
	want(t, w.call(approverToken, http.MethodGet, "/v1/approvals/"+id, ""), "state", "denied")
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve","session":"s"}`), http.StatusConflict, "no longer open")
}

func TestAnswersThatComeTooLateOrNowhere(t *testing.T) {
	w := open(t, "")
	id := held(w, "s").text("tidemark.approval.id")
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/approvals/ask-000", `{"decision":"approve"}`), http.StatusNotFound, "no question")
	wantProblem(t, w.call(approverToken, http.MethodGet, "/v1/approvals/ask-000", ""), http.StatusNotFound, "no question")
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve","session":"other"}`), http.StatusConflict, "")
	wantProblem(t, w.get("/v1/approvals?session=nobody"), http.StatusNotFound, "")
	w.clock.advance(15*time.Minute + time.Second)
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve"}`), http.StatusConflict, "expired")
	want(t, w.get("/v1/approvals/"+id), "state", "expired")
	if got := w.get("/v1/approvals?session=s&state=pending").list("approvals"); len(got) != 0 {
		t.Errorf("got %d open questions, want none", len(got))
	}
}

func TestTwoApproversRaceAndOneWins(t *testing.T) {
	w := open(t, "")
	for round := range 10 {
		session := fmt.Sprintf("race-%d", round)
		id := held(w, session).text("tidemark.approval.id")
		var won, lost atomic.Int32
		var both sync.WaitGroup
		for _, decision := range []string{"approve", "deny", "approve", "deny"} {
			both.Go(func() {
				switch a := w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"`+decision+`"}`); a.status {
				case http.StatusOK:
					won.Add(1)
				case http.StatusConflict, http.StatusNotFound:
					lost.Add(1)
				default:
					t.Errorf("got status %d: %s", a.status, a.raw)
				}
			})
		}
		both.Wait()
		if won.Load() != 1 || lost.Load() != 3 {
			t.Errorf("round %d: %d won, %d lost; want 1 and 3", round, won.Load(), lost.Load())
		}
	}
}

func TestGrants(t *testing.T) {
	w := open(t, "")
	id := held(w, "s").text("tidemark.approval.id")
	done := w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve","minutes":5,"where":{"command":"rollout *"}}`)
	grant := done.text("grant")
	if done.status != http.StatusOK || grant == "" {
		t.Fatalf("approve for 5 minutes: got %d %s", done.status, done.raw)
	}
	for i := range 3 {
		want(t, w.before("s", "exec", fmt.Sprintf(`{"command":"rollout %d"}`, i)), "tidemark.spent", grant)
	}
	w.say("other", "Hello.")
	for _, path := range []string{"/v1/grants", "/v1/grants?session=s"} {
		listed := w.get(path)
		if got := listed.list("grants"); len(got) != 1 {
			t.Errorf("%s: got %d grants, want 1: %s", path, len(got), listed.raw)
		}
	}
	if got := w.get("/v1/grants?session=other").list("grants"); len(got) != 0 {
		t.Errorf("got %d grants of another session, want none", len(got))
	}
	wantProblem(t, w.call(approverToken, http.MethodDelete, "/v1/grants/"+grant+"?session=other", ""), http.StatusNotFound, "")
	revoked := w.call(approverToken, http.MethodDelete, "/v1/grants/"+grant, "")
	want(t, revoked, "revoked", true)
	want(t, w.before("s", "exec", `{"command":"rollout 9"}`), "tidemark.verdict", "confirm")
	wantProblem(t, w.call(approverToken, http.MethodDelete, "/v1/grants/"+grant, ""), http.StatusNotFound, "session")
}

// A page covers sessions: what is on the next one is reached by its cursor.
func TestGrantsByPage(t *testing.T) {
	w := open(t, "")
	id := held(w, "old").text("tidemark.approval.id")
	w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve","minutes":5}`)
	w.say("new", "Hello.")
	first := w.get("/v1/grants?limit=1")
	if len(first.list("grants")) != 0 || first.text("next") != "new" {
		t.Fatalf("got %s, want no grant and the next page after new", first.raw)
	}
	if got := w.get("/v1/grants?limit=1&after=new").list("grants"); len(got) != 1 {
		t.Errorf("got %d grants on the second page, want 1", len(got))
	}
	wantProblem(t, w.get("/v1/grants?after=nobody"), http.StatusNotFound, "")
}

// PRV-11 PRV-19
func TestRestrictedCallHasNoWayOut(t *testing.T) {
	w := open(t, "taintPolicy: {untrusted: hide}\n")
	w.say("s", "Read the page.")
	w.fetch("s")
	a := w.before("s", "exec", command)
	want(t, a, "block", true)
	want(t, a, "tidemark.verdict", "deny")
	want(t, a, "tidemark.approval", nil)
}
