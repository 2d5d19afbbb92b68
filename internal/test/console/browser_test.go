package console_test

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// chromium is one browser for all tests of this package: a start costs seconds.
var chromium struct {
	once sync.Once
	ctx  context.Context
	stop context.CancelFunc
	err  error
}

func TestMain(m *testing.M) {
	forget := believeTests()
	code := m.Run()
	forget()
	if chromium.stop != nil {
		chromium.stop()
	}
	os.Exit(code)
}

// tab is one tab of the browser, for one test.
type tab struct {
	t   *testing.T
	w   *world
	ctx context.Context

	framed    bool // pages of others are shown on purpose
	elsewhere bool // and this one goes to pages of others itself

	mu   sync.Mutex
	left []string // requests that went elsewhere
	csp  []string // what the content rules stopped
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patience bounds one step in the browser on a loaded machine.
const patience = 40 * time.Second

func (w *world) browser() *tab {
	w.t.Helper()
	bin, err := exec.LookPath("chromium")
	if err != nil {
		w.t.Skip("no chromium here: scripts/setup installs it")
	}
	chromium.once.Do(func() {
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(bin), chromedp.NoSandbox,
			chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1")) // CON-33
		ctx, stopAll := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, stop := chromedp.NewContext(ctx)
		chromium.ctx, chromium.stop = ctx, func() { stop(); stopAll() }
		chromium.err = chromedp.Do(ctx)
	})
	if chromium.err != nil {
		w.t.Fatalf("start chromium: %v", chromium.err)
	}
	return w.tabIn(chromium.ctx)
}

func (w *world) tabIn(parent context.Context, opts ...chromedp.ContextOption) *tab {
	w.t.Helper()
	ctx, stop := chromedp.NewContext(parent, opts...)
	w.t.Cleanup(stop)
	b := &tab{t: w.t, w: w, ctx: ctx}
	do(w.t, chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900)))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	do(w.t, err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	do(w.t, err)
	requests, entries := chromedp.Events(ctx, network.RequestWillBeSent), chromedp.Events(ctx, log.EntryAdded)
	go func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			if u := e.Request.URL; !strings.HasPrefix(u, w.base) && !strings.HasPrefix(u, "about:") && !strings.HasPrefix(u,
				"data:") && !strings.HasPrefix(u, "file:") {
				b.mu.Lock()
				b.left = append(b.left, u)
				b.mu.Unlock()
			}
		}
	}()
	go func() {
		for e, err := range entries {
			if err != nil {
				return
			}
			if text := e.Entry.Text; strings.Contains(text, "Content Security Policy") || strings.Contains(text, "TrustedHTML") {
				b.mu.Lock()
				b.csp = append(b.csp, text)
				b.mu.Unlock()
			}
		}
	}()
	w.t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.left) > 0 && !b.framed && !b.elsewhere {
			w.t.Errorf("requests left this server: %v", b.left)
		}
		if len(b.csp) > 0 && !b.framed {
			w.t.Errorf("the content rules stopped something: %v", b.csp)
		}
	})
	return b
}

// full skips what takes long, unless all of it is asked for.
func full(t *testing.T) {
	t.Helper()
	if os.Getenv("CONSOLE_TESTS") != "full" {
		t.Skip("it takes long: make console runs it")
	}
}

// run does steps, each within patience.
func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, s := range steps {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		err := chromedp.Do(ctx, s)
		cancel()
		do(b.t, err)
	}
}

func (b *tab) open(path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.w.base + path))
}

// js evaluates an expression, whose promise is awaited.
func js[T any](b *tab, expr string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expr, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expr, err)
	}
	return out
}

// until waits for a condition on the page, also over a reload.
func (b *tab) until(cond string) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+cond+")"))
		cancel()
		if err == nil && ok {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("waited in vain for %s on:\n%s", cond, js[string](b, "document.body.innerText"))
}

// signIn signs the tab in: with make console the way a private file does, else with the cookie of somebody who typed the
// code, which spares the second after which the page of the digits looks again. TestTheCodeIsInNoHistory goes the whole way always.
func (b *tab) signIn(role string) {
	b.t.Helper()
	if os.Getenv("CONSOLE_TESTS") == "full" {
		b.signInByLink(role)
		return
	}
	at, err := url.Parse(b.w.base + "/console/")
	do(b.t, err)
	yes := true
	for _, c := range b.w.signIn(role).http.Jar.Cookies(at) {
		_, err := chromedp.Call(b.ctx, network.SetCookie, network.SetCookieParams{
			Name: c.Name, Value: c.Value, URL: at.String(), Path: "/console", HTTPOnly: &yes, SameSite: network.CookieSameSiteStrict,
		})
		do(b.t, err)
	}
	b.open("/console/")
}

// signInByLink has the code behind the #.
func (b *tab) signInByLink(role string) {
	b.t.Helper()
	l := b.w.link(role)
	b.run(chromedp.Navigate(l.URL + "#" + l.Code))
	b.until(`document.querySelector('#digits')`)
	b.w.confirm(l, true)
	b.until(`location.pathname === '/console/'`)
}

func (b *tab) text() string { b.t.Helper(); return js[string](b, "document.body.innerText") }

func (b *tab) see(parts ...string) {
	b.t.Helper()
	text := b.text()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			b.t.Errorf("the page lacks %q:\n%s", p, text)
		}
	}
}

func (b *tab) click(sel string) { b.t.Helper(); b.run(chromedp.Click(chromedp.CSS(sel))) }

func (b *tab) keys(keys string) { b.t.Helper(); b.run(chromedp.KeyEvent(keys)) }

func (b *tab) size(width, height int64) {
	b.t.Helper()
	b.run(chromedp.EmulateViewport(width, height))
}

// prefers sets light or dark, and whether things may move.
func (b *tab) prefers(scheme string, still bool) {
	b.t.Helper()
	motion := "no-preference"
	if still {
		motion = "reduce"
	}
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
	}})
	do(b.t, err)
}

// authenticator gives the tab a key that is touched by itself.
func (b *tab) authenticator(verified bool) webauthn.AuthenticatorID {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, webauthn.Enable, webauthn.EnableParams{})
	do(b.t, err)
	out, err := chromedp.Call(b.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: "ctap2", Transport: "internal", HasResidentKey: true, HasUserVerification: true, IsUserVerified: verified,
			AutomaticPresenceSimulation: true,
		},
	})
	do(b.t, err)
	return out.AuthenticatorID
}

// scripts turns script on or off for the tab.
func (b *tab) scripts(off bool) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
	do(b.t, err)
}

// picture keeps a small picture of the page for the documentation, where that is asked for.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("CONSOLE_PICTURES")
	if dir == "" {
		return
	}
	out, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
	do(b.t, err)
	do(b.t, os.MkdirAll(dir, 0o755))
	do(b.t, os.WriteFile(filepath.Join(dir, name+".png"), out.Data, 0o644))
}
