package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// watcher is a client of the stream of questions.
type watcher struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (w *world) watch(t *testing.T) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/v1/approvals/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+approverToken)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = res.Body.Close() // the server may be gone
	})
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("got %d %s, want an event stream", res.StatusCode, got)
	}
	return &watcher{t: t, lines: bufio.NewScanner(res.Body)}
}

// next reads up to the next event; comments are skipped.
func (c *watcher) next() (name string, data answer) {
	c.t.Helper()
	for c.lines.Scan() {
		switch field, value, _ := strings.Cut(c.lines.Text(), ": "); field {
		case "event":
			name = value
		case "data":
			data.raw = []byte(value)
			if err := strictjson.Unmarshal(data.raw, &data.body); err != nil {
				c.t.Fatalf("data %q: %v", value, err)
			}
		case "":
			if name != "" {
				return name, data
			}
		}
	}
	c.t.Fatalf("the stream ended: %v", c.lines.Err())
	return name, data
}

// wants reads the next event, which must be about this question.
func (c *watcher) wants(id, state string) answer {
	c.t.Helper()
	name, a := c.next()
	if name != "question" || a.text("id") != id || a.text("state") != state {
		c.t.Fatalf("got %s %s, want question %s %s", name, a.raw, id, state)
	}
	if a.at("code") != nil {
		c.t.Errorf("the stream holds a code: %s", a.raw)
	}
	return a
}

// snapshot reads the first event and the ids in it.
func (c *watcher) snapshot() []string {
	c.t.Helper()
	name, a := c.next()
	if name != "snapshot" {
		c.t.Fatalf("got %s %s, want a snapshot", name, a.raw)
	}
	var ids []string
	for _, item := range a.list("approvals") {
		q, _ := item.(map[string]any)
		ids = append(ids, fmt.Sprint(q["id"], " ", q["state"]))
	}
	return ids
}

// asks puts another call of the session into the queue.
func (w *world) asks(session string, n int) string {
	w.t.Helper()
	return w.before(session, "exec", fmt.Sprintf(`{"command":"make %d"}`, n)).text("tidemark.approval.id")
}

// Everybody who watches sees the queue, then each change of it, outcomes included.
//
// BEY-10
func TestTheQueueIsStreamed(t *testing.T) {
	w := open(t, "")
	first := held(w, "s").text("tidemark.approval.id")
	clients := []*watcher{w.watch(t), w.watch(t)}
	for _, c := range clients {
		if got := c.snapshot(); len(got) != 1 || got[0] != first+" pending" {
			t.Fatalf("got %v, want the one question", got)
		}
	}
	both := func(id, state string) {
		t.Helper()
		for _, c := range clients {
			c.wants(id, state)
		}
	}
	second := held(w, "other").text("tidemark.approval.id")
	both(second, "pending")
	w.post(approverToken, "/v1/approvals/"+first, `{"decision":"approve"}`)
	both(first, "approved")
	want(t, w.before("s", "exec", command), "tidemark.verdict", "allow")
	both(first, "spent")
	w.post(approverToken, "/v1/approvals/"+second, `{"decision":"deny","reason":"not today"}`)
	for _, c := range clients {
		want(t, c.wants(second, "denied"), "note", "not today")
	}
	third := w.asks("s", 3)
	both(third, "pending")
	w.post(approverToken, "/v1/approvals/"+third, `{"decision":"approve","minutes":1}`)
	both(third, "approved")

	late := w.watch(t)
	if got := late.snapshot(); len(got) != 0 {
		t.Errorf("a client that comes late sees %v, want nothing open", got)
	}
}

