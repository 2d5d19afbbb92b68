package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/policy"
)

const verifierSecret = "a secret of some length"

// endpoint is a verifier of the test's own, over a real socket. It checks signatures.
type endpoint struct {
	*httptest.Server
	answer atomic.Pointer[string]
	mu     sync.Mutex
	bodies []string // guarded by mu
}

func newEndpoint(t *testing.T, answer string) *endpoint {
	t.Helper()
	e := &endpoint{}
	e.answer.Store(&answer)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(verifierSecret))
		mac.Write(raw)
		if r.Header.Get("X-OpenClaw-Signature") != hex.EncodeToString(mac.Sum(nil)) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		e.mu.Lock()
		e.bodies = append(e.bodies, string(raw))
		e.mu.Unlock()
		fmt.Fprint(w, *e.answer.Load())
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) sent() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.bodies...)
}

// policyFile writes a policy file into a new data folder.
func policyFile(t *testing.T, text string) (data string) {
	t.Helper()
	data = t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "tidemark.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return data
}

func verifierFile(t *testing.T, url, more string) string {
	t.Helper()
	t.Setenv("VERIFIER_SECRET", verifierSecret)
	return policyFile(t, fmt.Sprintf(`
verifier:
  enabled: true
  scope: {include: [Exec, apply-patch, write]}
  webhook: {url: %q, secret: "${VERIFIER_SECRET}"}
%s`, url, more))
}

type toolAnswer struct {
	Block       bool   `json:"block"`
	BlockReason string `json:"blockReason"`
	Tidemark    struct {
		Verdict string `json:"verdict"`
		Rule    string `json:"rule"`
		Ruling  *struct {
			Allow  bool   `json:"allow"`
			By     string `json:"by"`
			Cached bool   `json:"cached"`
			Failed bool   `json:"failed"`
		} `json:"ruling"`
		Approval struct {
			ID string `json:"id"`
		} `json:"approval"`
	} `json:"tidemark"`
}

