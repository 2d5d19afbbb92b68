package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// CON-12
func TestNoScriptCanDenyAndApprove(t *testing.T) {
	t.Parallel()
	t.Run("deny, with a note", func(t *testing.T) {
		w := serve(t, "")
		q := w.ask("s")
		p := w.signIn("reader")
		p.get("/console/").want(t, http.StatusOK, evil, wish, "Why it is asked", "web_fetch", "Deny")
		p.votes(q, "deny", url.Values{"note": {"not him"}}).want(t, http.StatusOK, "Denied", "not him")
		if got := w.question(q.ID); got.State != "denied" || got.Note != "not him" {
			t.Errorf("got %s, %q", got.State, got.Note)
		}
	})
	t.Run("approve, as approver", func(t *testing.T) {
		w := serve(t, "")
		q := w.ask("s")
		w.signIn("approver").votes(q, "approve", nil).want(t, http.StatusOK, "Approved")
		if got := w.question(q.ID); got.State != "approved" {
			t.Errorf("got %s", got.State)
		}
	})
	t.Run("approve, with the typed secret", func(t *testing.T) {
		w := serve(t, "")
		q := w.ask("s")
		p := w.signIn("approver")
		f := p.form("/console/keys", "/console/keys")
		f.Set("do", "secret")
		f.Set("secret", "a long enough secret")
		p.post("/console/keys", f).want(t, http.StatusOK, "The secret is set")
		p.votes(q, "approve", nil).want(t, http.StatusForbidden, "takes a proof")
		p.votes(q, "approve", url.Values{"secret": {"another long secret"}}).want(t, http.StatusForbidden, "not the secret")
		reader := w.signIn("reader") // the secret is the proof, whoever brings it
		reader.votes(q, "approve", url.Values{"secret": {"a long enough secret"}}).want(t, http.StatusOK, "Approved")
		reset := reader.form("/console/session?key=s", "/console/session/act") // it makes nobody an administrator
		reset.Set("do", "reset-trust")
		reset.Set("secret", "a long enough secret")
		reader.post("/console/session/act", reset).want(t, http.StatusForbidden, "takes the role admin")
	})
}

func TestAReaderApprovesNothing(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	q := w.ask("s")
	w.signIn("reader").votes(q, "approve", nil).want(t, http.StatusForbidden, "can only read and deny")
	if got := w.question(q.ID); got.State != "pending" {
		t.Errorf("got %s", got.State)
	}
}

// CON-03
func TestAnAnswerCountsForWhatWasShownOnly(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	q := w.ask("s")
	other := w.ask("s2")
	p := w.signIn("approver")
	theirs := p.form("/console/q/"+other.ID, "/console/q/"+other.ID)
	a := p.votes(q, "approve", url.Values{"seen": {theirs.Get("seen")}})
	a.want(t, http.StatusConflict, "has changed since you saw it")
	p.votes(q, "approve", url.Values{"seen": {""}}).want(t, http.StatusConflict)
	if got := w.question(q.ID); got.State != "pending" {
		t.Errorf("got %s", got.State)
	}
}

// CON-09
func TestDenyWithNoteReachesTheAgent(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	q := w.ask("s")
	w.signIn("reader").votes(q, "deny", url.Values{"note": {"write to Petra only"}}).want(t, http.StatusOK)
	out := w.hook("s", "before_tool_call", map[string]any{
		"toolName": "send_email", "toolCallId": "c3", "params": map[string]any{"to": evil, "subject": "Bread", "body": "Good bread"},
	})
	if reason, _ := out["blockReason"].(string); !strings.Contains(reason, "write to Petra only") {
		t.Errorf("the agent is told %q", reason)
	}
	_, log := w.api(http.MethodGet, "/v1/audit?kind=approval.answered", w.app.Tokens.Reader, nil, nil)
	if !strings.Contains(log, "write to Petra only") || !strings.Contains(log, `"via":"console"`) {
		t.Errorf("the log has %s", log)
	}
}

