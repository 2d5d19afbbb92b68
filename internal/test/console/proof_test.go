package console_test

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/installation"
)

// enrol enrols a passkey in the tab.
func (b *tab) enrol(name string) {
	b.t.Helper()
	b.open("/console/keys")
	b.run(chromedp.SendKeys(chromedp.CSS(`form[data-form=enrol] input[name=what]`), name))
	b.click(`form[data-form=enrol] button`)
	b.until(`document.querySelector('table caption')?.textContent === 'Passkeys' && document.querySelector('table').innerText.includes('` + name + `')`)
}

// CON-24 CON-25
func TestPasskeyIsOverThisQuestion(t *testing.T) {
	w := serve(t, "")
	b := w.browser()
	q, other := w.ask("s"), w.ask("s2")
	b.signIn("approver")
	b.authenticator(true)
	b.enrol("laptop")
	stolenTokens(t, w, q.ID)

	b.open("/console/q/" + q.ID)
	b.see("Approve once with passkey")
	b.click(`button[value=approve]`)
	b.until(`document.body.innerText.includes('APPROVED') || document.querySelector('.problem')?.textContent`)
	if got := w.question(q.ID); got.State != "approved" {
		t.Fatalf("with the key: %s\n%s", got.State, b.text())
	}
	if !strings.Contains(w.answers(), `"kind":"passkey"`) {
		t.Errorf("the log has %s", w.answers())
	}

	for name, c := range map[string]struct{ change, want string }{
		"of another question":  {`data.set('seen', '` + w.seenOf(b, other.ID) + `')`, "has changed since you saw it"},
		"for other minutes":    {`data.set('minutes', '15')`, "did not sign this"},
		"for another note":     {`data.set('note', 'and more')`, "did not sign this"},
		"with a byte flipped":  {`p.signature = p.signature.slice(0, 20) + (p.signature[20] === 'A' ? 'B' : 'A') + p.signature.slice(21)`, "did not sign this"},
		"of nobody's key":      {`p.key = 'AAAA'`, "nobody enrolled this key"},
		"with another nonce":   {`p.nonce = 'A'.repeat(43)`, "too old or was used before"},
		"as it is, but denied": {`data.set('do', 'deny')`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := w.ask("again-" + strings.ReplaceAll(name, " ", "-"))
			out := b.forged(fresh.ID, c.change)
			got := w.question(fresh.ID)
			if c.want == "" && got.State == "denied" {
				return // a denial needs no proof, so a proof does not matter
			}
			if got.State != "pending" || !strings.Contains(out, c.want) {
				t.Errorf("it is %s: %s", got.State, out)
			}
		})
	}
	twice := w.ask("twice")
	if out := b.forged(twice.ID, `again = true`); w.question(twice.ID).State != "approved" || !strings.Contains(out, "approved already") {
		t.Errorf("a proof used twice: %s", out)
	}
	w.verified(t, 2)
}

// stolenTokens tries every token there is, now that a key is enrolled.
func stolenTokens(t *testing.T, w *world, id string) {
	t.Helper()
	for _, token := range []string{w.app.Tokens.Approver, w.app.Tokens.Admin} {
		status, body := w.api(http.MethodPost, "/v1/approvals/"+id, token, map[string]any{"decision": "approve"}, nil)
		if status != http.StatusForbidden || !strings.Contains(body, "proof-required") {
			t.Errorf("a token alone: %d %s", status, body)
		}
	}
	for _, path := range []string{"/v1/sessions/s/reset-trust"} {
		if status, body := w.api(http.MethodPost, path, w.app.Tokens.Admin, nil, nil); status != http.StatusForbidden ||
			!strings.Contains(body, "proof-required") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	denied := w.ask("denied-by-token")
	if status, body := w.api(http.MethodPost, "/v1/approvals/"+denied.ID, w.app.Tokens.Approver,
		map[string]any{"decision": "deny"}, nil); status != http.StatusOK {
		t.Errorf("denying takes no proof: %d %s", status, body)
	}
}

// forged signs an approval of a question in the page and changes something before it is sent.
func (b *tab) forged(id, change string) string {
	b.t.Helper()
	b.open("/console/")
	return js[string](b, `(async () => {
		const form = document.querySelector('#q-`+id+` form[data-form=answer]');
		const from = s => Uint8Array.from(atob(s.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
		const to = b => btoa(String.fromCharCode(...new Uint8Array(b))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
		const ask = new FormData(form); ask.set('do', 'approve'); ask.set('token', form.dataset.token);
		const c = await (await fetch(form.dataset.url, {method: 'POST', body: new URLSearchParams(ask)})).json();
		const got = await navigator.credentials.get({publicKey: {challenge: from(c.challenge), rpId: c.site, userVerification: 'required',
			allowCredentials: c.keys.map(id => ({type: 'public-key', id: from(id)}))}});
		const p = {key: got.id, nonce: c.nonce, client: to(got.response.clientDataJSON),
			authenticator: to(got.response.authenticatorData), signature: to(got.response.signature)};
		const data = new FormData(form); data.set('do', 'approve');
		let again = false;
		`+change+`;
		data.set('proof', JSON.stringify(p));
		const send = async () => (await fetch(form.action, {method: 'POST', body: new URLSearchParams(data)})).text();
		const first = await send();
		return again ? await send() : first;
	})()`)
}

// seenOf is the hash of another question's card.
func (w *world) seenOf(b *tab, id string) string {
	w.t.Helper()
	b.open("/console/q/" + id)
	return js[string](b, `document.querySelector('.card').dataset.seen`)
}

// answers are the records of answers, as the log has them.
func (w *world) answers() string {
	w.t.Helper()
	_, log := w.api(http.MethodGet, "/v1/audit?kind=approval.answered", w.app.Tokens.Reader, nil, nil)
	return log
}

// verified checks the log as audit verify does, and that a changed proof would be found.
func (w *world) verified(t *testing.T, want int) {
	t.Helper()
	log, err := installation.OpenLog(t.Context(), datafolder.Paths{Data: w.data})
	do(t, err)
	defer func() { do(t, log.Close()) }()
	report, err := log.Verify(t.Context(), nil)
	do(t, err)
	if !report.OK() || log.Proofs != want {
		t.Errorf("%d proofs are good, want %d; breaks: %v", log.Proofs, want, report.Breaks)
	}
	var out struct {
		OK bool `json:"ok"`
	}
	if status, body := w.api(http.MethodGet, "/v1/audit/verify", w.app.Tokens.Reader, nil, &out); status != http.StatusOK || !out.OK {
		t.Errorf("verify over HTTP: %s", body)
	}
}

// CON-25
func TestAKeyThatDoesNotKnowThePersonApprovesNothing(t *testing.T) {
	full(t)
	w := serve(t, "")
	b := w.browser()
	q := w.ask("s")
	b.signIn("approver")
	id := b.authenticator(true)
	b.enrol("laptop")
	_, err := chromedp.Call(b.ctx, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: id, IsUserVerified: false})
	do(t, err)
	b.open("/console/q/" + q.ID)
	b.click(`button[value=approve]`)
	b.until(`document.querySelector('.problem')?.textContent`)
	if got := w.question(q.ID); got.State != "pending" {
		t.Errorf("it is %s", got.State)
	}
}

