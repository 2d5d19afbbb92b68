package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/question"
)

// asksMore has the agent of a session that asks already ask about further mails.
func (w *world) asksMore(session string, n int) []engine.Question {
	w.t.Helper()
	var out []engine.Question
	for i := range n {
		subject := fmt.Sprintf("Bread %d of %s.", i, session)
		w.hook(session, "before_tool_call", map[string]any{"toolName": "send_email", "toolCallId": fmt.Sprint("m", i),
			"params": map[string]any{"to": evil, "subject": subject, "body": "Good bread"}})
		for _, q := range w.questions() {
			if strings.Contains(q.Args, subject) {
				out = append(out, q)
			}
		}
	}
	if len(out) != n {
		w.t.Fatalf("%d of %d calls were asked about", len(out), n)
	}
	return out
}

const several = "/console/several"

func together(list ...engine.Question) string {
	q := url.Values{}
	for _, x := range list {
		q.Add("id", x.ID)
	}
	return several + "?" + q.Encode()
}

// ticked is the form of the page that shows questions together; its fields may come several times.
func (p *person) ticked(do string, list ...engine.Question) url.Values {
	p.w.t.Helper()
	a := p.get(together(list...))
	forms := formOf.FindAllStringSubmatch(a.body, -1)
	i := slices.IndexFunc(forms, func(f []string) bool { return f[1] == several && strings.Contains(f[2], `value="`+do+`"`) })
	if i < 0 {
		p.w.t.Fatalf("no form to %s: %d\n%s", do, a.status, a.body)
	}
	out := url.Values{"do": {do}}
	for _, h := range fields.FindAllStringSubmatch(forms[i][2], -1) {
		out.Add(h[1], h[2])
	}
	return out
}

// states are those of questions, as one text.
func (w *world) states(list ...engine.Question) string {
	w.t.Helper()
	var out []string
	for _, q := range list {
		out = append(out, w.question(q.ID).State)
	}
	return strings.Join(out, " ")
}

// BEY-10: a few questions of one conversation are answered at once: all of them or none.
func TestSeveralQuestionsAreAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	first := w.ask("s")
	list := append(w.asksMore("s", 4), first)
	p, reader := w.signIn("approver"), w.signIn("reader")
	p.get("/console/").want(t, http.StatusOK, `form="several"`, "Answer those ticked together")
	p.get(together(list[:2]...)).want(t, http.StatusOK, "Questions of one conversation: 2", "Bread 0 of s", "Bread 1 of s", "Approve all 2, once each",
		list[0].Digest, list[1].Digest)
	f := reader.ticked("deny", list[:2]...)
	f.Set("do", "approve")
	reader.post(several, f).want(t, http.StatusForbidden, "can only read and deny")
	f = p.ticked("approve", list[:2]...)
	f.Add("id", list[2].ID) // which the page did not show
	p.post(several, f).want(t, http.StatusConflict, "has changed since you saw it")
	f = p.ticked("approve", list[:2]...)
	f["seen"] = []string{f["seen"][1], f["seen"][0]}
	p.post(several, f).want(t, http.StatusConflict, "has changed since you saw it")
	f = p.ticked("approve", list[:2]...)
	f.Set("do", "maybe")
	p.post(several, f).want(t, http.StatusBadRequest, "Say approve or deny")
	if got := w.states(list[:3]...); got != "pending pending pending" {
		t.Fatalf("they are %s", got)
	}
	f = p.ticked("approve", list[1], list[2])
	p.votes(list[2], "deny", nil).want(t, http.StatusOK)
	p.post(several, f).want(t, http.StatusConflict, "it is denied already")
	if got := w.states(list[:3]...); got != "pending pending denied" {
		t.Fatalf("one was answered meanwhile: they are %s", got)
	}
	p.post(several, p.ticked("approve", list[:2]...)).want(t, http.StatusOK, "Approved: send_email")
	reader.post(several, reader.ticked("deny", list[3:]...)).want(t, http.StatusOK, "Denied: send_email")
	if got := w.states(list...); got != "approved approved denied denied denied" {
		t.Errorf("in the end they are %s", got)
	}
}