// runs begins a turn of the owner and asks about a call.
func (s *server) runs(t *testing.T, session, agent, tool string, params map[string]any) toolAnswer {
	t.Helper()
	ctx := map[string]any{"sessionKey": session, "agentId": agent, "messageProvider": "discord", "senderId": "1", "senderIsOwner": true}
	var out toolAnswer
	err := s.call(t.Context(), http.MethodPost, "/v1/hooks/before_tool_call", map[string]any{
		"event": map[string]any{"toolName": tool, "params": params}, "ctx": ctx,
	}, &out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// VER-03 VER-04 VER-05 VER-09 VER-12 VER-14
func TestTheVerifierDecidesAboutCallsOfARunningServer(t *testing.T) {
	e := newEndpoint(t, `{"decision":"allow"}`)
	s := startServer(t, verifierFile(t, e.URL, "  cacheSeconds: 60\n"))
	if a := s.runs(t, "s", "main", "read", map[string]any{"path": "x"}); a.Block || a.Tidemark.Ruling != nil {
		t.Errorf("out of scope: got %+v", a)
	}
	if a := s.runs(t, "s", "main", "exec", map[string]any{"command": "ls"}); a.Block || a.Tidemark.Ruling == nil || a.Tidemark.Ruling.By != "webhook" {
		t.Errorf("in scope: got %+v", a)
	}
	if a := s.runs(t, "s", "main", "exec", map[string]any{"command": "ls"}); a.Block || !a.Tidemark.Ruling.Cached || len(e.sent()) != 1 {
		t.Errorf("the same again: got %+v after %d requests", a, len(e.sent()))
	}
	no := `{"decision":"deny","reason":"not on a Sunday"}`
	e.answer.Store(&no)
	for range 2 { // a denial is not remembered as anything else
		a := s.runs(t, "s", "main", "apply_patch", map[string]any{"path": "a", "content": "héllo"})
		if !a.Block || a.Tidemark.Rule != "verifier.webhook" || !strings.Contains(a.BlockReason, "not on a Sunday") {
			t.Errorf("denied: got %+v", a)
		}
	}
	last := e.sent()[len(e.sent())-1]
	for _, want := range []string{`"version":1`, `"name":"apply_patch"`, "[REDACTED: 5 chars]", `"sessionKey":"s"`, `"agentId":"main"`, `"messageProvider":"discord"`} {
		if !strings.Contains(last, want) {
			t.Errorf("the endpoint got %s, want %s in it", last, want)
		}
	}
	out, _, code := command(t, "audit", "--data", s.data, "--json")
	if code != 0 || !strings.Contains(out, `"not on a Sunday"`) || !strings.Contains(out, `"ruling"`) {
		t.Errorf("the log (%d) does not hold the rulings:\n%s", code, out)
	}
	out, _, code = command(t, "explain", "exec", "--data", s.data)
	if code != 0 || !strings.Contains(out, "verifier: webhook") || !strings.Contains(out, "fail mode deny") {
		t.Errorf("explain (%d): %s", code, out)
	}
}

// VER-05 VER-06 VER-11
func TestAVerifierThatFailsDeniesAndAnAgentCannotWeakenThat(t *testing.T) {
	e := newEndpoint(t, `{"decision":"allow"}`)
	s := startServer(t, verifierFile(t, e.URL, "agents: {loose: {verifier: {failMode: allow, enabled: false}}}\n"))
	for name, answer := range map[string]string{
		"prose": "go ahead", "huge": `{"decision":"allow","reason":"` + strings.Repeat("x", 70_000) + `"}`, "empty": "", "twice": `{"decision":"allow"}{"decision":"allow"}`,
	} {
		e.answer.Store(&answer)
		for _, agent := range []string{"main", "loose"} {
			for range 2 {
				a := s.runs(t, "s-"+agent, agent, "exec", map[string]any{"command": name + agent})
				if !a.Block || a.Tidemark.Verdict != "deny" || !a.Tidemark.Ruling.Failed {
					t.Errorf("%s, agent %s: got %+v", name, agent, a)
				}
			}
		}
	}
}

// VER-02 VER-10
func TestAVerifierThatCannotBeSafeStopsTheStart(t *testing.T) {
	data := policyFile(t, "verifier: {enabled: true, webhook: {url: \"https://v.example/x\", headers: {Authorization: \"Bearer ${NOT_SET_ANYWHERE}\"}}}\n")
	_, errOut, code := command(t, "serve", "--data", data, "--listen", "127.0.0.1:0")
	if code == 0 || !strings.Contains(errOut, "NOT_SET_ANYWHERE is not set") || !strings.Contains(errOut, "tidemark.yaml:1:") {
		t.Errorf("got %d %s", code, errOut)
	}
	t.Setenv("NODE_ENV", "production")
	data = policyFile(t, "verifier: {enabled: true, webhook: {url: \"http://v.example/x\"}}\n")
	if _, errOut, code := command(t, "check", "--data", data, filepath.Join(data, "tidemark.yaml")); code == 0 || !strings.Contains(errOut, "not encrypted") {
		t.Errorf("in production: got %d %s", code, errOut)
	}
	t.Setenv("NODE_ENV", "")
	if out, errOut, code := command(t, "check", "--data", data, filepath.Join(data, "tidemark.yaml")); code != 0 || !strings.Contains(errOut, "warning") {
		t.Errorf("in development: got %d %s%s", code, out, errOut)
	}
}

// VER-13
func TestTheVerifierIsTriedFromTheCommandLine(t *testing.T) {
	e := newEndpoint(t, `{"decision":"deny","reason":"only a test"}`)
	data := verifierFile(t, e.URL, "")
	out, errOut, code := command(t, "verifier", "test", "--data", data)
	if code != 0 || !strings.Contains(out, "only a test") {
		t.Errorf("got %d %s%s", code, out, errOut)
	}
	e.Close()
	if out, _, code := command(t, "verifier", "test", "--data", data); code != 1 {
		t.Errorf("a dead endpoint: got %d %s", code, out)
	}
	if _, errOut, code := command(t, "verifier", "test", "--data", t.TempDir()); code == 0 || !strings.Contains(errOut, "no verifier") {
		t.Errorf("none at all: got %d %s", code, errOut)
	}
}

// CAU-06 VER-07
func TestWhoCannotBeReachedIsSaidAtTheStartAndInStatus(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	t.Setenv("BOT_TOKEN", "123456:"+strings.Repeat("a", 35))
	data := policyFile(t, fmt.Sprintf(`
auditor: {provider: openai, baseUrl: %q, model: local-model}
telegram: {botToken: "${BOT_TOKEN}", chatId: 42, baseUrl: %q}
verifier: {enabled: true, webhook: {url: %q}}
`, dead.URL+"/v1", dead.URL, dead.URL))
	out, errOut, code := command(t, "status", "--data", data)
	if code != 1 || strings.Count(out, "cannot be reached") != 3 || strings.Contains(out, strings.Repeat("a", 35)) {
		t.Errorf("without a server: got %d\n%s%s", code, out, errOut)
	}
	s := startServer(t, data)
	out, _, code = command(t, "status", "--data", s.data)
	if code != 1 || strings.Count(out, "cannot be reached") != 3 || !strings.Contains(out, "auditor: cannot be reached (openai/local-model)") {
		t.Errorf("beside a server: got %d\n%s", code, out)
	}
}

// CAU-11
func TestTheReportCountsWhatPeopleSaid(t *testing.T) {
	s := startServer(t, t.TempDir())
	for i := range 3 {
		session := fmt.Sprintf("s%d", i)
		id := s.hold(t, session)
		verb := "approve"
		if i == 2 {
			verb = "deny"
		}
		if out, errOut, code := command(t, "approvals", verb, id, "--data", s.data); code != 0 {
			t.Fatalf("%s: %d %s%s", verb, code, out, errOut)
		}
	}
	out, errOut, code := command(t, "report", "--data", s.data)
	if code != 0 || !strings.Contains(out, "2 yes, 1 no") || !strings.Contains(out, "\n"+policy.Default().Settings().Preset+".") {
		t.Errorf("got %d %s%s", code, out, errOut)
	}
	if out, _, code := command(t, "report", "--data", s.data, "--json"); code != 0 || !strings.Contains(out, `"yes": 2`) {
		t.Errorf("got %d %s", code, out)
	}
	if _, errOut, code := command(t, "report", "--data", s.data, "--since", "yesterday"); code == 0 || !strings.Contains(errOut, "24h") {
		t.Errorf("got %d %s", code, errOut)
	}
}

// hold leaves one question open in a session: exec in a session nobody began.
func (s *server) hold(t *testing.T, session string) (id string) {
	t.Helper()
	var out toolAnswer
	err := s.call(t.Context(), http.MethodPost, "/v1/hooks/before_tool_call", map[string]any{
		"event": map[string]any{"toolName": "exec", "params": map[string]any{"command": "ls"}}, "ctx": map[string]any{"sessionKey": session},
	}, &out)
	if err != nil || !out.Block {
		t.Fatalf("got %+v, %v", out, err)
	}
	return out.Tidemark.Approval.ID
}