// CON-19
func TestPolicyHeaderOnEveryAnswer(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	q := w.ask("s")
	p := w.signIn("admin")
	css := strings.Split(strings.SplitN(p.get("/console/").body, `href="`, 3)[1], `"`)[0]
	answers := map[string]answer{
		"page": p.get("/console/"), "question": p.get("/console/q/" + q.ID), "missing": p.get("/console/none"), "asset": p.get(css),
		"no asset": p.get("/console/a/x.js"), "keys": p.get("/console/keys"), "signed out": w.stranger().get("/console/"),
		"snapshot": p.get("/console/snapshot"), "bad host": p.do(http.MethodGet, "/console/", nil,
			func(r *http.Request) { r.Host = "evil.example" }),
		"bearer": p.do(http.MethodGet, "/console/", nil, func(r *http.Request) {
			r.Header.Set("Authorization",
				"Bearer "+w.app.Tokens.Admin)
		}),
		"foreign":     p.post("/console/q/"+q.ID, url.Values{}, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }),
		"wrong token": p.post("/console/q/"+q.ID, url.Values{"token": {"x"}}),
	}
	for name, a := range answers {
		t.Run(name, func(t *testing.T) {
			csp := a.header.Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
				"base-uri 'none'", "require-trusted-types-for 'script'"} {
				if !strings.Contains(csp, part) {
					t.Errorf("%s is not in %q", part, csp)
				}
			}
			if strings.Contains(csp, "unsafe-") {
				t.Errorf("unsafe: %s", csp)
			}
			for header, want := range map[string]string{
				"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin",
				"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "same-origin",
			} {
				if a.header.Get(header) != want {
					t.Errorf("%s is %q", header, a.header.Get(header))
				}
			}
			if cache := a.header.Get("Cache-Control"); (name == "asset") == (cache == "no-store") {
				t.Errorf("Cache-Control is %q", cache)
			}
		})
	}
}

// CON-21
func TestForeignOriginsCannotPost(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	q := w.ask("s")
	p := w.signIn("approver")
	for name, change := range map[string]func(*http.Request){
		"another site": func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		},
		"another port": func(r *http.Request) {
			r.Header.Set("Origin", "http://tidemark.localhost:3000")
			r.Header.Set("Sec-Fetch-Site", "same-site")
		},
		"the other name": func(r *http.Request) {
			r.Header.Set("Origin", strings.Replace(w.base, "tidemark.", "", 1))
			r.Header.Del("Sec-Fetch-Site")
		},
		"null":                 func(r *http.Request) { r.Header.Set("Origin", "null"); r.Header.Del("Sec-Fetch-Site") },
		"neither":              func(r *http.Request) { r.Header.Del("Origin"); r.Header.Del("Sec-Fetch-Site") },
		"typed into the bar":   func(r *http.Request) { r.Header.Del("Origin"); r.Header.Set("Sec-Fetch-Site", "none") },
		"another host":         func(r *http.Request) { r.Host = "evil.example" },
		"a name that looks so": func(r *http.Request) { r.Host = "tidemark.localhost.evil.example" },
		"https where it is not": func(r *http.Request) {
			r.Header.Set("Origin", strings.Replace(w.base, "http:", "https:", 1))
			r.Header.Del("Sec-Fetch-Site")
		},
	} {
		t.Run(name, func(t *testing.T) {
			if a := p.votes(q, "deny", nil, change); a.status != http.StatusForbidden && a.status != http.StatusMisdirectedRequest {
				t.Errorf("status %d:\n%s", a.status, a.body)
			}
			if got := w.question(q.ID); got.State != "pending" {
				t.Errorf("it is %s now", got.State)
			}
		})
	}
}

// CON-22
func TestCookieAndBearerDoNotCross(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	p := w.signIn("admin")
	if a := p.get("/v1/approvals"); a.status != http.StatusUnauthorized {
		t.Errorf("a cookie at /v1: %d", a.status)
	}
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+w.app.Tokens.Admin) }
	if a := w.stranger().do(http.MethodGet, "/console/", nil, bearer); a.status != http.StatusUnauthorized {
		t.Errorf("a token at /console: %d", a.status)
	}
	other := serve(t, "")
	u, err := url.Parse(w.base + "/console/")
	if err != nil {
		t.Fatal(err)
	}
	carried := func(r *http.Request) {
		for _, c := range p.http.Jar.Cookies(u) {
			_, port, _ := strings.Cut(strings.TrimPrefix(other.base, "http://"), ":")
			r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
			r.AddCookie(&http.Cookie{Name: "tm-" + port, Value: c.Value})
		}
	}
	if a := other.stranger().do(http.MethodGet, "/console/snapshot", nil, carried); a.status == http.StatusOK &&
		!strings.Contains(a.body, "Sign in") {
		t.Errorf("a cookie of another server's: %d %s", a.status, a.body)
	}
}

