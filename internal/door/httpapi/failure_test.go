package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/hook"
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
