package app_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/internal/services"
	"github.com/tidemark/tidemark/internal/test/audittest"
	"github.com/tidemark/tidemark/internal/test/telegramtest"
)

const hookSecret = "a secret of the webhook's own"

// endpoint is a webhook that checks every signature and keeps what it was sent.
type endpoint struct {
	*httptest.Server

	mu     sync.Mutex
	status int             // guarded by mu; 0 is 200
	body   string          // guarded by mu
	hold   <-chan struct{} // guarded by mu; answers wait for it, if it is there
	got    []string        // guarded by mu
	heard  chan struct{}   // has one more for each of got
}

func newEndpoint(t *testing.T, body string) *endpoint {
	t.Helper()
	t.Setenv("E2E_VERIFIER_SECRET", hookSecret)
	t.Setenv("E2E_VERIFIER_KEY", "key-of-the-header")
	e := &endpoint{body: body, heard: make(chan struct{}, 100)}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

// says changes the answer.
func (e *endpoint) says(status int, body string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status, e.body = status, body
}

// holds makes answers wait.
func (e *endpoint) holds(until <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hold = until
}

func (e *endpoint) received() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.got...)
}

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	sum := hmac.New(sha256.New, []byte(hookSecret))
	sum.Write(body)
	signed := hmac.Equal([]byte(hex.EncodeToString(sum.Sum(nil))), []byte(r.Header.Get("X-OpenClaw-Signature"))) &&
		hook.VerifySignature([]byte(hookSecret), r.Header.Get, body, time.Now(), time.Minute) == nil
	if err != nil || !signed || r.Header.Get("X-Key") != "Bearer key-of-the-header" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	e.mu.Lock()
	e.got = append(e.got, string(body))
	status, text, hold := max(e.status, http.StatusOK), e.body, e.hold
	e.mu.Unlock()
	e.heard <- struct{}{}
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	if status >= 300 && status < 400 {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// verified is a policy whose verifier is asked about exec and write.
func verified(e *endpoint, more string) string {
	return fmt.Sprintf(`verifier:
  enabled: true
  scope: {include: [exec, write]}
  webhook: {url: '%s/verify', timeout: 60, secret: '${E2E_VERIFIER_SECRET}', headers: {X-Key: 'Bearer ${E2E_VERIFIER_KEY}'}}
%s`, e.URL, more)
}

// VER-02 VER-04 VER-09 VER-14
func TestTheWebhookIsAskedAboutTheCallWithoutItsSecrets(t *testing.T) {
	e := newEndpoint(t, `{"decision":"allow","reason":"in hours"}`)
	s := serve(t, t.TempDir(), verified(e, "redaction: {fields: [{tools: [exec], fields: [note]}]}\n"))
	c := hook.Context{SessionKey: "s", AgentID: "main", MessageProvider: "chat", SenderID: "1", SenderIsOwner: true}
	s.hook(hook.NameMessageReceived, hook.MessageReceived{Content: "Write it down"}, c)
	key := "sk-" + "abcdefghijklmnopqrstuvwx"
	s.want("allow", "s", "write", `{"path":"a.txt","content":"0123456789"}`)
	s.want("allow", "s", "exec", `{"command":"curl -H 'Authorization: Bearer `+key+`' x","note":"between us"}`)
	got := e.received()
	if len(got) != 2 {
		t.Fatalf("asked %d times, want 2", len(got))
	}
	var body struct {
		Version   int       `json:"version"`
		Timestamp time.Time `json:"timestamp"`
		RequestID string    `json:"requestId"`
		Tool      struct {
			Name   string            `json:"name"`
			Params map[string]string `json:"params"`
		} `json:"tool"`
		Context struct {
			Agent    string `json:"agentId"`
			Session  string `json:"sessionKey"`
			Provider string `json:"messageProvider"`
		} `json:"context"`
	}
	if err := strictjson.Unmarshal([]byte(got[0]), &body); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(body.RequestID) || body.Version != 1 || time.Since(body.Timestamp) > time.Minute {
		t.Errorf("got version %d, time %v, id %q", body.Version, body.Timestamp, body.RequestID)
	}
	if body.Tool.Name != "write" || body.Tool.Params["content"] != "[REDACTED: 10 chars]" || body.Tool.Params["path"] != "a.txt" {
		t.Errorf("got tool %+v", body.Tool)
	}
	if body.Context.Agent != "main" || body.Context.Session != "s" || body.Context.Provider != "chat" {
		t.Errorf("got context %+v", body.Context)
	}
	for _, secret := range []string{key, "0123456789", "between us"} {
		if strings.Contains(strings.Join(got, ""), secret) {
			t.Errorf("%q was sent: %s", secret, got)
		}
	}
	if r := s.last("s").Ruling; r == nil || !r.Allow || r.By != "webhook" || r.Reason != "in hours" {
		t.Errorf("the log says %+v", r)
	}
}

// VER-01 VER-05 VER-14
func TestTheWebhooksNoReachesTheAgent(t *testing.T) {
	e := newEndpoint(t, `{"decision":"deny","reason":"not on a Friday"}`)
	s := serve(t, t.TempDir(), verified(e, "rules: [{name: never, tools: [write], effect: deny}]\n"))
	s.says("s", "Go")
	for range 2 {
		a := s.want("deny", "s", "exec", `{"command":"rollout"}`)
		if a.Tidemark.Rule != "verifier.webhook" || !strings.Contains(a.Reason, "not on a Friday") {
			t.Errorf("got %s: %s", a.Tidemark.Rule, a.Reason)
		}
		if r := s.last("s").Ruling; r == nil || r.Allow || r.Failed || r.Reason != "not on a Friday" {
			t.Errorf("the log says %+v", r)
		}
	}
	// Blocked already, or not in scope: nobody is asked.
	s.want("deny", "s", "write", `{"path":"a"}`)
	s.fetches("s", "a page")
	s.want("confirm", "s", "exec", `{"command":"rollout"}`)
	if n := len(e.received()); n != 2 {
		t.Errorf("asked %d times, want 2: %v", n, e.received())
	}
	var x struct {
		Verifier verifier.Coverage `json:"verifier"`
	}
	for tool, covered := range map[string]bool{"exec": true, "Write": true, "read": false} {
		s.do(http.MethodGet, "/v1/explain?tool="+tool, s.app.Tokens.Approver, nil, &x)
		if x.Verifier.Covered != covered {
			t.Errorf("explain says of %s: %+v", tool, x.Verifier)
		}
	}
}

// VER-05
func TestAVerifierThatFailsDenies(t *testing.T) {
	e := newEndpoint(t, "")
	s := serve(t, t.TempDir(), verified(e, ""))
	s.says("s", "Go")
	failures := []struct {
		name   string
		status int
		body   string
	}{
		{"status 500", http.StatusInternalServerError, `{"decision":"allow"}`},
		{"a redirect", http.StatusTemporaryRedirect, `{"decision":"allow"}`},
		{"another word", http.StatusOK, `{"decision":"ALLOW"}`},
		{"two decisions", http.StatusOK, `{"decision":"allow","decision":"deny"}`},
		{"no JSON", http.StatusOK, "allow"},
		{"nothing", http.StatusOK, ""},
		{"too much", http.StatusOK, `{"decision":"allow","reason":"` + strings.Repeat("x", 64<<10) + `"}`},
	}
	deniesTwice := func(name string) {
		t.Helper()
		for range 2 {
			a := s.want("deny", "s", "exec", `{"command":"rollout"}`)
			r := s.last("s").Ruling
			if a.Tidemark.Rule != "verifier.failMode" || r == nil || r.Allow || !r.Failed {
				t.Errorf("%s: got %s, the log says %+v", name, a.Tidemark.Rule, r)
			}
		}
	}
	for _, f := range failures {
		e.says(f.status, f.body)
		deniesTwice(f.name)
	}
	e.says(http.StatusOK, `{"decision":"allow"}`)
	s.want("allow", "s", "exec", `{"command":"rollout"}`)
	e.Close()
	deniesTwice("dead")
	if p := s.status("verifier"); p.OK || p.Fault == "" {
		t.Errorf("status says %+v", p)
	}
}

// VER-07 VER-08
// TestTheWebhookAndTheChatMustBothAllow: they are asked side by side, and a deny of one
// ends the wait for the other.
func TestTheWebhookAndTheChatMustBothAllow(t *testing.T) {
	const allow, deny = `{"decision":"allow"}`, `{"decision":"deny","reason":"no"}`
	tests := []struct {
		name, webhook, button string // button "": nobody taps
		verdict, rule, end    string
	}{
		{"both allow", allow, "Allow", "allow", "", "Allow: decided by @owner"},
		{"the chat denies", allow, "Deny", "deny", "verifier.telegram", "Deny: decided by @owner"},
		{"the webhook denies", deny, "", "deny", "verifier.webhook", "no answer is needed any more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bot := telegramtest.New(t)
			e := newEndpoint(t, tt.webhook)
			s := serve(t, t.TempDir(), verified(e, "  "+chatSection("telegram", bot.URL(), telegramtest.Token)))
			s.says("s", "Go")
			seen := make(chan struct{})
			if tt.button == "" {
				e.holds(seen)
			}
			held := s.ask(hook.Context{SessionKey: "s"}, "exec", `{"command":"rollout"}`)
			m := bot.Message(1)
			if !strings.Contains(m.Text, "rollout") {
				t.Errorf("the chat is shown %q", m.Text)
			}
			<-e.heard // a deny in the chat ends the webhook's request, which may still be on its way
			close(seen)
			if tt.button != "" {
				if text, alert := bot.Reply(bot.Tap(stranger, m, tt.button)); !alert {
					t.Errorf("somebody else's tap: got %q, want an alert", text)
				}
				bot.Tap(owner, m, tt.button)
			}
			a := held.wait(t)
			if a.Tidemark.Verdict != tt.verdict || tt.rule != "" && a.Tidemark.Rule != tt.rule {
				t.Errorf("got %s by %s: %s", a.Tidemark.Verdict, a.Tidemark.Rule, a.Reason)
			}
			if m := bot.Edited(1); !strings.Contains(m.Text, tt.end) || len(m.Buttons) > 0 {
				t.Errorf("the message now reads %q with %v", m.Text, m.Buttons)
			}
			if n := len(e.received()); n != 1 {
				t.Errorf("the webhook was asked %d times", n)
			}
		})
	}
}

