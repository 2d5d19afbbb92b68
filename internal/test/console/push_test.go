package console_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/test/pushtest"
)

// believeTests has servers of tests that speak TLS be believed, as an operator has a service of their own be believed. It
// comes before anything is asked.
func believeTests() func() {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	dir, err := os.MkdirTemp("", "console-roots")
	if err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "roots.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		panic(err)
	}
	if err := os.Setenv("SSL_CERT_FILE", file); err != nil {
		panic(err)
	}
	return func() { _ = os.RemoveAll(dir) }
}

// pushing is a server that tells browsers, and the service that carries it.
func pushing(t *testing.T, more string) (*world, *pushtest.Service) {
	t.Helper()
	s := pushtest.New(t)
	return serve(t, `channels: {push: {contact: "mailto:ops@example.com", services: ["`+s.Host()+`"]}}`+"\n"+more), s
}

// noticed is a server whose page Keys has a browser in its list.
func noticed(t *testing.T) *world {
	t.Helper()
	w, s := pushing(t, "")
	p := w.arrives("carol", "approver")
	_, f := p.subscribes(s)
	p.post("/console/push", f).want(t, http.StatusOK, "This browser gets notices")
	return w
}

// arrives signs somebody in with a token of their own.
func (w *world) arrives(name, role string) *person {
	w.t.Helper()
	p := w.stranger()
	p.post("/console/login", url.Values{"code": {w.add(name, role)}}).want(w.t, http.StatusOK, "Questions")
	return p
}

var senderKey = regexp.MustCompile(`data-key="([^"]+)"`)

// subscribes is the form by which a browser asks to be told, filled as script fills it.
func (p *person) subscribes(s *pushtest.Service) (*pushtest.Browser, url.Values) {
	p.w.t.Helper()
	found := senderKey.FindStringSubmatch(p.get("/console/keys").body)
	if found == nil {
		p.w.t.Fatal("the page has no key for notices")
	}
	b := s.Subscribe(found[1])
	f := p.form("/console/keys", "/console/push")
	for _, form := range formOf.FindAllStringSubmatch(p.get("/console/keys").body, -1) {
		if form[1] == "/console/push" && strings.Contains(form[2], `name="endpoint"`) {
			for _, h := range fields.FindAllStringSubmatch(form[2], -1) {
				f.Set(h[1], h[2])
			}
		}
	}
	f.Set("do", "on")
	f.Set("endpoint", b.Endpoint)
	f.Set("p256dh", b.P256dh)
	f.Set("auth", b.Auth)
	return b, f
}

// BEY-10: whoever is signed in has their browser told; it is told of a question and of its end, by their name, and
// no longer than they have their token.
func TestABrowserIsToldOfQuestions(t *testing.T) {
	w, s := pushing(t, "")
	ada, bob := w.arrives("ada", "approver"), w.arrives("bob", "viewer")
	first, f := ada.subscribes(s)
	ada.post("/console/push", f).want(t, http.StatusOK, "This browser gets notices", "ada, approver", "127.0.0.1")
	second, f := bob.subscribes(s)
	bob.post("/console/push", f).want(t, http.StatusOK, "bob, reader")
	first.Next()
	second.Next()

	q := w.ask("s1")
	for _, b := range []*pushtest.Browser{first, second} {
		if m := b.Next(); m.ID != q.ID || m.Over || strings.Contains(m.Title+m.Body, "send_email") {
			t.Errorf("told %+v", m)
		}
	}
	asked := time.Now()
	if status, text := w.api(http.MethodPost, "/v1/approvals/"+q.ID, w.app.Tokens.Approver, map[string]any{"decision": "deny"}, nil); status != http.StatusOK {
		t.Fatalf("deny: %d %s", status, text)
	}
	for _, b := range []*pushtest.Browser{first, second} {
		if m := b.Next(); m.ID != q.ID || !m.Over {
			t.Errorf("at the end told %+v", m)
		}
	}
	t.Logf("they heard of the answer within %s", time.Since(asked))

	if status, text := w.api(http.MethodDelete, "/v1/people/ada", w.app.Tokens.Admin, nil, nil); status != http.StatusOK {
		t.Fatalf("revoke: %d %s", status, text)
	}
	w.ask("s2")
	second.Next()
	if first.Told() {
		t.Error("somebody without a token is told")
	}
	if faults := s.Faults(); len(faults) > 0 {
		t.Errorf("the service refused: %q", faults)
	}
	page := w.signIn("admin").get("/console/audit?kind=person.acted")
	page.want(t, http.StatusOK, "notices-on", "notices-off")
	if strings.Contains(page.body, "/send/") || strings.Contains(w.log.String(), "/send/") {
		t.Error("the address of a browser stands in a log")
	}
}

