package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/httpapi"
)

// An agent may ask what became of its own question, by the ticket it was given, and learns nothing
// that an answer is given with.
func TestAnAgentReadsItsOwnQuestionByItsTicket(t *testing.T) {
	w := open(t, byLevels)
	w.alone = true
	first := held(w, "s")
	ticket := first.text("tidemark.approval.ticket")
	w.alone = false
	id := w.before("s", "exec", command).text("tidemark.approval.id")
	w.alone = true
	if strings.Contains(string(first.raw), id) || first.at("tidemark.approval.id") != nil {
		t.Errorf("the host was told the id: %s", first.raw)
	}
	own := func(name, query string) answer {
		return w.call(agentToken, http.MethodGet, "/v1/approvals/"+name+query, "")
	}
	a := own(ticket, "")
	want(t, a, "state", "pending")
	want(t, a, "id", ticket)
	if strings.Contains(string(a.raw), id) || a.at("code") != nil {
		t.Errorf("the question tells its id or code: %s", a.raw)
	}
	wantProblem(t, own(id, ""), http.StatusNotFound, "no question")
	wantProblem(t, own("t-"+strings.Repeat("0", 32), ""), http.StatusNotFound, "no question")
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/approvals/"+ticket, `{"decision":"approve"}`), http.StatusForbidden, "role")
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/approvals/"+ticket, `{"decision":"approve"}`), http.StatusNotFound, "no question")

	got := make(chan answer, 1)
	go func() { got <- own(ticket, "?wait=300") }()
	w.post(approverToken, "/v1/approvals/"+id, `{"decision":"deny","reason":"not today"}`)
	end := <-got
	want(t, end, "state", "denied")
	want(t, end, "note", "not today")
	want(t, end, "by", nil)
}

// Whoever waits by a ticket is somebody who waits; once they have gone the queue says so.
func TestAQuestionIsAbandonedOnceNobodyWaitsByItsTicket(t *testing.T) {
	w := open(t, byLevels)
	q := held(w, "s")
	id := q.text("tidemark.approval.id")
	want(t, w.get("/v1/approvals/"+id), "abandoned", nil)
	w.call(agentToken, http.MethodGet, "/v1/approvals/"+q.text("tidemark.approval.ticket")+"?wait=1", "")
	want(t, w.get("/v1/approvals/"+id), "abandoned", true)
}

func TestTheServerSaysWhichAPIItSpeaks(t *testing.T) {
	w := open(t, "", func(o *httpapi.Options) { o.Version = "7.8.9" })
	a := w.call(agentToken, http.MethodGet, "/v1/version", "")
	want(t, a, "version", "7.8.9")
	doc := w.call("", http.MethodGet, "/openapi.json", "")
	want(t, a, "api", doc.text("info.version"))
	want(t, doc, "info.x-program-version", "7.8.9")
}

// PRV-20
func TestTheShippedPolicyEndsNoLongTurn(t *testing.T) {
	w := open(t, "")
	w.say("s", "Read my forty mails, one by one.")
	for i := range 40 {
		want(t, w.llm("s", i, threeTools), "block", nil)
		want(t, w.before("s", "read", fmt.Sprintf(`{"path":"mail/%d.txt"}`, i)), "block", nil)
	}
}

// What the document says of before_tool_call: bytes count, so clients write arguments one way.
func TestAnApprovalIsForTheBytesOfTheArguments(t *testing.T) {
	if doc := open(t, "").call("", http.MethodGet, "/openapi.json", ""); !strings.Contains(string(doc.raw), "is for the bytes of params") {
		t.Error("the document does not say so")
	}
	for name, c := range map[string]struct {
		params string
		runs   bool
	}{
		"the same bytes":               {`{"command":"make 1","n":1}`, true},
		"keys in another order":        {`{"n":1,"command":"make 1"}`, false},
		"a number in another spelling": {`{"command":"make 1","n":1.0}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, byLevels)
			held(w, "s")
			q := w.before("s", "exec", `{"command":"make 1","n":1}`)
			w.post(approverToken, "/v1/approvals/"+q.text("tidemark.approval.id"), `{"decision":"approve"}`)
			if got := w.before("s", "exec", c.params).at("block") == nil; got != c.runs {
				t.Errorf("it runs: %t, want %t", got, c.runs)
			}
		})
	}
}
