package proxy_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/policy"
)

// mute is an auditor that cannot be reached.
type mute struct{}

func (mute) Audit(context.Context, string, intent.Question) (intent.Opinion, error) {
	return intent.Opinion{}, errors.New("nobody there")
}

func (mute) Plan(context.Context, string, intent.Task) (string, string, error) {
	return "", "", errors.New("nobody there")
}

// unaudited is a proxy whose policy lets calls run that the auditor could not judge.
func unaudited(t *testing.T, failMode string) *world {
	t.Helper()
	set, faults := policy.Parse("tidemark.yaml", []byte(rules+"caution: {failMode: "+failMode+", tools: {read_page: true}}\n"))
	if set == nil {
		t.Fatalf("policy: %v", faults)
	}
	f := notify.New(memory.New())
	m, err := engine.New(engine.Options{Policy: set, Store: f, Now: time.Now, Rand: rand.Reader, Auditor: mute{}})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, func(o *proxy.Options) {
		o.Monitor, o.Feed, o.Follower = m, f, conversation.New(m, conversation.Options{})
	})
}

// notices asks once and returns the answer, the header and the trailer, each joined.
func (w *world) notices(body string) (answer, header, trailer string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, w.url+"/openai/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+clientKey)
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(raw), strings.Join(resp.Header["X-Tidemark-Notice"], "|"), strings.Join(resp.Trailer["X-Tidemark-Notice"], "|")
}

// A call that nobody could audit is told to the client, and not a byte of the answer is
// changed for it. CAU-07
func TestACallThatNobodyAuditedIsToldBesideTheAnswer(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w := unaudited(t, "warn")
		said := w.afterPage()
		for range 2 {
			var want string
			if stream {
				events := chatCallEvents("call-a", "add", `{"a":1}`)
				w.provider.then(answerEvents(events...))
				want = strings.Join(events, "")
			} else {
				want = chatCall("call-a", "add", `{"a":1}`)
				w.provider.then(answerJSON(want))
			}
			answer, header, trailer := w.notices(chatRequest(stream, said...))
			if answer != want {
				t.Errorf("stream %v: got %s, want %s", stream, answer, want)
			}
			told, silent := header, trailer
			if stream {
				told, silent = trailer, header
			}
			if !strings.Contains(told, "add ran unaudited after read_page") || silent != "" {
				t.Errorf("stream %v: header %q, trailer %q, want the notice in one of them", stream, header, trailer)
			}
			if !strings.Contains(w.log.String(), "ran unaudited") {
				t.Error("the server's log says nothing of it")
			}
		}
	}
}

// CAU-07
func TestABlockedCallIsToldToo(t *testing.T) {
	w := unaudited(t, "block")
	said := w.afterPage()
	w.provider.then(answerJSON(chatCall("call-a", "add", `{"a":1}`)))
	answer, header, _ := w.notices(chatRequest(false, said...))
	if strings.Contains(answer, "call-a") || !strings.Contains(answer, "caution.failMode") || !strings.Contains(header, "blocked an action (add)") {
		t.Errorf("got %s with %q, want the rule and the notice", answer, header)
	}
}

func TestNobodyButUsSpeaksInOurName(t *testing.T) {
	w := open(t)
	spoken := func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Tidemark-Notice", "all is well")
		answerJSON(chatText("ok"))(rw, r)
	}
	w.provider.then(spoken, spoken)
	for _, g := range []got{
		w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi"))),
		w.do(http.MethodGet, "/openai/v1/models", "", "Authorization", "Bearer "+clientKey),
	} {
		if n := g.header["X-Tidemark-Notice"]; g.status != http.StatusOK || n != nil {
			t.Errorf("got %d with %q, want no notice", g.status, n)
		}
	}
}