// A question that nobody waits for any more is told as such, to streams and to long polls.
//
// BEY-10
func TestTheStreamTellsThatNobodyWaits(t *testing.T) {
	w := open(t, "")
	id := held(w, "s").text("tidemark.approval.id")
	c := w.watch(t)
	c.snapshot()
	seen := w.get("/v1/approvals").text("seen")
	for _, call := range []string{command, `{"command":"make 7"}`} {
		<-w.waits("s", call, 1)
		want(t, c.wants(id, "pending"), "abandoned", true)
		want(t, w.get("/v1/approvals/"+id), "abandoned", true)
		if a := w.get("/v1/approvals?wait=60&seen=" + seen); !strings.Contains(string(a.raw), `"abandoned":true`) {
			t.Errorf("a long poll says %s", a.raw)
		}
		again := w.waits("s", call, 2)
		want(t, c.wants(id, "pending"), "abandoned", nil)
		<-again
		want(t, c.wants(id, "pending"), "abandoned", true)
		w.post(approverToken, "/v1/approvals/"+id, `{"decision":"deny"}`)
		c.wants(id, "denied")
		w.say("s", "again, please")
		id = w.asks("s", 7)
		want(t, c.wants(id, "pending"), "abandoned", nil)
		seen = w.get("/v1/approvals").text("seen")
	}
}

// A call that runs without an answer makes its question pointless, and that is told too.
//
// BEY-10
func TestTheStreamTellsOfAQuestionThatIsMoot(t *testing.T) {
	w := open(t, byLevels)
	id := held(w, "s").text("tidemark.approval.id")
	c := w.watch(t)
	c.snapshot()
	w.post(adminToken, "/v1/sessions/s/reset-trust", "")
	want(t, w.before("s", "exec", command), "tidemark.verdict", "allow")
	c.wants(id, "moot")
}

// PRV-19
func TestTheStreamTellsOfExpiryAndDeath(t *testing.T) {
	w := open(t, "")
	first := held(w, "s").text("tidemark.approval.id")
	w.clock.advance(15*time.Minute - time.Millisecond)
	c := w.watch(t)
	c.snapshot()
	w.clock.advance(time.Millisecond)
	c.wants(first, "expired")

	second := w.asks("s", 2)
	c.wants(second, "pending")
	for range 5 {
		w.say("s", ".approve exec 00000000")
	}
	c.wants(second, "dead")
	if got := w.watch(t).snapshot(); len(got) != 2 || got[0] != first+" expired" || got[1] != second+" dead" {
		t.Errorf("a new client sees %v", got)
	}
}

func TestTheStreamOfAnIdleQueueIsKeptAlive(t *testing.T) {
	w := open(t, "")
	w.api.KeepAlive(time.Millisecond)
	c := w.watch(t)
	if got := c.snapshot(); len(got) != 0 {
		t.Errorf("got %v, want an empty queue", got)
	}
	for c.lines.Scan() {
		if c.lines.Text() == ": keep-alive" {
			id := held(w, "s").text("tidemark.approval.id")
			c.wants(id, "pending")
			return
		}
	}
	t.Errorf("the stream ended: %v", c.lines.Err())
}

// polls asks for the next change and returns when the request is on its way.
func (w *world) polls(query string) <-chan answer {
	w.t.Helper()
	sent := make(chan struct{})
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(sent) }}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(w.t.Context(), trace), http.MethodGet, w.url+"/v1/approvals?"+query, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+approverToken)
	out := make(chan answer, 1)
	go func() { out <- w.request(r) }()
	<-sent
	return out
}

// BEY-10
func TestALongPollReturnsWithTheNextChange(t *testing.T) {
	w := open(t, "")
	w.say("s", "Deploy.")
	w.fetch("s")
	last := w.get("/v1/approvals")
	if last.text("seen") == "" || len(last.list("approvals")) != 0 {
		t.Fatalf("got %s, want an empty queue", last.raw)
	}
	for n := range 5 {
		var id string
		for _, change := range []func(){
			func() { id = w.asks("s", n) },
			func() { w.post(approverToken, "/v1/approvals/"+id, `{"decision":"deny"}`) },
		} {
			poll := w.polls("wait=300&seen=" + last.text("seen"))
			change()
			now := <-poll
			if now.text("seen") == last.text("seen") {
				t.Errorf("got %s, want a change", now.raw)
			}
			last = now
		}
		if len(last.list("approvals")) != 0 {
			t.Errorf("got %s, want an empty queue", last.raw)
		}
	}
}

