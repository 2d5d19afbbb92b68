package relay_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/relay"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

const ownUp = "trustRules:\n  - {name: mine, tools: [\"up__*\"], trust: local}\n"

// call posts one and can be given up.
func (g *gateway) call(ctx context.Context, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+"/mcp/up", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header = http.Header{
		"Authorization": {"Bearer " + mcptest.Token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	return string(raw), err
}

// An upstream that sends an answer byte by byte, or none at all, keeps nobody waiting but who asked it, and hears when
// that one gives up.
// MCP-34, MCP-22
func TestASlowUpstreamKeepsNobodyElseWaiting(t *testing.T) {
	for name, first := range map[string]string{
		"nothing comes": "", "a few bytes of JSON": `{"json`, "a few bytes of a stream": "data: {\"json",
	} {
		t.Run(name, func(t *testing.T) {
			begun, left := make(chan struct{}, 1), make(chan struct{}, 1)
			u := newUpstream(t, func(w http.ResponseWriter, r *http.Request, body string) {
				if !strings.Contains(body, `"slow"`) {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				if strings.HasPrefix(first, "data:") {
					w.Header().Set("Content-Type", "text/event-stream")
				}
				control := http.NewResponseController(w)
				for _, b := range []byte(first) { // whoever sends a byte a second sends them no slower than never
					_, _ = w.Write([]byte{b})
					_ = control.Flush()
				}
				begun <- struct{}{}
				<-r.Context().Done()
				left <- struct{}{}
			})
			g := newGateway(t, ownUp, map[string]string{"up": u.URL})
			ctx, giveUp := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := g.call(ctx, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
				ended <- err
			}()
			<-begun
			for range 3 {
				if got, err := g.call(t.Context(), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"quick"}}`); err != nil || !strings.Contains(got, `"id":2`) {
					t.Errorf("another call: got %q, %v", got, err)
				}
			}
			giveUp()
			<-left
			if err := <-ended; err == nil {
				t.Error("the client that gave up was answered")
			}
		})
	}
}

// A client that is gone while its call is held is not there for the answer: the call never runs, and nobody is asked
// any longer.
// MCP-22
func TestACallOfAClientThatIsGoneDoesNotRun(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	})
	g := newGateway(t, "rules:\n  - {name: mine, tools: [up__send], effect: ask}\n", map[string]string{"up": u.URL}, patientFor(time.Hour))
	for _, token := range []string{"", `,"_meta":{"progressToken":"p"}`} {
		ctx, giveUp := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := g.call(ctx, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send"`+token+`}}`)
			ended <- err
		}()
		g.world.Asked()
		giveUp()
		<-ended
		g.world.Eventually("the question is withdrawn", func() bool {
			list, err := g.world.Monitor.Questions(t.Context())
			return err == nil && len(list) == 0
		})
	}
	if n := u.count(); n != 0 {
		t.Errorf("%d calls reached the server", n)
	}
}

func patientFor(d time.Duration) change { return func(o *relay.Options) { o.Patience = d } }