// BEY-10: what is final, dangerous, runs a command or is of another conversation is approved alone.
func TestWhatIsApprovedAlone(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	p := w.signIn("approver")
	mail := w.ask("s")
	post := func(decision string, list ...engine.Question) (int, string) {
		ids := []string{}
		for _, q := range list {
			ids = append(ids, q.ID)
		}
		return w.api(http.MethodPost, "/v1/approvals", w.app.Tokens.Approver, map[string]any{"ids": ids, "decision": decision}, nil)
	}
	for name, c := range graveCalls {
		session := "s-" + name
		q := w.asks(session, c.said, "https://bakery.example", c.text, c.tool, c.args)
		beside := w.asksMore(session, 1)[0]
		if strings.Contains(p.get("/console/").body, `name="id" value="`+q.ID+`"`) {
			t.Errorf("%s can be ticked", name)
		}
		p.get(together(q, beside)).want(t, http.StatusConflict, "approved one by one")
		if status, text := post("approve", q, beside); status != http.StatusConflict || !strings.Contains(text, "one-by-one") {
			t.Errorf("%s at the API: %d %s", name, status, text)
		}
		if got := w.states(q, beside); got != "pending pending" {
			t.Errorf("%s: they are %s", name, got)
		}
	}
	other := w.ask("s2")
	p.get(together(mail, other)).want(t, http.StatusConflict, "another session")
	p.get(together(mail, mail)).want(t, http.StatusConflict, "named twice")
	p.get(several).want(t, http.StatusBadRequest, "No question was ticked")
	many := w.asksMore("s", question.MaxTogether+1)
	p.get(together(many...)).want(t, http.StatusConflict, "At most")
	for name, c := range map[string]struct {
		list []engine.Question
		want int
	}{
		"of two sessions": {[]engine.Question{mail, other}, http.StatusBadRequest}, "none": {nil, http.StatusBadRequest},
		"one twice": {[]engine.Question{mail, mail}, http.StatusConflict}, "too many": {many, http.StatusConflict},
		"one that nobody knows": {[]engine.Question{mail, {ID: "ask-none"}}, http.StatusNotFound},
	} {
		if status, text := post("approve", c.list...); status != c.want {
			t.Errorf("%s at the API: %d %s", name, status, text)
		}
	}
	if status, text := post("approve", many[:2]...); status != http.StatusOK || w.states(many[:3]...) != "approved approved pending" {
		t.Errorf("two at the API: %d %s, %s", status, text, w.states(many[:3]...))
	}
}

