package remotehook_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/external/remotehook"
)

// proxied counts the requests that went to the proxy of the environment. It is set
// for all tests: net/http reads that part of the environment only once.
var proxied atomic.Int32

func TestMain(m *testing.M) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		proxied.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		if err := os.Setenv(name, proxy.URL); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

const secret = "a secret of the test"

// start runs an endpoint and the plugin that talks to it; change adapts the options.
func start(t *testing.T, endpoint http.HandlerFunc, change func(*remotehook.Options)) (*remotehook.Plugin, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(endpoint)
	t.Cleanup(server.Close)
	o := remotehook.Options{Name: "remote", URL: server.URL + "/hooks?token=t0p", Hooks: hook.Names(), Secret: []byte(secret), FailOpen: true}
	if change != nil {
		change(&o)
	}
	p, err := remotehook.New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(p.Close)
	return p, server
}

func busWith(t *testing.T, p *remotehook.Plugin) (*hook.Bus, *[]hook.Fault) {
	t.Helper()
	faults := &[]hook.Fault{}
	b := hook.New(hook.Options{
		Limit: 10 * time.Second, Logger: slog.New(slog.DiscardHandler),
		OnFault: func(f hook.Fault) { *faults = append(*faults, f) },
	})
	if err := b.Register(p.Handler()); err != nil {
		t.Fatalf("Register: %v", err)
	}
	return b, faults
}

func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// An endpoint gets the JSON a Go handler would see, signed, and its answer counts the
// same.
//
// HOOK-10
func TestTheEndpointIsAskedAndAnswered(t *testing.T) {
	at := time.Unix(1767225600, 0)
	p, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read body: %v", err)
		}
		if err := hook.VerifySignature([]byte(secret), r.Header.Get, body, at, 0); err != nil {
			t.Errorf("VerifySignature: %v", err)
		}
		if r.Method != http.MethodPost || r.URL.String() != "/hooks?token=t0p" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Team") != "blue" {
			t.Errorf("request = %s %s %v", r.Method, r.URL, r.Header)
		}
		if got := r.Header.Get("X-Tidemark-Hook"); got != "before_llm_call" {
			t.Errorf("X-Tidemark-Hook = %q, want before_llm_call", got)
		}
		env, err := hook.Decode("", body)
		if err != nil {
			t.Errorf("Decode: %v", err)
			return
		}
		if e, ok := env.Event.(*hook.BeforeLLMCall); !ok || e.SystemPrompt != "s" || env.Ctx.SessionKey != "k" {
			t.Errorf("envelope = %+v", env)
		}
		answer(200, "application/json; charset=utf-8", `{"tools":[{"name":"read"},{"name":"sudo"}],"systemPrompt":"careful"}`)(w, r)
	}, func(o *remotehook.Options) {
		o.Now = func() time.Time { return at }
		o.Header = map[string]string{"X-Team": "blue"}
	})
	b, faults := busWith(t, p)
	got := b.BeforeLLMCall(t.Context(), &hook.BeforeLLMCall{
		SystemPrompt: "s", SessionKey: "k", Tools: []hook.Tool{hook.ToolNamed("exec"), hook.ToolNamed("read")},
	}, &hook.Context{SessionKey: "k"})
	careful := "careful"
	want := hook.BeforeLLMCallResult{Tools: []hook.Tool{hook.ToolNamed("read")}, SystemPrompt: &careful}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if len(*faults) != 1 {
		t.Errorf("faults = %v, want the one tool that would have widened", *faults)
	}
}

// dispatch runs one hook and says whether it was refused or has an error.
func dispatch(ctx context.Context, b *hook.Bus, n hook.Name) (refused bool) {
	c := &hook.Context{SessionKey: "k"}
	var err error
	switch n {
	case hook.NameMessageReceived:
		err = b.MessageReceived(ctx, &hook.MessageReceived{}, c)
	case hook.NameBeforeAgentStart:
		_, err = b.BeforeAgentStart(ctx, &hook.BeforeAgentStart{}, c)
	case hook.NameContextAssembled:
		err = b.ContextAssembled(ctx, &hook.ContextAssembled{}, c)
	case hook.NameLoopIterationStart:
		err = b.LoopIterationStart(ctx, &hook.LoopIterationStart{}, c)
	case hook.NameBeforeLLMCall:
		return b.BeforeLLMCall(ctx, &hook.BeforeLLMCall{}, c).Block
	case hook.NameAfterLLMCall:
		return b.AfterLLMCall(ctx, &hook.AfterLLMCall{}, c).Block
	case hook.NameBeforeToolCall:
		return b.BeforeToolCall(ctx, &hook.BeforeToolCall{ToolName: "exec", Params: strictjson.Value(`{}`)}, c).Block
	case hook.NameAfterToolCall:
		err = b.AfterToolCall(ctx, &hook.AfterToolCall{ToolName: "exec"}, c)
	case hook.NameToolResultPersist:
		_, err = b.ToolResultPersist(ctx, &hook.ToolResultPersist{Message: strictjson.Value(`{}`)}, c)
	case hook.NameLoopIterationEnd:
		err = b.LoopIterationEnd(ctx, &hook.LoopIterationEnd{}, c)
	case hook.NameBeforeResponseEmit:
		return b.BeforeResponseEmit(ctx, &hook.BeforeResponseEmit{}, c).Block
	case hook.NameMessageSending:
		return b.MessageSending(ctx, &hook.MessageSending{}, c).Cancel
	case hook.NameAgentEnd:
		err = b.AgentEnd(ctx, &hook.AgentEnd{}, c)
	}
	return err != nil
}