// CON-26
func TestEnrolmentIsClosed(t *testing.T) {
	full(t)
	w := serve(t, "")
	reader := w.signIn("reader")
	reader.get("/console/keys").want(t, http.StatusOK, "The first key is for whoever may approve")
	b := w.browser()
	b.signIn("approver")
	b.authenticator(true)
	b.enrol("laptop")
	p := w.signIn("admin") // with every token there is, and without the key
	f := p.form("/console/keys", "/console/keys")
	f.Set("do", "enrol")
	f.Set("what", "mine")
	f.Set("credential", "{}")
	p.post("/console/keys", f).want(t, http.StatusForbidden, "a further key needs one that is enrolled")
	f.Set("do", "secret")
	f.Set("secret", "a long enough secret")
	p.post("/console/keys", f).want(t, http.StatusBadRequest, "nothing typed counts beside it")
	f.Set("do", "remove")
	f.Set("what", w.keyID())
	p.post("/console/keys", f).want(t, http.StatusForbidden, "takes a proof")

	data := w.data
	w.stop()
	paths := datafolder.Paths{Data: data}
	n, err := installation.ForgetKeys(t.Context(), paths, "tester")
	if err != nil || n != 1 {
		t.Fatalf("forgot %d, %v", n, err)
	}
	again := serveOn(t, data, "")
	l := again.reader()
	l.get("/console/").want(t, http.StatusOK, "All keys were forgotten from the command line")
}

// reader signs in with the token that lies on the disk.
func (w *world) reader() *person { w.t.Helper(); return w.signIn("reader") }

func (w *world) keyID() string {
	w.t.Helper()
	_, log := w.api(http.MethodGet, "/v1/audit?kind=person.acted", w.app.Tokens.Reader, nil, nil)
	_, rest, _ := strings.Cut(log, `"key":{"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// CON-24
func TestWithoutAServerAnApprovalNeedsTheProofToo(t *testing.T) {
	t.Parallel()
	w := serve(t, "approvals:\n  proof: passkey\n")
	q := w.ask("s")
	w.stop()
	log, err := installation.OpenLogForAnswers(t.Context(), datafolder.Paths{Data: w.data, Config: w.data + "/tidemark.yaml"})
	do(t, err)
	defer func() { do(t, log.Close()) }()
	_, err = log.Monitor.Answer(t.Context(), voteFor(q, true))
	if err == nil || !strings.Contains(err.Error(), "takes a proof") {
		t.Errorf("approved offline: %v", err)
	}
	if _, err := log.Monitor.Answer(t.Context(), voteFor(q, false)); err != nil {
		t.Errorf("denied offline: %v", err)
	}
}

// CON-24: a policy that allows what cannot be approved is not let in by a reload, through which
// door ever; one that is in force already is.
func TestAnotherPolicyTakesTheProofToo(t *testing.T) {
	t.Parallel()
	const proven = "approvals:\n  proof: passkey\n"
	w := serve(t, proven)
	file := w.data + "/tidemark.yaml"
	was := w.app.Monitor.Policy().Version()
	for text, status := range map[string]int{
		proven + "# only a comment\n": http.StatusOK,
		proven + "preset: quiet\n":    http.StatusForbidden,
		"preset: quiet\n":             http.StatusForbidden,
	} {
		do(t, os.WriteFile(file, []byte(text), 0o600))
		if got, body := w.api(http.MethodPost, "/v1/policy/reload", w.app.Tokens.Admin, nil, nil); got != status {
			t.Errorf("%s: got %d, want %d: %s", text, got, status, body)
		}
		_, err := w.app.Reload(t.Context()) // as a signal does
		if errors.Is(err, engine.ErrProof) != (status == http.StatusForbidden) {
			t.Errorf("%s: by a signal: %v", text, err)
		}
		if now := w.app.Monitor.Policy().Version(); now != was {
			t.Fatalf("%s: another policy is in force", text)
		}
	}
}