// CON-25: one touch is over exactly these questions.
func TestOneTouchIsOverTheseQuestions(t *testing.T) {
	w := serve(t, "")
	b := w.browser()
	w.ask("s")
	list := w.asksMore("s", 3)
	b.signIn("approver")
	b.authenticator(true)
	b.enrol("laptop")
	if status, text := w.api(http.MethodPost, "/v1/approvals", w.app.Tokens.Admin, map[string]any{
		"ids": []string{list[0].ID, list[1].ID}, "decision": "approve"}, nil); status != http.StatusForbidden || !strings.Contains(text, "proof-required") {
		t.Errorf("a token alone: %d %s", status, text)
	}
	b.open("/console/")
	for _, q := range list[:2] {
		b.click(`input[form=several][value="` + q.ID + `"]`)
	}
	b.click(`#several button`)
	b.until(`location.pathname === '/console/several' && document.body.innerText.includes('Approve all')`)
	b.see("Questions of one conversation: 2", "Bread 0 of s", "Bread 1 of s", "Approve all 2, once each, with one touch")
	b.click(`button[value=approve]`)
	b.until(`document.body.innerText.includes('Approved: send_email') || document.querySelector('.problem')?.textContent`)
	if got := w.states(list...); got != "approved approved pending" {
		t.Fatalf("with one touch: %s\n%s", got, b.text())
	}
	if log := w.answers(); strings.Count(log, `"kind":"passkey"`) != 1 || !strings.Contains(log, list[0].ID) || !strings.Contains(log, list[1].ID) {
		t.Errorf("the log has %s", log)
	}

	good, reader := 1, w.signIn("reader")
	for name, c := range map[string]struct{ change, want, states string }{
		"with one in the place of another": {`data.set('id', C.id); data.set('seen', C.seen); add(B)`, "did not sign this", "pending pending pending"},
		"for one more":                     {`add(C)`, "did not sign this", "pending pending pending"},
		"for one less":                     {`data.delete('id'); data.delete('seen'); add(A)`, "did not sign this", "pending pending pending"},
		"for one alone, on its own page":   {`alone = A`, "did not sign this", "pending pending pending"},
		"for another note":                 {`data.set('note', 'and more')`, "did not sign this", "pending pending pending"},
		"that was shown otherwise":         {`const s = data.getAll('seen'); data.delete('seen'); s.reverse().forEach(x => data.append('seen', x))`, "has changed since you saw it", "pending pending pending"},
		"twice":                            {`again = true`, "approved already", "approved approved pending"},
	} {
		t.Run(name, func(t *testing.T) {
			session := "again-" + strings.NewReplacer(" ", "-", ",", "").Replace(name)
			w.ask(session)
			fresh := w.asksMore(session, 3)
			out := b.forgedTogether(reader, fresh, c.change)
			if got := w.states(fresh...); got != c.states || !strings.Contains(out, c.want) {
				t.Errorf("they are %s: %s", got, out)
			}
		})
		if strings.HasPrefix(c.states, "approved") {
			good++
		}
	}
	w.ask("late")
	late := w.asksMore("late", 3)
	out := b.forgedTogether(reader, late, `await deny(B)`)
	if got := w.states(late...); got != "pending denied pending" || !strings.Contains(out, "denied already") {
		t.Errorf("one was answered meanwhile: they are %s: %s", got, out)
	}
	w.verified(t, good)
}

// forgedTogether signs an approval of the first two of three questions in the page that shows them, and changes something before
// it is sent.
func (b *tab) forgedTogether(reader *person, list []engine.Question, change string) string {
	b.t.Helper()
	names := []string{}
	for i, q := range list {
		path := "/console/q/" + q.ID
		names = append(names, fmt.Sprintf(`const %c = {id: '%s', seen: '%s'};`, 'A'+i, q.ID, reader.form(path, path).Get("seen")))
	}
	b.open(together(list[:2]...))
	return js[string](b, `(async () => {
		`+strings.Join(names, "\n")+`
		const form = document.querySelector('form[data-form=prove]');
		const from = s => Uint8Array.from(atob(s.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
		const to = b => btoa(String.fromCharCode(...new Uint8Array(b))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
		const post = async (url, data) => (await fetch(url, {method: 'POST', body: new URLSearchParams(data)})).text();
		const page = async q => { const t = await (await fetch('/console/q/' + q.id)).text();
			return /name="token" value="([^"]*)"/.exec(t.slice(t.indexOf('action="/console/q/' + q.id)))[1]; };
		const deny = async q => post('/console/q/' + q.id, {do: 'deny', seen: q.seen, token: await page(q)});
		const ask = new FormData(form); ask.set('do', 'approve'); ask.set('token', form.dataset.token);
		const c = await (await fetch(form.dataset.url, {method: 'POST', body: new URLSearchParams(ask)})).json();
		const got = await navigator.credentials.get({publicKey: {challenge: from(c.challenge), rpId: c.site, userVerification: 'required',
			allowCredentials: c.keys.map(id => ({type: 'public-key', id: from(id)}))}});
		const p = {key: got.id, nonce: c.nonce, client: to(got.response.clientDataJSON),
			authenticator: to(got.response.authenticatorData), signature: to(got.response.signature)};
		let data = new FormData(form), again = false, alone = null, url = form.action;
		const add = q => { data.append('id', q.id); data.append('seen', q.seen); };
		`+change+`;
		if (alone) { url = '/console/q/' + alone.id; data = new FormData(); data.set('seen', alone.seen); data.set('token', await page(alone)); }
		data.set('do', 'approve');
		data.set('proof', JSON.stringify(p));
		const first = await post(url, data);
		return again ? await post(url, data) : first;
	})()`)
}
