package console_test

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// add makes a token for somebody.
func (w *world) add(name, role string) string {
	w.t.Helper()
	var out struct {
		Token string `json:"token"`
	}
	in := map[string]string{"name": name, "role": role}
	if status, text := w.api(http.MethodPost, "/v1/people", w.app.Tokens.Admin, in, &out); status != http.StatusOK {
		w.t.Fatalf("add %s: %d %s", name, status, text)
	}
	return out.Token
}

// lastAnswer is what the log says of who answered last.
func (w *world) lastAnswer() string {
	w.t.Helper()
	var out struct {
		Records []struct {
			Body struct {
				Answer struct {
					By string `json:"by"`
				} `json:"answer"`
			} `json:"body"`
		} `json:"records"`
	}
	if status, text := w.api(http.MethodGet, "/v1/audit?kind=approval.answered", w.app.Tokens.Reader, nil, &out); status != http.StatusOK {
		w.t.Fatalf("audit: %d %s", status, text)
	}
	if len(out.Records) == 0 {
		return ""
	}
	return out.Records[len(out.Records)-1].Body.Answer.By
}

// The log says who it was: at the API and in the console, by a token of their own.
func TestTheLogSaysWhoItWas(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	ada, bob := w.add("ada", "approver"), w.add("bob", "viewer")

	q := w.ask("s1")
	answer := map[string]any{"decision": "approve"}
	if status, text := w.api(http.MethodPost, "/v1/approvals/"+q.ID, bob, answer, nil); status != http.StatusForbidden {
		t.Errorf("a viewer approves: %d %s", status, text)
	}
	if status, text := w.api(http.MethodPost, "/v1/approvals/"+q.ID, ada, answer, nil); status != http.StatusOK {
		t.Fatalf("an approver does not: %d %s", status, text)
	}
	if by := w.lastAnswer(); by != "approver:ada" {
		t.Errorf("at the API the log says %q", by)
	}

	q = w.ask("s2")
	p := w.stranger()
	p.post("/console/login", url.Values{"code": {ada}}).want(t, http.StatusOK, "Questions", "ada, approver")
	p.votes(q, "approve", nil).want(t, http.StatusOK)
	if by := w.lastAnswer(); by != "approver:ada" {
		t.Errorf("in the console the log says %q", by)
	}
	page := w.signIn("admin").get("/console/audit?kind=person.acted")
	page.want(t, http.StatusOK, "token-added", "approver:ada", "reader:bob", "signed-in")
	if strings.Contains(page.body, ada) || strings.Contains(w.log.String(), ada) {
		t.Error("the token stands in the log")
	}
}

// The text of the file may hold tokens of channels, which answer questions: it is for admins.
func TestTheTextOfTheFileIsForAdmins(t *testing.T) {
	t.Parallel()
	w := serve(t, "preset: balanced\n")
	for role, want := range map[string]int{"viewer": http.StatusForbidden, "approver": http.StatusForbidden, "admin": http.StatusOK} {
		token := w.add("a-"+role, role)
		if status, text := w.api(http.MethodGet, "/v1/policy/text", token, nil, nil); status != want {
			t.Errorf("a %s at the API: %d %s", role, status, text)
		}
		p := w.stranger()
		p.post("/console/login", url.Values{"code": {token}}).want(t, http.StatusOK, "Questions")
		if page := p.get("/console/policy?show=edit"); page.status != want || strings.Contains(page.body, "preset: balanced") != (want == http.StatusOK) {
			t.Errorf("a %s in the console: %d", role, page.status)
		}
	}
}

// follow reads the stream of records with a token.
func (w *world) follow(token string) io.ReadCloser {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+"/v1/events", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = res.Body.Close() })
	return res.Body
}

