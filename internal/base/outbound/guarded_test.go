package outbound_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/internal/base/outbound"
)

func TestPublicAddresses(t *testing.T) {
	for ip, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"0.0.0.0": false, "255.255.255.255": false, "224.0.0.1": false, "198.18.0.1": false, "192.0.2.1": false,
		"::1": false, "::": false, "::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false, "fe80::1": false, "fd00:ec2::254": false, "ff02::1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:0:1::": false, "2001:db8::1": false, "fe80::1%eth0": false,
	} {
		if got := outbound.Public(netip.MustParseAddr(ip)); got != want {
			t.Errorf("Public(%s) = %v, want %v", ip, got, want)
		}
	}
}

// counter counts the connections to a listener of this machine.
type counter struct {
	net.Listener
	n atomic.Int32
}

func (c *counter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

func counted(t *testing.T, h http.Handler) (*httptest.Server, *counter) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	c := &counter{Listener: s.Listener}
	s.Listener = c
	s.Start()
	t.Cleanup(s.Close)
	return s, c
}

// MCP-30
func TestAGuardedClientConnectsToNobodyInside(t *testing.T) {
	s, c := counted(t, http.NotFoundHandler())
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	client := outbound.Guarded(outbound.Options{}, false)
	for _, url := range []string{
		s.URL, "https://127.0.0.1:" + port, "https://localhost:" + port, "https://[::ffff:127.0.0.1]:" + port, "https://[::1]:" + port,
		"https://169.254.169.254/latest", "https://10.0.0.1", "https://0.0.0.0:" + port, "http://8.8.8.8", "file:///etc/passwd", "ftp://8.8.8.8",
		"https://user:secret@8.8.8.8",
	} {
		res, err := client.Get(url)
		if err == nil {
			_ = res.Body.Close()
			t.Errorf("%s was reached", url)
		}
	}
	if n := c.n.Load(); n != 0 {
		t.Errorf("%d connections were made, want none", n)
	}
	if _, err := client.Get("https://localhost:" + port); !errors.Is(err, outbound.ErrNotPublic) { // a name that leads inside
		t.Errorf("got %v, want that the address is not public", err)
	}
}

// MCP-30
func TestAGuardedClientBoundsAnswersAndRedirects(t *testing.T) {
	hops := 0
	mux := http.NewServeMux()
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) {
		hops++
		http.Redirect(w, r, "/loop", http.StatusFound)
	})
	mux.HandleFunc("/once", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/inside", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
	})
	mux.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Method) })
	mux.HandleFunc("/huge", func(w http.ResponseWriter, _ *http.Request) {
		for range 64 {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	s, _ := counted(t, mux)
	client := outbound.Guarded(outbound.Options{}, true)
	get := func(path string) (string, error) {
		res, err := client.Get(s.URL + path)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		return string(raw), err
	}
	if got, err := get("/once"); err != nil || got != "GET" {
		t.Errorf("one redirect: got %q, %v", got, err)
	}
	if _, err := get("/loop"); err == nil || hops > 5 {
		t.Errorf("a loop: got %v after %d hops", err, hops)
	}
	if _, err := get("/inside"); err == nil {
		t.Error("a redirect inside was followed")
	}
	if raw, err := get("/huge"); err == nil || len(raw) > 1<<20 {
		t.Errorf("a huge answer: got %d bytes, %v", len(raw), err)
	}
	if res, err := client.Post(s.URL+"/once", "text/plain", strings.NewReader("code=secret")); err == nil {
		_ = res.Body.Close()
		t.Error("what was sent was sent on")
	}
}