// VER-13
func TestTestingTheVerifier(t *testing.T) {
	e := newEndpoint(t, `{"decision":"allow","reason":"hello"}`)
	bot := telegramtest.New(t)
	s := serve(t, t.TempDir(), verified(e, "  "+chatSection("telegram", bot.URL(), telegramtest.Token)))
	got, err := services.TestVerifier(t.Context(), s.paths)
	if err != nil || !got.OK() || len(got.Webhooks) != 1 || got.Telegram == nil || got.Telegram.Error != "" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if w := got.Webhooks[0]; w.Signature != verifier.SignatureChecked || w.Decision != "allow" || w.Reason != "hello" || w.Total <= 0 || w.Status != http.StatusOK {
		t.Errorf("got %+v", w)
	}
	if sent := strings.Join(e.received(), ""); !strings.Contains(sent, verifier.TestTool) || !strings.Contains(sent, `"test":true`) {
		t.Errorf("the endpoint was not told that it is a test: %s", sent)
	}
	if len(bot.Requests("sendMessage")) != 0 {
		t.Error("people were disturbed")
	}
	e.Close()
	for range 2 {
		got, err = services.TestVerifier(t.Context(), s.paths)
		if err != nil || got.OK() || got.Webhooks[0].Error == "" {
			t.Errorf("dead: got %+v, %v", got, err)
		}
	}
	if _, err := services.TestVerifier(t.Context(), datafolder.Paths{Data: t.TempDir()}); err == nil {
		t.Error("no verifier at all: got no error")
	}
}

// VER-01 CAU-05
// TestTheVerifierIsAskedAfterTheAuditor: what the auditor blocks never leaves the house.
func TestTheVerifierIsAskedAfterTheAuditor(t *testing.T) {
	e := newEndpoint(t, `{"decision":"allow"}`)
	model := audittest.New(t, audittest.Say("block: no"), audittest.Say("allow"))
	s := serve(t, t.TempDir(), verified(e, auditedBy("openai", model, "toolOverrides: {exec: {'*': allow}}\n")))
	s.says("s", "Read the page")
	s.fetches("s", "a page")
	s.want("confirm", "s", "exec", `{"command":"a"}`)
	if n := len(e.received()); n != 0 {
		t.Errorf("the verifier heard of a blocked call %d times", n)
	}
	a := s.want("allow", "s", "exec", `{"command":"b"}`).Tidemark
	if a.Opinion == nil || a.Ruling == nil || len(e.received()) != 1 {
		t.Errorf("got opinion %+v, ruling %+v", a.Opinion, a.Ruling)
	}
}