// A token that was taken away opens nothing from then on: sign-ins end, streams close.
func TestARevokedTokenOpensNothing(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	ada := w.add("ada", "approver")
	p := w.stranger()
	p.post("/console/login", url.Values{"code": {ada}}).want(t, http.StatusOK, "Questions")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/console/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := p.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()

	records := w.follow(ada)

	if status, text := w.api(http.MethodDelete, "/v1/people/ada", ada, nil, nil); status != http.StatusForbidden {
		t.Errorf("an approver changes who there is: %d %s", status, text)
	}
	if status, text := w.api(http.MethodDelete, "/v1/people/ada", w.app.Tokens.Admin, nil, nil); status != http.StatusOK {
		t.Fatalf("revoke: %d %s", status, text)
	}
	said := false
	for lines := bufio.NewScanner(stream.Body); lines.Scan(); { // it ends, or the test does not
		said = said || strings.Contains(lines.Text(), "signedout")
	}
	if !said {
		t.Error("the stream ended without a word")
	}
	if text, err := io.ReadAll(records); err != nil || strings.Contains(string(text), "token-revoked") {
		t.Errorf("the stream of records goes on: %s, %v", text, err)
	}
	if a := p.get("/console/"); !strings.Contains(a.body, "Sign in to Tidemark") {
		t.Errorf("the session goes on: %s", a.body)
	}
	if status, _ := w.api(http.MethodGet, "/v1/approvals", ada, nil, nil); status != http.StatusUnauthorized {
		t.Errorf("the token still opens the API: %d", status)
	}
	w.stranger().post("/console/login", url.Values{"code": {ada}}).want(t, http.StatusForbidden)
}

// Tokens of people are made in the console too, where a proof can be brought.
func TestTokensOfPeopleAreMadeInTheConsole(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	form := func(p *person) url.Values { return p.form("/console/keys", "/console/people") }
	reader := w.signIn("reader")
	f := form(reader)
	f.Set("do", "admin")
	f.Set("text", "mallory")
	reader.post("/console/people", f).want(t, http.StatusForbidden, "takes the role admin")

	admin := w.signIn("admin")
	f = form(admin)
	f.Set("do", "approver")
	f.Set("text", "Ada Lovelace")
	admin.post("/console/people", f).want(t, http.StatusBadRequest, "small letters")
	f.Set("text", "ada")
	a := admin.post("/console/people", f)
	a.want(t, http.StatusOK, "shown once: tm-approver-")
	if strings.Contains(admin.get("/console/keys").body, "tm-approver-") {
		t.Error("it is shown again")
	}
	_, rest, _ := strings.Cut(a.body, "shown once: ")
	token, _, _ := strings.Cut(rest, "<")
	if status, text := w.api(http.MethodGet, "/v1/approvals", token, nil, nil); status != http.StatusOK {
		t.Errorf("the token does not work: %d %s", status, text)
	}
	var list struct {
		People []struct {
			Name string `json:"name"`
			Role string `json:"role"`
		} `json:"people"`
	}
	w.api(http.MethodGet, "/v1/people", w.app.Tokens.Reader, nil, &list)
	if len(list.People) != 1 || list.People[0].Name != "ada" || list.People[0].Role != "approver" {
		t.Errorf("the list is %v", list)
	}
}

// CON-25: what a passkey approves is recorded under whoever enrolled it, whoever opened the page.
func TestAKeySaysWhoItWas(t *testing.T) {
	w := serve(t, "")
	ada := w.add("ada", "approver")
	q := w.ask("s")
	b := w.browser()
	b.authenticator(true)
	b.open("/console/login")
	b.run(chromedp.SendKeys(chromedp.CSS(`#code`), ada))
	b.click(`#login button`)
	b.until(`document.body.innerText.includes('Signed in as ada, approver')`)
	b.enrol("phone")
	b.click(`form[action="/console/logout"] button`)
	b.until(`document.querySelector('#login')`)
	b.signIn("reader")
	b.open("/console/q/" + q.ID)
	b.click(`button[value=approve]`)
	b.until(`document.body.innerText.includes('APPROVED') || document.querySelector('.problem')?.textContent`)
	if by := w.lastAnswer(); by != "approver:ada" {
		t.Errorf("the log says %q\n%s", by, b.text())
	}
	w.verified(t, 1)
}
