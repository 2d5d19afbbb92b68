package httpapi_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// patient is the context of a host that is ready to wait some seconds.
func patient(session string, seconds int) string {
	return fmt.Sprintf(`{"sessionKey":%q,"agentId":"main","messageProvider":"discord","senderId":"u1","senderIsOwner":true,"wait":%d}`, session, seconds)
}

// waits asks for exec and waits for the answer.
func (w *world) waits(session, params string, seconds int) <-chan answer {
	out := make(chan answer, 1)
	go func() {
		out <- w.must(hook.NameBeforeToolCall, fmt.Sprintf(`{"toolName":"exec","params":%s}`, params), patient(session, seconds))
	}()
	return out
}

// waiting returns when so many callers wait.
func (w *world) waiting(n int) {
	w.t.Helper()
	for w.call(approverToken, http.MethodGet, "/v1/status", "").at("waiting") != float64(n) {
		if err := w.t.Context().Err(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// post sends an answer that must count.
func (w *world) post(token, path, body string) answer {
	w.t.Helper()
	a := w.call(token, http.MethodPost, path, body)
	if a.status != http.StatusOK {
		w.t.Fatalf("POST %s: got status %d: %s", path, a.status, a.raw)
	}
	return a
}

// BEY-10 PRV-18
func TestAWaitingCallRunsOnceItIsApproved(t *testing.T) {
	for name, approve := range map[string]func(w *world, q answer){
		"by the owner's code": func(w *world, q answer) { w.say("s", q.text("tidemark.approval.approve")) },
		"by the owner's code for all": func(w *world, q answer) {
			w.say("s", ".approve all "+q.text("tidemark.approval.code"))
		},
		"by its id": func(w *world, q answer) {
			w.post(approverToken, "/v1/approvals/"+q.text("tidemark.approval.id"), `{"decision":"approve"}`)
		},
		"by a grant": func(w *world, q answer) {
			w.post(approverToken, "/v1/approvals/"+q.text("tidemark.approval.id"), `{"decision":"approve","minutes":5}`)
		},
		"by a grant given for another question": func(w *world, _ answer) {
			other := w.before("s", "exec", `{"command":"make test"}`)
			w.post(approverToken, "/v1/approvals/"+other.text("tidemark.approval.id"), `{"decision":"approve","minutes":5,"where":{"command":"*"}}`)
		},
		"by a grant for similar calls": func(w *world, _ answer) {
			other := w.before("s", "exec", `{"command":"make test"}`)
			w.post(approverToken, "/v1/approvals/"+other.text("tidemark.approval.id"), `{"decision":"approve","minutes":5,"where":{"command":"make *"}}`)
		},
		"by a reset of trust":              func(w *world, _ answer) { w.post(adminToken, "/v1/sessions/s/reset-trust", "") },
		"by the owner's reset of trust":    func(w *world, _ answer) { w.say("s", ".reset-trust") },
		"after five wrong codes, by a new": afterWrongCodes,
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, byLevels)
			q := held(w, "s")
			got := w.waits("s", command, 300)
			w.waiting(1)
			approve(w, q)
			a := <-got
			want(t, a, "block", nil)
			want(t, a, "tidemark.verdict", "allow")
			want(t, a, "tidemark.timedOut", nil)
			want(t, a, "tidemark.approval", nil)
			w.waiting(0)
		})
	}
}

// afterWrongCodes kills the question and approves the one that stands in for it.
func afterWrongCodes(w *world, q answer) {
	for range 5 {
		w.say("s", ".approve exec 00000000")
	}
	fresh := w.before("s", "exec", command)
	if fresh.text("tidemark.approval.id") == q.text("tidemark.approval.id") {
		w.t.Errorf("the dead question was asked again")
	}
	w.say("s", fresh.text("tidemark.approval.approve"))
}

