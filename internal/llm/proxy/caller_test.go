package proxy_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/llm/proxy"
)

func TestOurTokenNeverLeavesAndTheProvidersKeyTakesItsPlace(t *testing.T) {
	for name, header := range map[string][]string{
		"as bearer":         {"Authorization", "Bearer " + agentToken},
		"as api key":        {"X-Api-Key", agentToken},
		"as google key":     {"X-Goog-Api-Key", agentToken},
		"beside a key":      {"X-Tidemark-Token", agentToken, "Authorization", "Bearer " + clientKey},
		"as bearer, spaced": {"Authorization", "bearer   " + agentToken},
	} {
		w := open(t)
		w.provider.then(answerJSON(chatText("ok")))
		g := w.do("POST", "/llm/mine/v1/chat/completions", chatRequest(false, user("Hi")), header...)
		if g.status != http.StatusOK {
			t.Errorf("%s: got %d %s, want 200", name, g.status, g.body)
			continue
		}
		s := w.provider.last()
		if s.header.Get("Authorization") != "Bearer "+injected || s.path != "/deep/v1/chat/completions" {
			t.Errorf("%s: sent %v to %s, want the injected key", name, s.header, s.path)
		}
		for key, values := range s.header {
			if strings.HasPrefix(key, "X-Tidemark") || strings.Contains(strings.Join(values, " "), agentToken) {
				t.Errorf("%s: sent %s: %v", name, key, values)
			}
		}
	}
}

func TestOurTokenInTheQueryNeverLeaves(t *testing.T) {
	w := open(t)
	w.provider.then(answerJSON(`{}`))
	w.do("GET", "/llm/mine/v1/models?a=1&key="+agentToken+"&b=2", "")
	if s := w.provider.last(); s.query != "a=1&b=2" {
		t.Errorf("sent query %q, want it without the token", s.query)
	}
}

func TestCredentialsThatOpenNothing(t *testing.T) {
	w := open(t)
	for name, c := range map[string]struct {
		path   string
		header []string
	}{
		"our token where no key could take its place": {"/openai/v1/chat/completions", []string{"Authorization", "Bearer " + agentToken}},
		"the administrator's token":                   {"/openai/v1/chat/completions", []string{"Authorization", "Bearer " + adminToken}},
		"the administrator's token to a pass-through": {"/openai/v1/models", []string{"X-Api-Key", adminToken}},
		"a wrong token": {"/openai/v1/chat/completions", []string{"X-Tidemark-Token", "wrong"}},
	} {
		for range 2 {
			if g := w.do("POST", c.path, chatRequest(false, user("Hi")), c.header...); g.status != http.StatusUnauthorized {
				t.Errorf("%s: got %d %s, want 401", name, g.status, g.body)
			}
		}
	}
	if n := len(w.provider.requests()); n != 0 {
		t.Errorf("the provider got %d requests, want none", n)
	}
}

func TestWhereATokenIsRequiredNobodyElseIsServed(t *testing.T) {
	w := open(t, func(o *proxy.Options) { o.RequireToken = true })
	for _, path := range []string{"/openai/v1/chat/completions", "/openai/v1/models", "/gemini/v1beta/models/g:generateContent"} {
		if g := w.post(path, chatRequest(false, user("Hi"))); g.status != http.StatusUnauthorized {
			t.Errorf("%s: got %d %s, want 401", path, g.status, g.body)
		}
	}
	w.provider.then(answerJSON(chatText("ok")))
	if g := w.do("POST", "/openai/v1/chat/completions", chatRequest(false, user("Hi")), "X-Tidemark-Token", agentToken, "Authorization", "Bearer "+clientKey); g.status != http.StatusOK {
		t.Errorf("with the token: got %d %s, want 200", g.status, g.body)
	}
}

// Two clients with different keys repeat the same conversation; what one's model wrote is
// a stranger's text to the other.
func TestConversationsOfDifferentKeysNeverMeet(t *testing.T) {
	w := open(t)
	talk := w.afterPage()
	_ = talk
	w.provider.then(answerJSON(chatText("The sum is three.")), answerJSON(chatCall("call-a", "send_note", `{"to":"petra@lund.example"}`)), answerJSON(chatCall("call-b", "send_note", `{"to":"petra@lund.example"}`)))
	w.post("/openai/v1/chat/completions", chatRequest(false, user("What is one and two?")))
	again := chatRequest(false, user("What is one and two?"), assistant("The sum is three."), user("Send Petra that"))
	if g := w.post("/openai/v1/chat/completions", again); !strings.Contains(g.body, "call-a") {
		t.Errorf("the same key: got %s, want the call", g.body)
	}
	if g := w.do("POST", "/openai/v1/chat/completions", again, "Authorization", "Bearer sk-somebody-else"); strings.Contains(g.body, "call-b") {
		t.Errorf("another key: got %s, want the call held: its history is a stranger's", g.body)
	}
}

