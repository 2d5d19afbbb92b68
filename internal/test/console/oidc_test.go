package console_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/tidemark/tidemark/internal/test/oidctest"
)

// file is a tidemark.yaml that lets people sign in at a provider.
func file(issuer string) string {
	return fmt.Sprintf(`console:
  oidc:
    issuer: %s
    clientId: %s
    clientSecret: "${TM_TEST_OIDC}"
    roles: {approver: [sec-team], viewer: [staff], admin: [root]}
`, issuer, oidctest.ClientID)
}

// withProvider is a server whose people sign in at a provider.
func withProvider(t *testing.T, more string) (*world, *oidctest.Provider) {
	t.Helper()
	t.Setenv("TM_TEST_OIDC", oidctest.Secret)
	fake := oidctest.New(t)
	return serve(t, file(fake.Issuer)+more), fake
}

// visits signs somebody in at the provider, and returns the page they end on.
func (p *person) visits() answer { p.w.t.Helper(); return p.get("/console/oidc") }

func somebody(name string, groups ...string) map[string]any {
	return map[string]any{"email": name + "@example.com", "email_verified": true, "groups": groups}
}

// acted is what the log says of people.
func (w *world) acted() string {
	w.t.Helper()
	_, text := w.api(http.MethodGet, "/v1/audit?kind=person.acted", w.app.Tokens.Reader, nil, nil)
	return text
}

// CON-29: the group at the provider is the role here, and the log says who it was.
func TestOIDCRoles(t *testing.T) {
	w, fake := withProvider(t, "")
	w.stranger().get("/console/login").want(t, http.StatusOK, `href="/console/oidc"`, "sign in at 127.0.0.1")

	fake.Person = somebody("bob", "staff")
	bob := w.stranger()
	bob.visits().want(t, http.StatusOK, "Signed in", `content="0;url=/console/"`)
	bob.get("/console/").want(t, http.StatusOK, "bob@example.com, reader")
	q := w.ask("s1")
	bob.votes(q, "approve", nil).want(t, http.StatusForbidden)
	if got := w.question(q.ID); got.State != "pending" {
		t.Errorf("a reader's answer: %s", got.State)
	}

	fake.Person = somebody("ada", "sec-team", "staff")
	ada := w.stranger()
	ada.visits().want(t, http.StatusOK, "Signed in")
	ada.votes(q, "approve", nil).want(t, http.StatusOK)
	if by := w.lastAnswer(); by != "approver:ada@example.com" {
		t.Errorf("the log says %q", by)
	}

	fake.Person = somebody("eve", "sales")
	eve := w.stranger()
	eve.visits().want(t, http.StatusForbidden, "you have no role here, eve@example.com", "console.oidc.roles")
	eve.get("/console/").want(t, http.StatusOK, "Sign in to Tidemark")
	log := w.acted()
	for _, part := range []string{`"by":"approver:ada@example.com"`, `"by":"reader:bob@example.com"`, "by 127.0.0.1", `"act":"refused"`, "eve@example.com"} {
		if !strings.Contains(log, part) {
			t.Errorf("the log lacks %s: %s", part, log)
		}
	}
	if all := w.log.String() + log; strings.Contains(all, oidctest.Secret) {
		t.Error("the secret of the client stands in a log")
	}
}