// Only a page of ours has a browser be told, for whoever is signed in; others' browsers are an administrator's to remove.
func TestWhoMayHaveABrowserTold(t *testing.T) {
	w, s := pushing(t, "")
	ada, bob := w.arrives("ada", "approver"), w.arrives("bob", "approver")
	_, f := ada.subscribes(s)
	with := func(name, value string) url.Values {
		out := url.Values{}
		for k, v := range f {
			out[k] = v
		}
		out.Set(name, value)
		return out
	}
	foreign := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
	ada.post("/console/push", f, foreign).want(t, http.StatusForbidden)
	ada.post("/console/push", with("token", "x")).want(t, http.StatusForbidden, "not of this session")
	bob.post("/console/push", f).want(t, http.StatusForbidden, "not of this session")
	if a := w.stranger().post("/console/push", f); a.status != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", a.status)
	}
	if status, _ := w.api(http.MethodPost, "/console/push", w.app.Tokens.Admin, nil, nil); status != http.StatusUnauthorized && status != http.StatusForbidden {
		t.Errorf("with a bearer token: %d", status)
	}
	for _, endpoint := range []string{
		"", "http://127.0.0.1/x", "https://127.0.0.1:1/x", "https://169.254.169.254/x", "https://localhost/x", w.url + "/v1/approvals", "https://evil.example/x",
	} {
		ada.post("/console/push", with("endpoint", endpoint)).want(t, http.StatusBadRequest, "cannot be used")
	}
	ada.post("/console/push", with("p256dh", "AAAA")).want(t, http.StatusBadRequest)
	ada.post("/console/push", with("do", "all")).want(t, http.StatusBadRequest, "say what to do")
	if s.Asked() != 0 {
		t.Errorf("%d requests went out", s.Asked())
	}
	ada.post("/console/push", f).want(t, http.StatusOK, "This browser gets notices")

	id := regexp.MustCompile(`<tr data-id="([^"]+)"`).FindStringSubmatch(ada.get("/console/keys").body)[1]
	off := func(p *person) answer {
		_, own := p.subscribes(s)
		return p.post("/console/push", url.Values{"token": own["token"], "do": {"off"}, "what": {id}})
	}
	off(bob).want(t, http.StatusNotFound, "that browser gets no notices")
	off(w.signIn("admin")).want(t, http.StatusOK, "gets no more notices", "No browser gets notices")
}

// A notice leads somebody who is signed out to the question all the same, by way of signing in.
func TestANoticeLeadsThroughSigningIn(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	q, token := w.ask("s"), w.add("ada", "approver")
	p := w.stranger()
	p.get("/console/q/"+q.ID).want(t, http.StatusOK, "Sign in to Tidemark")
	a := p.post("/console/login", url.Values{"code": {token}})
	if a.path != "/console/q/"+q.ID {
		t.Errorf("signed in, they are at %s", a.path)
	}
	if again := p.get("/console/"); again.path != "/console/" {
		t.Errorf("the questions lead to %s", again.path)
	}
	other := w.stranger()
	other.get("/console/q/..%2f..%2fevil").want(t, http.StatusOK, "Sign in to Tidemark")
	if a := other.post("/console/login", url.Values{"code": {token}}); a.path != "/console/" {
		t.Errorf("an address that is none leads to %s", a.path)
	}
}

// The console can be kept as an app: its manifest and its worker are whole, and need nobody signed in.
func TestTheConsoleCanBeInstalled(t *testing.T) {
	t.Parallel()
	w := serve(t, "")
	p := w.stranger()
	var manifest struct {
		Start string `json:"start_url"`
		Scope string `json:"scope"`
		Icons []struct {
			Src   string `json:"src"`
			Type  string `json:"type"`
			Sizes string `json:"sizes"`
		} `json:"icons"`
	}
	a := p.get("/console/manifest.webmanifest")
	if err := strictjson.Unmarshal([]byte(a.body), &manifest); err != nil || a.header.Get("Content-Type") != "application/manifest+json" {
		t.Fatalf("%v, %v", err, a)
	}
	if manifest.Start != "/console/" || manifest.Scope != "/console/" || len(manifest.Icons) != 3 {
		t.Errorf("got %+v", manifest)
	}
	for _, icon := range manifest.Icons {
		if got := p.get(icon.Src); got.status != http.StatusOK || got.header.Get("Content-Type") != icon.Type {
			t.Errorf("%s: %d, %s", icon.Src, got.status, got.header.Get("Content-Type"))
		}
	}
	if worker := p.get("/console/worker.js"); worker.status != http.StatusOK || !strings.Contains(worker.header.Get("Content-Type"), "javascript") ||
		worker.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the worker: %+v", worker)
	}
	if page := w.signIn("reader").get("/console/keys").body; strings.Contains(page, "Send notices to this browser") {
		t.Error("a server that tells no browsers offers to")
	}
}