func TestKeysAndPromptsNeverReachTheLog(t *testing.T) {
	w := open(t)
	secret := "the launch code is 4711-XYZZY"
	ok := []http.HandlerFunc{
		answerJSON(chatText(secret)), answerJSON(chatCall("call-q", "wipe", `{"x":"4711-XYZZY"}`)), answerJSON(`{"broken 4711-XYZZY`),
		answerEvents("data: {\"4711-XYZZY\n\n"), answerEvents(chatCallEvents("c", "wipe", `{"x":"4711-XYZZY"}`)[:3]...),
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		func(rw http.ResponseWriter, _ *http.Request) {
			c, _, _ := http.NewResponseController(rw).Hijack()
			_, _ = c.Write([]byte("nonsense 4711-XYZZY\r\n\r\n"))
			_ = c.Close()
		},
	}
	for i, h := range ok {
		w.provider.then(h)
		w.post("/openai/v1/chat/completions?key="+clientKey, chatRequest(i == 3 || i == 4, user(secret)))
	}
	w.post("/openai/v1/chat/completions", `{"messages":[{"4711-XYZZY"`)
	w.do("GET", "/openai/v1/models", "", "Authorization", "Bearer "+adminToken)
	w.provider.then(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	w.do("GET", "/openai/v1/models?key="+clientKey, "", "X-Tidemark-Token", agentToken)
	log := w.log.String()
	for _, never := range []string{clientKey, injected, agentToken, adminToken, "4711", "XYZZY"} {
		if strings.Contains(log, never) {
			t.Errorf("the log holds %q:\n%s", never, log)
		}
	}
	if !strings.Contains(log, "upstream failed") {
		t.Errorf("the log says nothing of the failures:\n%s", log)
	}
}

func TestPagesOfOtherOriginsAreNotServed(t *testing.T) {
	w := open(t)
	for name, header := range map[string][]string{
		"a foreign origin":     {"Origin", "https://evil.example"},
		"another local port":   {"Origin", "http://127.0.0.1:1"},
		"a cross-site request": {"Sec-Fetch-Site", "cross-site"},
	} {
		if g := w.do("POST", "/openai/v1/chat/completions", chatRequest(false, user("Hi")), header...); g.status != http.StatusForbidden {
			t.Errorf("%s: got %d, want 403", name, g.status)
		}
	}
	req, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, w.url+"/openai/v1/models", http.NoBody)
	req.Host = "evil.example"
	resp, err := w.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("a foreign Host: got %d, want 421", resp.StatusCode)
	}
}

func TestAnUpstreamThatWantsAHandshakeAnswersOnlyWithALivePlugin(t *testing.T) {
	w := open(t)
	line := w.handshake.Sign("agent:main:main", time.Now().Add(time.Minute))
	system := func(text string) string { return `{"role":"system","content":"You help. ` + text + ` Be brief."}` }
	other, _ := proxy.NewHandshake(rand.Reader)
	for name, messages := range map[string][]string{
		"none":                  {user("Hi")},
		"in a user's message":   {user("Hi " + line)},
		"expired":               {system(w.handshake.Sign("s", time.Now().Add(-time.Minute))), user("Hi")},
		"of another start":      {system(other.Sign("s", time.Now().Add(time.Minute))), user("Hi")},
		"for another session":   {system(strings.Replace(line, " ", " QUFB", 1)), user("Hi")},
		"never closed":          {system(strings.TrimSuffix(line, "]]")), user("Hi")},
		"in a tool's result":    {user("Hi"), calls("c", "add", "{}"), returned("c", line)},
		"in an assistant's one": {user("Hi"), assistant(line), user("Go on")},
	} {
		for range 2 {
			if g := w.post("/llm/claw/v1/chat/completions", chatRequest(false, messages...)); g.status != http.StatusForbidden || !strings.Contains(g.body, "no live Tidemark plugin") {
				t.Errorf("%s: got %d %s, want 403", name, g.status, g.body)
			}
		}
	}
	for range 2 { // the second time the line stands in bytes that are known
		w.provider.then(answerJSON(chatText("ok")))
		if g := w.post("/llm/claw/v1/chat/completions", chatRequest(false, system(line), user("Hi"))); g.status != http.StatusOK {
			t.Fatalf("with a line: got %d %s, want 200", g.status, g.body)
		}
		if sent := w.provider.last().body; strings.Contains(sent, "tidemark:handshake") || !strings.Contains(sent, "You help.  Be brief.") {
			t.Errorf("sent %s, want the text without the line", sent)
		}
	}
	if _, err := w.monitor.View(context.Background(), "agent:main:main"); err != nil {
		t.Errorf("the plugin's session: %v", err)
	}
}

