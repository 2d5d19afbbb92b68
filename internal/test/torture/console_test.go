package torture_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// tab is a browser's: it has cookies, and each of its requests may go to another server.
type tab struct {
	*http.Client
	base string
}

func openTab(t testing.TB, b *balancer) *tab {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := b.listener.Addr().String()
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, at)
	}
	return &tab{
		Client: &http.Client{Jar: jar, Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}},
		base:   "http://tidemark.localhost:" + port,
	}
}

// get is a page and where it was found in the end.
func (c *tab) get(t testing.TB, path string) (page, at string) {
	t.Helper()
	return c.send(t, http.MethodGet, path, "")
}

// post sends a form, and says where that led.
func (c *tab) post(t testing.TB, path string, form url.Values) (page, at string) {
	t.Helper()
	return c.send(t, http.MethodPost, path, form.Encode())
}

func (c *tab) send(t testing.TB, method, path, form string) (page, at string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.base+path, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", c.base)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(raw), res.Request.URL.Path
}

var (
	digitsOf = regexp.MustCompile(`id="digits"[^>]*>(\d+)<`)
	tokenOf  = regexp.MustCompile(`action="/console/logout"[^>]*><input type="hidden" name="token" value="([^"]+)"`)
)

// CON-27 BEY-10: behind a plain balancer the console of three servers is one: a link, its digits, the pages, a form and the end of it may each
// be served by another of them, and who is signed out is so everywhere, also where a stream is open.
func TestTheConsoleBehindABalancer(t *testing.T) {
	r := startTroupe(t, pgtest.Start(t), 3)
	b := balance(t, r.servers)
	door := &server{
		house: r.houses[0], url: "http://" + b.listener.Addr().String(),
		http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	c := openTab(t, b)
	var link struct {
		ID   string `json:"id"`
		Code string `json:"code"`
	}
	if err := door.call(t.Context(), http.MethodPost, "/v1/console/links", nil, &link); err != nil {
		t.Fatal(err)
	}
	page, at := c.post(t, "/console/login", url.Values{"code": {link.Code}})
	shown := digitsOf.FindStringSubmatch(page)
	if at != "/console/wait" || shown == nil {
		t.Fatalf("after the code: %s\n%s", at, page)
	}
	var state struct {
		State  string `json:"state"`
		Digits string `json:"digits"`
	}
	if err := door.call(t.Context(), http.MethodGet, "/v1/console/links/"+link.ID, nil, &state); err != nil || state.Digits != shown[1] {
		t.Fatalf("%+v, %v; the page shows %s", state, err, shown[1])
	}
	if err := door.call(t.Context(), http.MethodPost, "/v1/console/links/"+link.ID, fields{"match": true}, &state); err != nil || state.State != "confirmed" {
		t.Fatalf("%+v, %v", state, err)
	}
	for range 6 {
		if page, at = c.get(t, "/console/keys"); at != "/console/keys" {
			t.Fatalf("a page of another server: %s\n%s", at, page)
		}
	}
	ended := c.follow(t)
	token := tokenOf.FindStringSubmatch(page)
	if token == nil {
		t.Fatalf("there is no way out on\n%s", page)
	}
	if page, at = c.post(t, "/console/logout", url.Values{"token": {token[1]}}); !strings.HasPrefix(at, "/console/login") {
		t.Fatalf("signing out led to %s\n%s", at, page)
	}
	select {
	case text := <-ended:
		if !strings.Contains(text, "signedout") {
			t.Errorf("the streams ended with %q", text)
		}
	case <-time.After(30 * time.Second):
		t.Error("a stream at another server goes on")
	}
}

// follow opens a stream at each server, and tells how the last of them to end has ended.
func (c *tab) follow(t testing.TB) <-chan string {
	t.Helper()
	const servers = 3
	last, out := make(chan string, servers), make(chan string, 1)
	for range servers {
		res, err := c.Get(c.base + "/console/stream")
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(res.Body)
		if !lines.Scan() {
			t.Fatalf("no stream: %s", res.Status)
		}
		go func() {
			defer res.Body.Close()
			text := ""
			for lines.Scan() {
				if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
					text = event
				}
			}
			last <- text
		}()
	}
	go func() {
		text := ""
		for range servers {
			text = <-last
		}
		out <- text
	}()
	return out
}