// PRV-19
func TestALongPollReturnsOnExpiry(t *testing.T) {
	for _, query := range []string{"", "session=s&", "state=pending&"} {
		w := open(t, "")
		id := held(w, "s").text("tidemark.approval.id")
		last := w.get("/v1/approvals?" + query)
		w.clock.advance(15*time.Minute - time.Millisecond)
		poll := w.polls(query + "wait=300&seen=" + last.text("seen"))
		w.clock.advance(time.Millisecond)
		now := <-poll
		if now.text("seen") == last.text("seen") || strings.Contains(string(now.raw), `"pending"`) {
			t.Errorf("%s: got %s, want question %s expired", query, now.raw, id)
		}
	}
}

func TestALongPollWithoutAChangeSaysTheSame(t *testing.T) {
	w := open(t, "")
	held(w, "s")
	last := w.get("/v1/approvals")
	want(t, w.get("/v1/approvals?seen="+last.text("seen")), "seen", last.text("seen"))
	want(t, w.get("/v1/approvals?wait=1&seen="+last.text("seen")), "seen", last.text("seen"))
	want(t, w.get("/v1/approvals?wait=300"), "seen", last.text("seen")) // whoever has seen nothing does not wait
	want(t, w.get("/v1/approvals?wait=300&seen=0000"), "seen", last.text("seen"))
}

// BEY-10
func TestTheOutcomeOfAQuestionIsWaitedFor(t *testing.T) {
	w := open(t, byLevels)
	for state, act := range map[string]func(session string, q answer){
		"approved": func(_ string, q answer) {
			w.post(approverToken, "/v1/approvals/"+q.text("tidemark.approval.id"), `{"decision":"approve"}`)
		},
		"denied": func(session string, q answer) { w.say(session, ".deny "+q.text("tidemark.approval.code")) },
		"dead": func(session string, _ answer) {
			for range 5 {
				w.say(session, ".approve exec 00000000")
			}
		},
		"moot": func(session string, _ answer) {
			w.post(adminToken, "/v1/sessions/"+session+"/reset-trust", "")
			w.before(session, "exec", command)
		},
	} {
		t.Run(state, func(t *testing.T) {
			q := held(w, state)
			out := make(chan answer, 1)
			go func() { out <- w.get("/v1/approvals/" + q.text("tidemark.approval.id") + "?wait=300") }()
			w.waiting(1)
			act(state, q)
			a := <-out
			want(t, a, "state", state)
			want(t, a, "code", nil)
			w.waiting(0)
		})
	}
}

func TestWaitsThatMeanNothingAreRefused(t *testing.T) {
	w := open(t, "")
	id := held(w, "s").text("tidemark.approval.id")
	for path, says := range map[string]string{
		"/v1/approvals?wait=-1":                         "query.wait",
		"/v1/approvals?wait=301":                        "query.wait",
		"/v1/approvals?wait=soon":                       "query.wait",
		"/v1/approvals?seen=" + strings.Repeat("0", 65): "query.seen",
		"/v1/approvals?state=granted":                   "query.state",
		"/v1/approvals/" + id + "?wait=3601":            "query.wait",
		"/v1/approvals/" + id + "?wait=-1":              "query.wait",
	} {
		wantProblem(t, w.get(path), http.StatusBadRequest, says)
	}
	wantProblem(t, w.get("/v1/approvals?session=nobody&wait=300"), http.StatusNotFound, "")
	wantProblem(t, w.get("/v1/approvals/ask-0?wait=300"), http.StatusNotFound, "no question")
	wantProblem(t, w.call(agentToken, http.MethodGet, "/v1/approvals/stream", ""), http.StatusForbidden, "approver")
	wantProblem(t, w.call("", http.MethodGet, "/v1/approvals/stream", ""), http.StatusUnauthorized, "")
}