// BEY-10: in a real browser: the page registers the worker and hands its address over, a message shows a notice, another
// takes its place, and a click opens the question. The browser's own service cannot be had here: who subscribes is played.
func TestANoticeInTheBrowser(t *testing.T) {
	w, s := pushing(t, "")
	b := w.browser()
	_, err := chromedp.Call(b.ctx, browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "notifications"}, Setting: browser.PermissionSettingGranted, Origin: w.base,
	})
	do(t, err)
	registrations := chromedp.Events(b.ctx, serviceworker.WorkerRegistrationUpdated)
	_, err = chromedp.Call(b.ctx, serviceworker.Enable, cdp.Empty{})
	do(t, err)
	b.signIn("approver")
	b.open("/console/keys")
	phone := s.Subscribe(js[string](b, `document.querySelector('form[data-form=tell]').dataset.key`))
	js[bool](b, `(() => {
		let told = null;
		PushManager.prototype.getSubscription = async () => told;
		PushManager.prototype.subscribe = async o => told = {
			endpoint: '`+phone.Endpoint+`', options: o, toJSON: () => ({keys: {p256dh: '`+phone.P256dh+`', auth: '`+phone.Auth+`'}}), unsubscribe: async () => true,
		};
		return true;
	})()`)
	b.click(`form[data-form=tell] button`)
	b.until(`document.querySelector('#browsers')`)
	b.see("Browsers that get notices", "127.0.0.1")
	if hello := phone.Next(); hello.ID != "" {
		t.Errorf("it is greeted with %+v", hello)
	}
	q := w.ask("s")
	told := phone.Next()

	var id serviceworker.RegistrationID
	for e, err := range registrations {
		do(t, err)
		for _, r := range e.Registrations {
			if r.ScopeURL == w.base+"/console/" && !r.IsDeleted {
				id = r.RegistrationID
			}
		}
		if id != "" {
			break
		}
	}
	// deliver has the worker hear a message until the notice is there: the first one of a fresh browser may be shown by nobody.
	deliver := func(m pushtest.Message, want string) {
		t.Helper()
		data, err := strictjson.Marshal(map[string]any{"id": m.ID, "title": m.Title, "body": m.Body, "over": m.Over})
		do(t, err)
		got := ""
		for try := 0; try < 10 && got != want; try++ {
			_, err = chromedp.Call(b.ctx, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{
				Origin: w.base, RegistrationID: id, Data: string(data),
			})
			do(t, err)
			for look := 0; look < 60 && got != want; look++ {
				if got = js[string](b, `shown()`); got != want {
					time.Sleep(50 * time.Millisecond)
				}
			}
		}
		if got != want {
			t.Fatalf("shown is %q, want %q", got, want)
		}
	}
	js[bool](b, `(async () => { globalThis.shown = async () => (await (await navigator.serviceWorker.getRegistration('/console/')).getNotifications())
		.map(n => n.title + '|' + n.tag + '|' + n.silent).join(';'); return true; })()`)
	b.awaits(`navigator.serviceWorker.ready.then(r => r.active.state)`, "activated")
	deliver(told, "A question waits|q-"+q.ID+"|false")
	p := w.signIn("approver")
	p.votes(q, "deny", nil).want(t, http.StatusOK)
	deliver(phone.Next(), "Nothing to do|q-"+q.ID+"|true")
	b.clicked(q.ID)
}

// awaits waits until a promise of the page comes to a value.
func (b *tab) awaits(expr, want string) {
	b.t.Helper()
	got := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if got = js[string](b, expr); got == want {
			return
		}
	}
	b.t.Fatalf("%s is %q, want %q", expr, got, want)
}

// clicked has the worker hear a click on its notice, and looks where it leads: only a real click may open a window.
func (b *tab) clicked(id string) {
	b.t.Helper()
	targets, err := chromedp.Targets(b.ctx)
	do(b.t, err)
	for _, info := range targets {
		if info.Type != "service_worker" || !strings.HasPrefix(info.URL, b.w.base) {
			continue
		}
		ctx, stop := chromedp.NewContext(b.ctx, chromedp.WithTargetID(info.TargetID))
		defer stop()
		path, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(async () => {
			let opened = '';
			self.clients.openWindow = async p => { opened = p; };
			const [notice] = await self.registration.getNotifications();
			const e = new NotificationEvent('notificationclick', {notification: notice});
			const waits = [];
			e.waitUntil = p => waits.push(p);
			self.dispatchEvent(e);
			await Promise.all(waits);
			return opened;
		})()`, chromedp.EvalAwaitPromise))
		do(b.t, err)
		if path != "/console/q/"+id {
			b.t.Errorf("a click leads to %q", path)
		}
		return
	}
	b.t.Error("no worker runs")
}