// HOOK-10
func TestEveryHookReachesTheEndpoint(t *testing.T) {
	var asked []hook.Name
	p, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		env, err := hook.Decode(hook.Name(r.Header.Get(hook.HeaderHook)), body)
		if err != nil {
			t.Errorf("Decode: %v", err)
			return
		}
		asked = append(asked, env.Event.Hook())
		w.WriteHeader(http.StatusNoContent)
	}, func(o *remotehook.Options) { o.FailOpen = false })
	b, faults := busWith(t, p)
	for _, n := range hook.Names() {
		if dispatch(t.Context(), b, n) {
			t.Errorf("%s was refused, want 204 to be no change", n)
		}
	}
	if diff := cmp.Diff(hook.Names(), asked); diff != "" || len(*faults) > 0 {
		t.Errorf("asked (-want +got), faults %v:\n%s", *faults, diff)
	}
}

// Whatever goes wrong, a security plugin's hook is closed and an observer's is not; the
// second time is like the first.
//
// HOOK-08 HOOK-10
func TestWhatIsNoAnswerFailsAsRegistered(t *testing.T) {
	const json = "application/json"
	broken := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"block":`)
	}
	tests := map[string]struct {
		endpoint http.HandlerFunc
		want     string // in the fault
	}{
		"a server error":              {answer(500, json, `{}`), "status 500"},
		"a refusal":                   {answer(401, json, `{}`), "status 401"},
		"accepted for later":          {answer(202, json, `{}`), "status 202"},
		"a huge error":                {answer(500, json, strings.Repeat("x", 3<<20)), "status 500"},
		"a huge answer":               {answer(200, json, `{"blockReason":"`+strings.Repeat("x", remotehook.MaxAnswer)+`"}`), "more than 1048576 bytes"},
		"another content type":        {answer(200, "text/html", `{}`), "content type is not JSON"},
		"a garbled content type":      {answer(200, "application/json; charset", `{}`), "content type is not JSON"},
		"an empty answer":             {answer(200, json, ``), "want an object"},
		"null":                        {answer(200, json, `null`), "want an object"},
		"half an object":              {answer(200, json, `{"block":`), "decode result"},
		"a connection cut in between": {broken, "unexpected EOF"},
		"a field nobody knows":        {answer(200, json, `{"blok":true}`), "decode result"},
		"a key that comes twice":      {answer(200, json, `{"block":true,"block":false}`), "decode result"},
		"nesting without end":         {answer(200, json, `{"messages":`+strings.Repeat("[", 10000)), "nested too deeply"},
		"a compressed answer": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			answer(200, json, "\x1f\x8b\x08")(w, r)
		}, "want an object"},
		"a dropped connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	}
	for name, tt := range tests {
		for _, failClosed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				p, _ := start(t, tt.endpoint, func(o *remotehook.Options) { o.FailOpen = !failClosed })
				b, faults := busWith(t, p)
				for range 2 {
					*faults = nil
					got := b.BeforeLLMCall(t.Context(), &hook.BeforeLLMCall{}, &hook.Context{SessionKey: "k"})
					if got.Block != failClosed {
						t.Errorf("block = %v, want %v", got.Block, failClosed)
					}
					if len(*faults) != 1 || !strings.Contains((*faults)[0].Err.Error(), tt.want) {
						t.Errorf("faults = %v, want one with %q", *faults, tt.want)
					}
					if strings.Contains(got.BlockReason, tt.want) {
						t.Errorf("reason %q repeats the fault", got.BlockReason)
					}
				}
			})
		}
	}
}

// A hook that only tells cares for the status alone.
//
// HOOK-10
func TestObservingHooksNeedNoResult(t *testing.T) {
	for status, wantErr := range map[int]bool{200: false, 204: false, 500: true} {
		p, _ := start(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(status)
		}, func(o *remotehook.Options) { o.FailOpen = false })
		b, _ := busWith(t, p)
		if err := b.AgentEnd(t.Context(), &hook.AgentEnd{}, nil); (err != nil) != wantErr {
			t.Errorf("status %d: AgentEnd = %v, want an error: %v", status, err, wantErr)
		}
	}
}

// HOOK-08 HOOK-10
func TestADeadEndpointFailsAsRegistered(t *testing.T) {
	for _, failClosed := range []bool{true, false} {
		p, server := start(t, answer(204, "", ""), func(o *remotehook.Options) { o.FailOpen = !failClosed })
		server.Close()
		b, faults := busWith(t, p)
		for _, n := range hook.Names() {
			*faults = nil
			if got := dispatch(t.Context(), b, n); got != failClosed || len(*faults) != 1 {
				t.Errorf("%s: refused = %v, faults %v, want refused: %v", n, got, *faults, failClosed)
			}
		}
	}
}

// HOOK-08 HOOK-10
func TestASlowEndpointIsCutOff(t *testing.T) {
	release := make(chan struct{})
	p, server := start(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}, func(o *remotehook.Options) { o.FailOpen, o.Limit = false, 20*time.Millisecond })
	b, faults := busWith(t, p)
	for range 2 {
		if got := b.BeforeLLMCall(t.Context(), &hook.BeforeLLMCall{}, nil); !got.Block || !strings.Contains(got.BlockReason, `plugin "remote"`) {
			t.Errorf("result = %+v, want a block that names the plugin", got)
		}
	}
	if len(*faults) != 2 {
		t.Errorf("faults = %v, want two", *faults)
	}
	close(release)
	server.Close()
}

// HOOK-10
func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var hits atomic.Int32
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits.Add(1)
			answer(200, "application/json", `{}`)(w, r)
		}))
		p, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, status)
		}, func(o *remotehook.Options) { o.FailOpen = false })
		b, _ := busWith(t, p)
		got := b.BeforeLLMCall(t.Context(), &hook.BeforeLLMCall{}, nil)
		if !got.Block || hits.Load() != 0 {
			t.Errorf("status %d: block = %v after %d requests to the other host, want a block and none", status, got.Block, hits.Load())
		}
		other.Close()
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	var mu sync.Mutex
	peers := map[string]bool{}
	status := atomic.Int32{}
	p, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		peers[r.RemoteAddr] = true
		answer(int(status.Load()), "application/json", map[bool]string{true: `{}`}[status.Load() != 204])(w, r)
	}, nil)
	b, _ := busWith(t, p)
	for _, s := range []int32{200, 204, 500, 200, 302} {
		status.Store(s)
		b.BeforeLLMCall(t.Context(), &hook.BeforeLLMCall{}, nil)
	}
	if len(peers) != 1 {
		t.Errorf("%d connections, want one", len(peers))
	}
}

func TestNoProxyIsTakenFromTheEnvironment(t *testing.T) {
	p, _ := start(t, answer(204, "", ""), func(o *remotehook.Options) {
		o.URL, o.PlainHTTP, o.FailOpen, o.Limit = "http://192.0.2.1:9/", true, false, 50*time.Millisecond // an address that leads nowhere
	})
	b, _ := busWith(t, p)
	if got := b.BeforeLLMCall(t.Context(), &hook.BeforeLLMCall{}, nil); !got.Block || proxied.Load() != 0 {
		t.Errorf("block = %v after %d requests to the proxy, want a block and none", got.Block, proxied.Load())
	}
}

// Errors are logged: they must not hold what is in the URL's query.
func TestErrorsDoNotRepeatTheURL(t *testing.T) {
	p, server := start(t, answer(204, "", ""), nil)
	server.Close()
	b, faults := busWith(t, p)
	b.BeforeLLMCall(t.Context(), &hook.BeforeLLMCall{}, nil)
	if len(*faults) != 1 || strings.Contains((*faults)[0].Err.Error(), "t0p") {
		t.Errorf("faults = %v, want one without the token", *faults)
	}
}

// An event that cannot be written is not sent in part.
func TestAnEventThatCannotBeWrittenIsAnError(t *testing.T) {
	var hits atomic.Int32
	p, _ := start(t, func(w http.ResponseWriter, _ *http.Request) { hits.Add(1); w.WriteHeader(204) }, func(o *remotehook.Options) { o.FailOpen = false })
	b, _ := busWith(t, p)
	got := b.BeforeToolCall(t.Context(), &hook.BeforeToolCall{ToolName: "x", Params: strictjson.Value(`{"a":`)}, nil)
	if !got.Block || hits.Load() != 0 {
		t.Errorf("block = %v after %d requests, want a block and none", got.Block, hits.Load())
	}
}