// BEY-10
func TestApproveSimilarByHTTP(t *testing.T) {
	w := open(t, "")
	id := held(w, "s").text("tidemark.approval.id")
	done := w.post(approverToken, "/v1/approvals/"+id, `{"decision":"approve","minutes":5,"where":{"command":"rollout app*"}}`)
	if done.text("grant") == "" || !strings.Contains(done.text("notice"), `command="rollout app*"`) {
		t.Fatalf("got %s", done.raw)
	}
	grants := w.get("/v1/grants?session=s")
	if got := grants.list("grants"); len(got) != 1 || !strings.Contains(string(grants.raw), `"where":{"command":"rollout app*"}`) {
		t.Errorf("got %s, want the grant and its constraint", grants.raw)
	}
	for params, verdict := range map[string]string{
		`{"command":"rollout app"}`:                "allow",
		`{"command":"rollout app-all"}`:            "allow",
		`{"command":"rollout app; rm -rf /"}`:      "confirm",
		`{"command":"rollout app\nrm -rf /"}`:      "confirm",
		`{"command":"rollout other"}`:              "confirm",
		`{"command":["rollout app"]}`:              "confirm",
		`{"cmd":"rollout app"}`:                    "confirm",
		`{"command":{"command":"rollout app"}}`:    "confirm",
		`{"command":"rollout app -C ../../other"}`: "confirm",
	} {
		if got := w.before("s", "exec", params); got.text("tidemark.verdict") != verdict {
			t.Errorf("%s: got %s, want %s", params, got.text("tidemark.verdict"), verdict)
		}
	}
	want(t, w.before("s", "message", `{"command":"rollout app"}`), "tidemark.verdict", "confirm")
	want(t, w.before("s", "exec", command), "tidemark.spent", id) // the call itself, once
	want(t, w.before("s", "exec", command), "tidemark.verdict", "confirm")
	w.clock.advance(5 * time.Minute)
	want(t, w.before("s", "exec", `{"command":"rollout app"}`), "tidemark.verdict", "confirm")
}

// What is wrong with an answer is told, and nothing has changed.
//
// BEY-10
func TestAnswersThatAreWrongChangeNothing(t *testing.T) {
	w := open(t, "")
	q := held(w, "s")
	id := q.text("tidemark.approval.id")
	records := w.get("/v1/sessions/s").at("records")
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf(`"a%d":"x"`, i)
	}
	for name, body := range map[string]string{
		"constraints without minutes": `{"decision":"approve","where":{"command":"make *"}}`,
		"constraints of a denial":     `{"decision":"deny","minutes":5,"where":{"command":"make *"}}`,
		"two stars":                   `{"decision":"approve","minutes":5,"where":{"command":"**"}}`,
		"no name":                     `{"decision":"approve","minutes":5,"where":{"":"x"}}`,
		"a long pattern":              `{"decision":"approve","minutes":5,"where":{"command":"` + strings.Repeat("x", 1025) + `"}}`,
		"too many":                    `{"decision":"approve","minutes":5,"where":{` + strings.Join(many, ",") + `}}`,
		"a number for a pattern":      `{"decision":"approve","minutes":5,"where":{"n":5}}`,
		"a list of constraints":       `{"decision":"approve","minutes":5,"where":["command"]}`,
		"more than a day":             `{"decision":"approve","minutes":1441}`,
		"less than nothing":           `{"decision":"approve","minutes":-1}`,
		"another decision":            `{"decision":"allow"}`,
		"no decision":                 `{}`,
		"an unknown field":            `{"decision":"approve","forever":true}`,
		"a field twice":               `{"decision":"deny","decision":"approve"}`,
		"no JSON":                     `approve`,
	} {
		for range 2 {
			if a := w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, body); a.status != http.StatusBadRequest {
				t.Errorf("%s: got %d, want 400: %s", name, a.status, a.raw)
			}
		}
	}
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve","session":"other"}`), http.StatusConflict, "no longer open")
	want(t, w.get("/v1/approvals/"+id), "state", "pending")
	want(t, w.get("/v1/sessions/s"), "records", records)
	if got := w.get("/v1/grants").list("grants"); len(got) != 0 {
		t.Errorf("got %d grants, want none", len(got))
	}
	w.clock.advance(15 * time.Minute)
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve","minutes":5,"where":{"command":"make *"}}`), http.StatusConflict, "expired")
}
