package httpapi_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// SEQ-09
func TestStoreThatFailsTwiceAndComesBack(t *testing.T) {
	w := open(t, "")
	w.say("s", "Hello.")
	for range 2 {
		w.store.failing.Store(1)
		a := w.hook(hook.NameBeforeToolCall, `{"toolName":"read","params":{}}`, owner("s"))
		wantProblem(t, a, http.StatusServiceUnavailable, "nothing was decided")
		want(t, a, "block", true)
		if a.text("blockReason") == "" || a.header.Get("Retry-After") == "" || a.text("instance") == "" {
			t.Errorf("no reason, Retry-After or instance: %s", a.raw)
		}
		if strings.Contains(string(a.raw), "secret inside") {
			t.Errorf("the inside went out: %s", a.raw)
		}
		if !strings.Contains(w.log.String(), a.text("instance")) || !strings.Contains(w.log.String(), "secret inside") {
			t.Errorf("the log does not say what happened as %s", a.text("instance"))
		}
	}
	want(t, w.before("s", "read", `{}`), "tidemark.verdict", "allow")
	if got := string(w.get("/metrics").raw); !strings.Contains(got, "tidemark_store_errors_total 2") {
		t.Errorf("metrics do not count two store errors:\n%s", got)
	}
	if a := w.get("/v1/audit/verify"); a.at("ok") != true {
		t.Errorf("the log does not verify: %s", a.raw)
	}
}

func TestEveryHookThatRecordsRefusesWithoutAStore(t *testing.T) {
	events := map[hook.Name]struct{ event, closes string }{
		hook.NameMessageReceived:    {`{"from":"u1","content":"Hello."}`, ""},
		hook.NameBeforeAgentStart:   {`{"prompt":"","messages":[]}`, ""},
		hook.NameContextAssembled:   {`{"messages":[],"sources":[]}`, ""},
		hook.NameLoopIterationStart: {`{"iteration":0}`, ""},
		hook.NameBeforeLLMCall:      {`{"messages":[],"tools":["read"]}`, "block"},
		hook.NameAfterLLMCall:       {`{"toolCalls":[]}`, "block"},
		hook.NameBeforeToolCall:     {`{"toolName":"read"}`, "block"},
		hook.NameAfterToolCall:      {`{"toolName":"read","result":1}`, ""},
		hook.NameToolResultPersist:  {`{"toolName":"read","message":{}}`, ""},
		hook.NameLoopIterationEnd:   {`{"iteration":0}`, ""},
		hook.NameBeforeResponseEmit: {`{"content":"Hi."}`, "block"},
		hook.NameMessageSending:     {`{"to":"u1","content":"Hi."}`, "cancel"},
		hook.NameAgentEnd:           {`{"messages":[]}`, ""},
	}
	w := open(t, "")
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range hook.Names() {
		c, ok := events[name]
		if !ok {
			t.Fatalf("%s is not tested", name)
		}
		a := w.hook(name, c.event, owner("s"))
		wantProblem(t, a, http.StatusServiceUnavailable, "")
		if c.closes != "" {
			want(t, a, c.closes, true)
		}
	}
	wantProblem(t, w.get("/readyz"), http.StatusServiceUnavailable, "log")
	for _, path := range []string{"/v1/sessions", "/v1/sessions/s", "/v1/audit", "/v1/audit/head", "/v1/audit/verify", "/v1/events", "/v1/grants", "/v1/writes", "/v1/sessions/s/turns"} {
		wantProblem(t, w.get(path), http.StatusServiceUnavailable, "")
	}
	if a := w.get("/healthz"); a.status != http.StatusOK {
		t.Errorf("alive without a store: got %d, want 200", a.status)
	}
}

func TestPanicIsContained(t *testing.T) {
	w := open(t, "")
	w.store.panicking.Store(true)
	a := w.hook(hook.NameBeforeToolCall, `{"toolName":"read"}`, owner("s"))
	wantProblem(t, a, http.StatusInternalServerError, "server's log")
	want(t, a, "block", true)
	if strings.Contains(string(a.raw), "secret inside") {
		t.Errorf("the inside went out: %s", a.raw)
	}
	if !strings.Contains(w.log.String(), "secret inside") || !strings.Contains(w.log.String(), a.text("instance")) {
		t.Errorf("the log does not say what happened")
	}
	w.store.panicking.Store(false)
	want(t, w.before("other", "read", `{}`), "tidemark.verdict", "allow")
}