// CON-23
func TestStolenCookieCannotApprove(t *testing.T) {
	t.Parallel()
	w := serve(t, "approvals:\n  proof: passkey\n")
	q := w.ask("s")
	p := w.signIn("approver") // whoever has the cookie and can read the page has its forms too
	p.get("/console/").want(t, http.StatusOK, evil)
	p.votes(q, "approve", nil).want(t, http.StatusForbidden, "takes a proof")
	if got := w.question(q.ID); got.State != "pending" {
		t.Fatalf("it is %s now", got.State)
	}
	p.votes(q, "deny", nil).want(t, http.StatusOK, "Denied")
}

// CON-27
func TestLinkWorksOnce(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	l := w.link("approver")
	if strings.Contains(l.URL, l.Code) || strings.Contains(l.URL, l.Short) {
		t.Errorf("the address has the code: %s", l.URL)
	}
	p := w.stranger()
	p.post("/console/login", url.Values{"code": {l.Code}}).want(t, http.StatusOK, "Compare the digits")
	p.get("/console/").want(t, http.StatusOK, "Compare the digits") // nothing else before they were
	w.stranger().post("/console/login", url.Values{"code": {l.Code}}).want(t, http.StatusForbidden, "does not work")
	w.confirm(l, false)
	p.get("/console/").want(t, http.StatusOK, "Sign in to Tidemark")
	_, log := w.api(http.MethodGet, "/v1/audit?kind=person.acted", w.app.Tokens.Reader, nil, nil)
	if strings.Count(log, `"act":"refused"`) != 2 {
		t.Errorf("the log has %s", log)
	}
	for _, secret := range []string{l.Code, l.Short, strings.ReplaceAll(l.Short, "-", "")} {
		if strings.Contains(log, secret) || strings.Contains(w.log.String(), secret) {
			t.Errorf("a log has the code %s", secret)
		}
	}
}

// CON-28
func TestSignedOutEverywhereAtOnce(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	q := w.ask("s")
	p := w.signIn("approver")
	form := p.form("/console/q/"+q.ID, "/console/q/"+q.ID)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/console/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	ended := make(chan string)
	go func() {
		b := make([]byte, 1<<20)
		var all strings.Builder
		for {
			n, err := res.Body.Read(b)
			all.Write(b[:n])
			if err != nil {
				ended <- all.String()
				return
			}
		}
	}()
	p.post("/console/logout", p.form("/console/", "/console/logout")).want(t, http.StatusOK, "Sign in to Tidemark")
	if text := <-ended; !strings.Contains(text, "event: snapshot") || !strings.Contains(text, "event: signedout") {
		t.Errorf("the stream ended with %s", text)
	}
	form.Set("do", "deny")
	if a := p.post("/console/q/"+q.ID, form); a.status != http.StatusUnauthorized {
		t.Errorf("an answer after the end: %d", a.status)
	}
	if got := w.question(q.ID); got.State != "pending" {
		t.Errorf("it is %s now", got.State)
	}
}

func TestThisMachineHasAName(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	p := w.stranger()
	p.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	a := p.do(http.MethodGet, "/console/q/x?y=z", nil, func(r *http.Request) { r.Host = strings.TrimPrefix(w.url, "http://") })
	if a.status != http.StatusTemporaryRedirect || a.header.Get("Location") != w.base+"/console/q/x?y=z" {
		t.Errorf("got %d to %s", a.status, a.header.Get("Location"))
	}
}

