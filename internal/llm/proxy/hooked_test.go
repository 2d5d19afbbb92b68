package proxy_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/trust"
)

// WAR-10: an upstream that wants hooks answers an agent only where its own hooks report the session.
func TestAnUpstreamThatWantsHooksAnswersOnlyASessionTheyReport(t *testing.T) {
	var late atomic.Int64
	w := open(t, func(o *proxy.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
		o.Upstreams = append(o.Upstreams, proxy.Upstream{Name: "hooked", API: "openai", BaseURL: o.Upstreams[0].BaseURL, Hooks: true})
	})
	said := "Go on."
	for _, session := range []string{"claude:s-1", "codex:s-1"} {
		turn := engine.Turn{Ref: engine.Ref{Session: session}, Sender: trust.Sender{Provider: "claude", IsOwner: true}, Message: &said}
		if _, err := w.monitor.Begin(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
	}
	claude := func(session string) []string {
		return []string{"User-Agent", "claude-cli/2.1.325", "X-Claude-Code-Session-Id", session}
	}
	tests := map[string]struct {
		header []string
		late   time.Duration
		why    string // "" is answered
	}{
		"reported":                 {header: claude("s-1")},
		"its sub-agent":            {header: []string{"User-Agent", "codex_exec/0.166", "Thread-Id", "t-7", "Session-Id", "s-1"}},
		"reported a while ago":     {header: claude("s-1"), late: 14 * time.Minute},
		"reported long ago":        {header: claude("s-1"), late: 16 * time.Minute, why: "the hooks of claude have reported nothing of this session"},
		"never reported":           {header: claude("s-2"), why: `\"tidemark doctor claude\" says which`},
		"another agent's session":  {header: []string{"User-Agent", "opencode/1.18", "X-Opencode-Session", "s-1"}, why: "the hooks of opencode"},
		"an agent that names none": {header: []string{"User-Agent", "GeminiCLI/0.61"}, why: "names no session"},
		"a program nobody knows":   {header: []string{"X-Claude-Code-Session-Id", "s-1"}, why: "names no session"},
		"our own header alone":     {header: []string{"User-Agent", "claude-cli/2", "X-Tidemark-Session", "claude:s-1", "X-Tidemark-Token", agentToken}, why: "names no session"},
		"a name that is too long":  {header: claude(strings.Repeat("s", 257)), why: "names no session"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			late.Store(int64(tt.late))
			before := len(w.provider.requests())
			if tt.why == "" {
				w.provider.then(answerJSON(chatText("ok")))
			}
			for _, path := range []string{"/llm/hooked/v1/chat/completions", "/llm/hooked/v1/embeddings"} {
				if tt.why == "" && strings.HasSuffix(path, "embeddings") {
					continue
				}
				g := w.do(http.MethodPost, path, chatRequest(false, user("Hi")), tt.header...)
				if ok := g.status == http.StatusOK; ok != (tt.why == "") || !ok && (g.status != http.StatusForbidden || !strings.Contains(g.body, tt.why)) {
					t.Errorf("%s: got %d %s, want the reason %q", path, g.status, g.body, tt.why)
				}
			}
			if asked := len(w.provider.requests()) > before; asked != (tt.why == "") {
				t.Errorf("the provider was asked: %v", asked)
			}
		})
	}
}