func TestSessionThatSomebodyElseKeepsMoving(t *testing.T) {
	w := open(t, "")
	w.say("s", "Hello.")
	w.store.moved.Store(true)
	a := w.hook(hook.NameBeforeToolCall, `{"toolName":"read"}`, owner("s"))
	wantProblem(t, a, http.StatusConflict, "try again")
	want(t, a, "block", true)
}

// A session whose log cannot be read refuses its calls and hides no other.
func TestSessionThatCannotBeRead(t *testing.T) {
	w := open(t, "")
	w.say("good", "Hello.")
	if err := w.store.Store.Append(t.Context(), "bad", 0, []*event.Event{{Kind: "nonsense"}}); err != nil {
		t.Fatal(err)
	}
	a := w.hook(hook.NameBeforeToolCall, `{"toolName":"read"}`, owner("bad"))
	wantProblem(t, a, http.StatusServiceUnavailable, "nothing was decided")
	want(t, a, "block", true)
	wantProblem(t, w.get("/v1/sessions/bad"), http.StatusServiceUnavailable, "")
	rows := w.get("/v1/sessions").list("sessions")
	bad, _ := rows[0].(map[string]any)
	good, _ := rows[1].(map[string]any)
	if bad["unreadable"] != true || bad["taint"] != "untrusted" || good["unreadable"] != nil || good["taint"] != "owner" {
		t.Errorf("got %v and %v, want one unreadable and one not", bad, good)
	}
	for _, path := range []string{"/v1/grants", "/v1/writes"} {
		if a := w.get(path); a.status != http.StatusOK {
			t.Errorf("%s: got status %d: %s", path, a.status, a.raw)
		}
	}
}

// strange is a log with an error nobody foresaw.
type strange struct{ *faulty }

func (strange) Head(context.Context) (store.Head, error) {
	return store.Head{}, errors.New("strange: secret inside")
}

func TestUnforeseenErrorShowsNothing(t *testing.T) {
	w := open(t, "", func(o *httpapi.Options) { o.Log = strange{o.Log.(*faulty)} })
	for _, path := range []string{"/v1/audit/head", "/v1/events"} {
		a := w.get(path)
		wantProblem(t, a, http.StatusInternalServerError, "server's log")
		if strings.Contains(string(a.raw), "strange") || !strings.Contains(w.log.String(), a.text("instance")) {
			t.Errorf("%s: the inside went out, or the log does not know %s", path, a.text("instance"))
		}
	}
}

// tampered is a log in which somebody wrote over a body.
type tampered struct{ *faulty }

func (l tampered) Since(context.Context, store.EntryQuery) ([]store.Entry, error) {
	return []store.Entry{{ID: 1, Record: audit.Record{Session: "s", Seq: 1, Kind: "turn.began", Body: []byte("{\"a\":1,\"a\":\xff")}}}, nil
}

// BEY-12
func TestTamperedRecordIsShownAsText(t *testing.T) {
	w := open(t, "", func(o *httpapi.Options) { o.Log = tampered{o.Log.(*faulty)} })
	record, _ := w.get("/v1/audit").list("records")[0].(map[string]any)
	if record["body"] != "{\"a\":1,\"a\":\ufffd" {
		t.Errorf("got body %v, want its text", record["body"])
	}
}

// SEQ-09
func TestTaintAndQuestionsSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	start := func() *world {
		log, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
		w := open(t, "", func(o *httpapi.Options) {
			f := notify.New(log)
			monitor, err := engine.New(engine.Options{Policy: o.Monitor.Policy(), Store: f, Now: newClock().Now, Rand: rand.Reader})
			if err != nil {
				t.Fatal(err)
			}
			o.Monitor, o.Log, o.Feed = monitor, log, f
		})
		w.stop = log.Close
		return w
	}
	w := start()
	id := held(w, "s").text("tidemark.approval.id")
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	wantProblem(t, w.hook(hook.NameBeforeToolCall, `{"toolName":"read"}`, owner("s")), http.StatusServiceUnavailable, "")

	w = start()
	want(t, w.get("/v1/sessions/s"), "taint.level", "untrusted")
	a := w.before("s", "message", `{"action":"send","to":"eve@example.net"}`)
	want(t, a, "tidemark.taint", "untrusted")
	want(t, a, "block", true)
	done := w.call(approverToken, http.MethodPost, "/v1/approvals/"+id, `{"decision":"approve"}`)
	if done.status != http.StatusOK {
		t.Fatalf("approve after the restart: got %d %s", done.status, done.raw)
	}
	want(t, w.before("s", "exec", command), "tidemark.spent", id)
	want(t, w.get("/v1/audit/verify"), "ok", true)
}