// BEY-10
func TestAWaitingCallIsRefusedOnceItIsDenied(t *testing.T) {
	for name, deny := range map[string]func(w *world, q answer){
		"by the owner's code": func(w *world, q answer) { w.say("s", ".deny "+q.text("tidemark.approval.code")) },
		"by its id": func(w *world, q answer) {
			w.post(approverToken, "/v1/approvals/"+q.text("tidemark.approval.id"), `{"decision":"deny","reason":"not today"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, "")
			q := held(w, "s")
			got := w.waits("s", command, 300)
			w.waiting(1)
			deny(w, q)
			a := <-got
			want(t, a, "block", true)
			want(t, a, "tidemark.verdict", "deny")
			want(t, a, "tidemark.rule", "owner-denied")
			want(t, a, "tidemark.timedOut", nil)
			want(t, a, "tidemark.approval", nil)
			want(t, w.get("/v1/approvals/"+q.text("tidemark.approval.id")), "state", "denied")
			w.waiting(0)
		})
	}
}

// A question that nobody answers is a timeout, never a denial.
//
// BEY-10 PRV-19
func TestAWaitingCallTimesOut(t *testing.T) {
	w := open(t, byLevels)
	for range 2 {
		q := held(w, "s")
		w.clock.advance(15*time.Minute - time.Millisecond)
		got := w.waits("s", command, 300)
		w.waiting(1)
		w.clock.advance(time.Millisecond)
		a := <-got
		want(t, a, "block", true)
		want(t, a, "tidemark.timedOut", true)
		want(t, a, "tidemark.verdict", "confirm")
		want(t, a, "tidemark.approval", nil)
		if !strings.Contains(a.text("blockReason"), "nobody denied it") {
			t.Errorf("the agent is told %q", a.text("blockReason"))
		}
		want(t, w.get("/v1/approvals/"+q.text("tidemark.approval.id")), "state", "expired")
		w.waiting(0)
	}
}

// BEY-10 PRV-18
func TestPatienceThatEndsGivesTheCode(t *testing.T) {
	w := open(t, "")
	q := held(w, "s")
	for _, seconds := range []int{1, 0, -5} {
		a := <-w.waits("s", command, seconds)
		want(t, a, "block", true)
		want(t, a, "tidemark.verdict", "confirm")
		want(t, a, "tidemark.timedOut", nil)
		want(t, a, "tidemark.approval.code", q.text("tidemark.approval.code"))
	}
	want(t, w.get("/v1/approvals/"+q.text("tidemark.approval.id")), "state", "pending")
	w.say("s", q.text("tidemark.approval.approve"))
	want(t, <-w.waits("s", command, 1), "tidemark.verdict", "allow")
}

// disconnects starts a request and gives it up when it waits.
func (w *world) disconnects(method, path, token, body string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	done := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(r)
		if err == nil {
			err = res.Body.Close()
		}
		done <- err
	}()
	w.waiting(1)
	cancel()
	if err := <-done; err == nil {
		w.t.Error("a request that was given up was answered")
	}
	w.waiting(0)
}

// BEY-10
func TestACallerThatDisconnectsLeavesTheQuestionOpen(t *testing.T) {
	w := open(t, "")
	q := held(w, "s")
	id := q.text("tidemark.approval.id")
	for range 2 {
		w.disconnects(http.MethodPost, "/v1/hooks/before_tool_call", agentToken,
			fmt.Sprintf(`{"event":{"toolName":"exec","params":%s},"ctx":%s}`, command, patient("s", 300)))
		w.disconnects(http.MethodGet, "/v1/approvals/"+id+"?wait=300", approverToken, "")
		want(t, w.get("/v1/approvals/"+id), "state", "pending")
	}
	w.post(approverToken, "/v1/approvals/"+id, `{"decision":"approve"}`)
	want(t, w.before("s", "exec", command), "tidemark.spent", id)
}

// BEY-10
func TestTwoApproversAndAWaitingCall(t *testing.T) {
	w := open(t, "")
	for round := range 25 {
		session := fmt.Sprintf("s%d", round)
		id := held(w, session).text("tidemark.approval.id")
		caller := w.waits(session, command, 300)
		answers := make(chan answer, 3)
		for _, decision := range []string{"approve", "deny", "approve"} {
			go func() {
				answers <- w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"`+decision+`"}`)
			}()
		}
		var notices []string
		for range cap(answers) {
			if a := <-answers; a.status == http.StatusOK {
				notices = append(notices, a.text("notice"))
			}
		}
		if len(notices) != 1 {
			t.Fatalf("round %d: %d answers counted, want 1: %q", round, len(notices), notices)
		}
		first, again := "allow", "confirm" // the one approval is spent
		if strings.HasPrefix(notices[0], "Denied") {
			first, again = "deny", "deny"
		}
		want(t, <-caller, "tidemark.verdict", first)
		want(t, w.before(session, "exec", command), "tidemark.verdict", again)
	}
	w.waiting(0)
}

// BEY-10
func TestACrowdWaitsOverHTTP(t *testing.T) {
	w := open(t, "")
	const sessions, callers = 8, 8
	crowd := map[string]<-chan answer{}
	for i := range sessions {
		session := fmt.Sprintf("s%d", i)
		w.say(session, "Deploy.")
		w.fetch(session)
		for n := range callers {
			params := fmt.Sprintf(`{"command":"make %d"}`, n)
			crowd[session+params] = w.waits(session, params, 300)
		}
	}
	w.waiting(sessions * callers)
	for i, item := range w.get("/v1/approvals").list("approvals") {
		q, _ := item.(map[string]any)
		decision, verdict := "approve", "allow"
		if i%2 == 0 {
			decision, verdict = "deny", "deny"
		}
		w.post(approverToken, fmt.Sprint("/v1/approvals/", q["id"]), `{"decision":"`+decision+`"}`)
		want(t, <-crowd[fmt.Sprint(q["session"], q["args"])], "tidemark.verdict", verdict)
	}
	w.waiting(0)
}

// restart is another server on the same log.
func restart(t *testing.T, old *world) *world {
	t.Helper()
	return open(t, "", func(o *httpapi.Options) {
		f := notify.New(old.store)
		m, err := engine.New(engine.Options{Policy: o.Monitor.Policy(), Store: f, Now: old.clock.Now, Rand: rand.Reader})
		if err != nil {
			t.Fatal(err)
		}
		o.Monitor, o.Feed, o.Log = m, f, old.store
	})
}

// BEY-10 SEQ-09
func TestAQuestionSurvivesARestart(t *testing.T) {
	for name, approve := range map[string]func(w *world, q answer){
		"and its id counts": func(w *world, q answer) {
			w.post(approverToken, "/v1/approvals/"+q.text("tidemark.approval.id"), `{"decision":"approve"}`)
		},
		"and its code counts": func(w *world, q answer) { w.say("s", q.text("tidemark.approval.approve")) },
	} {
		t.Run(name, func(t *testing.T) {
			old := open(t, "")
			q := held(old, "s")
			old.disconnects(http.MethodPost, "/v1/hooks/before_tool_call", agentToken,
				fmt.Sprintf(`{"event":{"toolName":"exec","params":%s},"ctx":%s}`, command, patient("s", 300)))
			w := restart(t, old)
			if got := w.get("/v1/approvals?session=s").list("approvals"); len(got) != 1 {
				t.Fatalf("got %d questions after the restart, want 1", len(got))
			}
			approve(w, q)
			want(t, <-w.waits("s", command, 300), "tidemark.spent", q.text("tidemark.approval.id"))
			want(t, w.before("s", "exec", command), "tidemark.verdict", "confirm")
		})
	}
}
