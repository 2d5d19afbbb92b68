package console_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tidemark/tidemark/internal/test/telegramtest"
)

// CON-06 BEY-10: two people in browsers of their own, the route that the command line uses and a chat answer one question at
// once: one answer counts, and all four say which, and whose.
func TestOneOutcomeEverywhere(t *testing.T) {
	bot := telegramtest.New(t)
	w := serve(t, fmt.Sprintf("telegram: {botToken: '%s', chatId: '%d', allowedUserIds: [7], baseUrl: '%s'}\n", telegramtest.Token,
		telegramtest.Chat, bot.URL()))
	one := w.browser()
	two := w.tabIn(chromium.ctx, chromedp.WithNewBrowserContext())
	for i, b := range []*tab{one, two} {
		token := w.add([]string{"ada", "bob"}[i], "approver")
		b.open("/console/login")
		b.run(chromedp.SendKeys(chromedp.CSS(`#code`), token))
		b.click(`#login button`)
		b.until(`location.pathname === '/console/' && document.querySelector('#live')`)
	}
	q := w.ask("s")
	for _, b := range []*tab{one, two} {
		b.until(`document.querySelector('#q-` + q.ID + ` button[value=approve]')`)
	}
	shown := bot.Message(1)
	// Whoever is quicker takes the buttons away from the others: a page that has none any more has nothing to click.
	began := time.Now()
	var all sync.WaitGroup
	for _, act := range []func(){
		func() { bot.Tap(telegramtest.User{ID: 7, Name: "Owner"}, shown, "Deny") },
		func() {
			w.api(http.MethodPost, "/v1/approvals/"+q.ID, w.app.Tokens.Approver, map[string]any{"decision": "deny"}, nil)
		},
		func() { js[bool](one, `document.querySelector('#q-`+q.ID+` button[value=approve]')?.click(), true`) },
		func() { js[bool](two, `document.querySelector('#q-`+q.ID+` button[value=deny]')?.click(), true`) },
	} {
		all.Go(act)
	}
	all.Wait()
	for _, b := range []*tab{one, two} {
		b.until(`document.querySelector('#q-` + q.ID + `') && !document.querySelector('#q-` + q.ID + `[data-state=pending]')`)
	}
	edited := bot.Edited(1)
	t.Logf("all four knew after %s", time.Since(began))
	end := w.question(q.ID)
	if end.State != "denied" && end.State != "approved" || end.By == "" {
		t.Fatalf("it is %s by %q", end.State, end.By)
	}
	if n := strings.Count(w.answers(), `"verdict"`); n != 1 {
		t.Errorf("%d answers count", n)
	}
	_, name, named := strings.Cut(end.By, ":")
	if !named {
		name = end.By
	}
	for _, b := range []*tab{one, two} {
		if got := js[string](b, `document.querySelector('#q-`+q.ID+`').dataset.state`); got != end.State {
			t.Errorf("a browser shows %s, and it is %s", got, end.State)
		}
		if got := js[string](b, `document.querySelector('#q-`+q.ID+`').innerText`); !strings.Contains(got, name) {
			t.Errorf("a browser does not say that it was %s: %s", end.By, got)
		}
	}
	if len(edited.Buttons) != 0 {
		t.Errorf("the chat still has buttons: %+v", edited)
	}
	if own := end.By == "telegram:7"; !own && !strings.Contains(edited.Text, "by "+end.By) {
		t.Errorf("the chat does not say that it was %s: %s", end.By, edited.Text)
	}
}

// CON-07: what is answered after its time is refused in words, whatever the page still shows.
func TestALateAnswerIsRefusedInWords(t *testing.T) {
	full(t) // a question lives ten seconds at least
	w := serve(t, "approvalTtlSeconds: 10\nquestionTtlSeconds: 10\n")
	q := w.ask("s")
	p := w.signIn("approver")
	path := "/console/q/" + q.ID
	f := p.form(path, path)
	f.Set("do", "approve")
	for deadline := time.Now().Add(patience); w.question(q.ID).State == "pending" && time.Now().Before(deadline); {
		time.Sleep(200 * time.Millisecond)
	}
	p.post(path, f).want(t, http.StatusConflict, "expired")
	if n := strings.Count(w.answers(), `"verdict"`); n != 0 {
		t.Errorf("%d answers count", n)
	}
}

// gate stands before a server and can be shut, as a network can.
type gate struct {
	to string
	l  net.Listener

	mu    sync.Mutex
	shut  bool       // guarded by mu
	conns []net.Conn // guarded by mu
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	do(t, err)
	g := &gate{to: to, l: l}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { g.carry(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		g.set(true)
		running.Wait()
	})
	return g
}

func (g *gate) carry(c net.Conn) {
	defer c.Close()
	s, err := net.Dial("tcp", g.to)
	if err != nil {
		return
	}
	defer s.Close()
	g.mu.Lock()
	if g.shut {
		g.mu.Unlock()
		return
	}
	g.conns = append(g.conns, c, s)
	g.mu.Unlock()
	go func() { _, _ = io.Copy(s, c); _ = s.Close() }()
	_, _ = io.Copy(c, s)
}

// set shuts or opens the gate; shut, it cuts what goes through.
func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	if shut {
		for _, c := range g.conns {
			_ = c.Close()
		}
		g.conns = nil
	}
}

// CON-11: a page whose server cannot be reached says so; when it can again the page catches up by itself.
func TestAPageCatchesUp(t *testing.T) {
	full(t)
	w := serve(t, "")
	g := newGate(t, strings.TrimPrefix(w.url, "http://"))
	_, port, err := net.SplitHostPort(g.l.Addr().String())
	do(t, err)
	w.base = "http://tidemark.localhost:" + port // browsers come this way
	b := w.browser()
	b.open("/console/login")
	b.run(chromedp.SendKeys(chromedp.CSS(`#code`), w.add("ada", "approver")))
	b.click(`#login button`)
	b.until(`location.pathname === '/console/' && document.querySelector('#live')`)
	first := w.ask("s1")
	b.until(`document.querySelector('#q-` + first.ID + `')`)
	js[bool](b, `window.stayed = true`)
	g.set(true)
	b.until(`document.querySelector('#live').textContent.includes('Not live since')`)
	second := w.ask("s2")
	w.api(http.MethodPost, "/v1/approvals/"+first.ID, w.app.Tokens.Approver, map[string]any{"decision": "deny"}, nil)
	g.set(false)
	b.until(`document.querySelector('#q-` + second.ID + `') && !document.querySelector('#q-` + first.ID + `[data-state=pending]')`)
	b.until(`document.querySelector('#live').textContent === ''`)
	if !js[bool](b, `window.stayed === true`) {
		t.Error("the page was loaded again")
	}
}