// CON-08
func TestSimilarKeepsTheTargetFixed(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	q := w.ask("s")
	p := w.signIn("approver")
	p.get("/console/q/"+q.ID).want(t, http.StatusOK, "Approve more than this call", "All other arguments stay as in this call")
	p.votes(q, "approve", url.Values{"minutes": {"15"}}).want(t, http.StatusOK, "for 15 minutes")
	try := func(to, body string) bool {
		out := w.hook("s", "before_tool_call", map[string]any{
			"toolName": "send_email", "toolCallId": to + body, "params": map[string]any{"to": to, "subject": "Bread", "body": body},
		})
		blocked, _ := out["block"].(bool)
		return !blocked
	}
	if !try(evil, "Good bread") || !try(evil, "Even better bread") {
		t.Error("a call that differs in its words alone was held")
	}
	if try("another@spam.example", "Good bread") {
		t.Error("another target was let through")
	}
	p.votes(w.ask("s2"), "approve", url.Values{"minutes": {"9999"}}).want(t, http.StatusBadRequest, "0 to 1440")
	p.votes(w.ask("s2"), "approve", url.Values{"minutes": {"5"}, "calls": {"-1"}}).want(t, http.StatusBadRequest, "0 to 1000")
}

// CON-08: a grant ends with the last call that it was given for, also after a restart, and says how many there are.
func TestAGrantHasSoManyCalls(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	w := serveOn(t, data, "")
	q := w.ask("s")
	w.signIn("approver").votes(q, "approve", url.Values{"minutes": {"15"}, "calls": {"3"}}).want(t, http.StatusOK, "3 calls at most")
	try := func(body string) bool {
		out := w.hook("s", "before_tool_call", map[string]any{
			"toolName": "send_email", "toolCallId": body, "params": map[string]any{"to": evil, "subject": "Bread", "body": body},
		})
		blocked, _ := out["block"].(bool)
		return !blocked
	}
	if !try("Good bread") || !try("Even better bread") {
		t.Fatal("the first two of three calls were held")
	}
	w.signIn("reader").get("/console/session?key=s").want(t, http.StatusOK, "1 call more")
	w.stop()
	w = serveOn(t, data, "")
	if !try("The best bread") {
		t.Error("the third of three calls was held")
	}
	if try("Bread without end") {
		t.Error("a fourth call was let through")
	}
	if a := w.signIn("reader").get("/console/session?key=s"); strings.Contains(a.body, "grant-") && strings.Contains(a.body, "End the grant") {
		t.Errorf("a grant that is used up is in force: %s", a.body)
	}
}

// CON-35
func TestAStoreThatFailsIsSaid(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	q := w.ask("s")
	p := w.signIn("admin")
	form := p.form("/console/q/"+q.ID, "/console/q/"+q.ID)
	w.breakLog()
	for _, path := range []string{"/console/sessions", "/console/audit", "/console/reports", "/console/writes"} {
		if a := p.get(path); a.status < 500 || !strings.Contains(a.body, "<h1") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	form.Set("do", "deny")
	if a := p.post("/console/q/"+q.ID, form); a.status < 400 {
		t.Errorf("an answer that cannot be recorded: %d", a.status)
	}
}

func TestWhoApprovesOneAfterTheOtherIsTold(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	p := w.signIn("approver")
	for i := range 6 {
		p.votes(w.ask(sessionName(i)), "approve", nil).want(t, http.StatusOK, "Approved")
	}
	w.ask("next")
	p.get("/console/").want(t, http.StatusOK, "6 calls were approved here in the last ten minutes")
}

// CON-02: a question that nobody waits for any more says so, in the list and on its page, and can
// still be answered as it was shown; one that nobody answered says that it timed out.
func TestAQuestionNobodyWaitsForIsMarked(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	p := w.signIn("approver")
	q := w.ask("s")
	if page := p.get("/console/"); strings.Contains(page.body, "data-abandoned") {
		t.Error("marked although nobody ever waited")
	}
	before := p.form("/console/q/"+q.ID, "/console/q/"+q.ID)
	body := map[string]any{"ctx": map[string]any{"sessionKey": "s", "agentId": "claude", "wait": 1}, "event": map[string]any{
		"toolName": "send_email", "params": map[string]any{"to": evil, "subject": "Bread", "body": "Good bread"}, "toolCallId": "c2",
	}}
	if status, text := w.api(http.MethodPost, "/v1/hooks/before_tool_call", w.app.Tokens.Agent, body, nil); status != http.StatusOK {
		t.Fatalf("got %d %s", status, text)
	}
	p.get("/console/").want(t, http.StatusOK, "data-abandoned", "nobody waits")
	p.get("/console/q/"+q.ID).want(t, http.StatusOK, "no longer waits for your answer")
	before.Set("do", "deny") // the form of the page as it was
	p.post("/console/q/"+q.ID, before).want(t, http.StatusOK, "Denied")
}