// CON-29: an answer of the provider's is for the browser that asked.
func TestOIDCIsOfThisBrowser(t *testing.T) {
	w, fake := withProvider(t, "")
	var back url.Values
	fake.Back = func(q url.Values) {
		back = url.Values{"code": q["code"], "state": q["state"], "iss": q["iss"]}
		q.Set("state", "x")
	}
	mallory := w.stranger()
	mallory.visits().want(t, http.StatusForbidden, "not begun in this browser") // she keeps her code for somebody else
	fake.Back = nil

	victim := w.stranger()
	victim.get("/console/oidc/callback?"+back.Encode()).want(t, http.StatusForbidden, "not begun in this browser")
	victim.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	a := victim.get("/console/oidc") // now she has set out herself
	set := a.header.Get("Set-Cookie")
	for _, part := range []string{"tm-oidc-", "HttpOnly", "SameSite=Lax", "Path=/console/oidc", "Max-Age=600"} {
		if !strings.Contains(set, part) {
			t.Errorf("the ticket lacks %s: %s", part, set)
		}
	}
	to, err := url.Parse(a.header.Get("Location"))
	do(t, err)
	for key, want := range map[string]string{
		"response_type": "code", "code_challenge_method": "S256", "client_id": oidctest.ClientID,
		"redirect_uri": w.base + "/console/oidc/callback", "scope": "openid email profile",
	} {
		if got := to.Query().Get(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	victim.get("/console/oidc/callback?"+back.Encode()).want(t, http.StatusForbidden, "not begun in this browser")
	victim.do(http.MethodGet, "/console/oidc", nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }).
		want(t, http.StatusForbidden, "another page has sent you")
	if log := w.acted(); strings.Contains(log, "refused") {
		t.Errorf("anybody fills the log: %s", log)
	}
}

// CON-29: a token that the provider did not sign lets nobody in, and is recorded.
func TestOIDCWithAForgedToken(t *testing.T) {
	w, fake := withProvider(t, "")
	fake.Sign = func(c jwt.MapClaims) string { return oidctest.Signed(c, "none", jwt.UnsafeAllowNoneSignatureType, nil) }
	p := w.stranger()
	p.visits().want(t, http.StatusForbidden, "cannot be accepted")
	p.get("/console/").want(t, http.StatusOK, "Sign in to Tidemark")
	if log := w.acted(); !strings.Contains(log, `"act":"refused"`) || strings.Contains(log, "signed-in") {
		t.Errorf("the log has %s", log)
	}
}

// CON-29: a provider that is down is said, and every other way in stays open.
func TestOIDCWithoutAProvider(t *testing.T) {
	w, fake := withProvider(t, "")
	fake.Metadata = func(m map[string]any) { m["issuer"] = "https://evil.example" }
	w.stranger().visits().want(t, http.StatusBadGateway, "tidemark status")
	w.signIn("reader").get("/console/").want(t, http.StatusOK, "Questions")
	_, status := w.api(http.MethodGet, "/v1/status", w.app.Tokens.Reader, nil, nil)
	if !strings.Contains(status, "console: oidc") || !strings.Contains(status, "console.oidc.issuer") {
		t.Errorf("the status does not say it: %s", status)
	}
	none := serve(t, "")
	none.stranger().get("/console/oidc").want(t, http.StatusNotFound)
	if page := none.stranger().get("/console/login").body; strings.Contains(page, "oidc") {
		t.Errorf("there is no provider, and the page says so: %s", page)
	}
}

// CON-28 CON-29: signing out ends the streams of somebody the provider vouched for.
func TestOIDCSignedOut(t *testing.T) {
	w, _ := withProvider(t, "")
	p := w.stranger()
	p.visits().want(t, http.StatusOK, "Signed in")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/console/stream", nil)
	do(t, err)
	stream, err := p.http.Do(req)
	do(t, err)
	defer stream.Body.Close()
	p.post("/console/logout", p.form("/console/", "/console/logout")).want(t, http.StatusOK, "Sign in to Tidemark")
	text, err := io.ReadAll(stream.Body) // it ends, or the test does not
	if err != nil || !strings.Contains(string(text), "event: signedout") {
		t.Errorf("the stream ended with %s, %v", text, err)
	}
}

// CON-29: where approving takes a proof, a sign-in at the provider is none.
func TestOIDCIsNoProof(t *testing.T) {
	w, _ := withProvider(t, "approvals: {proof: passkey}\n")
	q := w.ask("s")
	p := w.stranger()
	p.visits().want(t, http.StatusOK, "Signed in")
	p.votes(q, "approve", nil).want(t, http.StatusForbidden)
	if got := w.question(q.ID); got.State != "pending" {
		t.Errorf("it is %s", got.State)
	}
	p.votes(q, "deny", nil).want(t, http.StatusOK)
}

// CON-29: two people are two, whichever way they came, and a name is one person's.
func TestOIDCAndRulesForPeople(t *testing.T) {
	w, fake := withProvider(t, `approvals:
  people: {ada: {accounts: ["approver:ada@example.com"]}, bob: {accounts: ["approver:bob@example.com"]}}
  rules: [{people: 2}]
`)
	q := w.ask("s")
	fake.Person = somebody("ada", "sec-team")
	ada := w.stranger()
	ada.visits()
	ada.votes(q, "approve", nil)
	again := w.stranger()
	again.post("/console/login", url.Values{"code": {w.add("ada", "approver")}}).want(t, http.StatusOK, "ada, approver")
	again.votes(q, "approve", nil)
	if got := w.question(q.ID); got.State != "pending" {
		t.Fatalf("one person is two: %s", got.State)
	}
	fake.Person = somebody("bob", "sec-team")
	bob := w.stranger()
	bob.visits()
	bob.votes(q, "approve", nil).want(t, http.StatusOK)
	if got := w.question(q.ID); got.State != "approved" {
		t.Errorf("two people are one: %s", got.State)
	}
}

// CON-29: nobody becomes at the provider who has a token here.
func TestOIDCTakesNobodysName(t *testing.T) {
	t.Setenv("TM_TEST_OIDC", oidctest.Secret)
	fake := oidctest.New(t)
	w := serve(t, file(fake.Issuer)+"    name: preferred_username\n")
	fake.Person = map[string]any{"preferred_username": "ada", "groups": []string{"sec-team"}}
	w.add("ada", "approver")
	w.stranger().visits().want(t, http.StatusForbidden, "a token under the name ada")
	fake.Person["preferred_username"] = "bob"
	w.stranger().visits().want(t, http.StatusOK, "Signed in")
}

// CON-29: a browser's own rules let the way there and back through.
func TestOIDCInTheBrowser(t *testing.T) {
	w, _ := withProvider(t, "")
	b := w.browser()
	b.elsewhere = true
	b.open("/console/login")
	b.click(`#provider`)
	b.until(`location.pathname === '/console/' && document.body.innerText.includes('ada@example.com, approver')`)
}

// CON-29: a real provider signs somebody in: oidc-provider of npm, by its own pages.
func TestOIDCWithARealProvider(t *testing.T) {
	full(t)
	home, err := os.UserHomeDir()
	do(t, err)
	cache := os.Getenv("CONSOLE_CACHE")
	if cache == "" {
		cache = filepath.Join(home, ".cache", "tidemark-console")
	}
	folder := filepath.Join(cache, "node_modules", "oidc-provider")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no oidc-provider here: make console installs it")
	}
	t.Setenv("TM_TEST_OIDC", oidctest.Secret)
	port := freePort(t)
	base := "http://tidemark.localhost:" + port
	node := exec.CommandContext(t.Context(), "node", "testdata/provider.mjs", folder, base+"/console/oidc/callback", oidctest.Secret)
	node.Stderr = t.Output()
	out, err := node.StdoutPipe()
	do(t, err)
	do(t, node.Start())
	t.Cleanup(func() { _ = node.Wait() }) // it is killed with the test's context
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the provider does not start")
	}
	w := serveAt(t, t.TempDir(), port, file(lines.Text()))
	for _, c := range []struct {
		name, want string
		status     int
	}{
		{"ada", "Signed in", http.StatusOK}, {"bob", "Signed in", http.StatusOK}, {"eve", "you have no role here", http.StatusForbidden},
	} {
		p := w.stranger()
		page := p.visits()
		page = p.fills(page, url.Values{"prompt": {"login"}, "login": {c.name}, "password": {"any"}})
		p.fills(page, url.Values{"prompt": {"consent"}}).want(t, c.status, c.want)
	}
	log := w.acted()
	if !strings.Contains(log, "approver:ada@example.com") || !strings.Contains(log, "reader:bob@example.com") {
		t.Errorf("the log has %s", log)
	}
}

// freePort is a port that nobody has: the provider must know ours before we listen.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	do(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	do(t, err)
	do(t, l.Close())
	return port
}

// fills sends the form of the provider's page.
func (p *person) fills(page answer, form url.Values) answer {
	p.w.t.Helper()
	_, rest, _ := strings.Cut(page.body, `action="`)
	action, _, found := strings.Cut(rest, `"`)
	if !found {
		p.w.t.Fatalf("the provider shows no form: %d %s", page.status, page.body)
	}
	res, err := p.http.PostForm(action, form)
	do(p.w.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	do(p.w.t, err)
	return answer{res.StatusCode, string(raw), res.Header, res.Request.URL.Path}
}