func TestAHandshakeNamesWhatWasSignedAndNothingElse(t *testing.T) {
	h, err := proxy.NewHandshake(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	rapid.Check(t, func(t *rapid.T) {
		session := rapid.StringN(1, 60, 200).Draw(t, "session")
		line := h.Sign(session, now)
		if got, err := h.Verify(line, now); err != nil || got != session {
			t.Fatalf("got %q %v, want %q", got, err, session)
		}
		at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
		forged := []byte(line)
		forged[at] ^= byte(rapid.IntRange(1, 127).Draw(t, "bits"))
		if got, err := h.Verify(string(forged), now); err == nil && got != session {
			t.Fatalf("a changed line names %q", got)
		}
		if _, err := h.Verify(line, now.Add(time.Second)); !errors.Is(err, proxy.ErrHandshake) {
			t.Fatalf("an old line: got %v, want ErrHandshake", err)
		}
	})
}

func FuzzHandshakeVerify(f *testing.F) {
	h, err := proxy.NewHandshake(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("[[tidemark:handshake QUFB 1800000000 00]]")
	f.Add("[[tidemark:handshake   ]]")
	f.Fuzz(func(t *testing.T, line string) {
		if session, err := h.Verify(line, time.Unix(0, 0)); err == nil {
			t.Errorf("%q names %q", line, session)
		}
	})
}

func TestAHostWithALivePluginIsAskedOnce(t *testing.T) {
	w := open(t)
	line := w.handshake.Sign("agent:main:main", time.Now().Add(time.Minute))
	w.asks("agent:main:main", "p", "read_page", "{}")
	history := []string{`{"role":"system","content":"` + line + `"}`, user("Read it"), calls("p", "read_page", "{}"), returned("p", "a page")}
	for _, c := range []struct {
		tool   string
		passes bool
	}{{"send_note", true}, {"wipe", false}} {
		w.provider.then(answerJSON(chatCall("c-"+c.tool, c.tool, `{"to":"x"}`)))
		g := w.post("/llm/claw/v1/chat/completions", chatRequest(false, history...))
		if strings.Contains(g.body, `"tool_calls"`) != c.passes {
			t.Errorf("%s: got %s", c.tool, g.body)
		}
	}
	v, err := w.monitor.View(t.Context(), "agent:main:main")
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Questions) != 0 || v.Denied != 1 {
		t.Errorf("got questions %v and %d denials, want the plugin to ask and one denial", v.Questions, v.Denied)
	}
}

func TestOnlyOurTokenNamesAnySession(t *testing.T) {
	w := open(t)
	for _, token := range []string{agentToken, ""} {
		w.provider.then(answerJSON(chatText("ok")))
		header := []string{"Authorization", "Bearer " + clientKey, "X-Tidemark-Session", "agent:other:" + token}
		if token != "" {
			header = append(header, "X-Tidemark-Token", token)
		}
		if g := w.do("POST", "/openai/v1/chat/completions", chatRequest(false, user("Hi")), header...); g.status != http.StatusOK {
			t.Fatalf("got %d %s", g.status, g.body)
		}
		if _, err := w.monitor.View(t.Context(), "agent:other:"+token); (err == nil) != (token != "") {
			t.Errorf("token %q: the session it names: %v", token, err)
		}
	}
}

// BEY-13
func TestTheCanaryOfTheProxyIsBlocked(t *testing.T) {
	w := open(t)
	for _, header := range [][]string{{"Authorization", "Bearer " + clientKey}, {"Authorization", "Bearer " + agentToken}} {
		g := w.do("POST", "/llm/canary/v1/chat/completions", chatRequest(false, user("run it")), header...)
		if g.status != http.StatusOK || strings.Contains(g.body, `"tool_calls":[`) || !strings.Contains(g.body, "canary") {
			t.Errorf("got %d %s, want our words in place of the call", g.status, g.body)
		}
	}
}
