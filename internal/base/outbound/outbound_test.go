package outbound_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/outbound"
)

func TestURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://a.example/x?y=z":         "",
		"http://a.example":                "",
		"ftp://a.example":                 "url is not http or https",
		"https:///x":                      "url has no host",
		"https://me:hunter2@a.example":    "url holds credentials: put them beside it, not in it",
		"https://a.example/%zz?k=hunter2": "url cannot be parsed",
	} {
		_, err := outbound.URL(raw)
		if got := text(err); got != want {
			t.Errorf("URL(%q) = %q, want %q", raw, got, want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.8.9.1": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "10.0.0.1": false, "localhost.example": false, "127.0.0.1.example": false, "::": false,
	} {
		if got := outbound.Local(host); got != want {
			t.Errorf("Local(%q) = %v, want %v", host, got, want)
		}
	}
}

func TestPlainHTTPIsExposedOnlyBeyondThisMachine(t *testing.T) {
	for raw, want := range map[string]string{
		"https://a.example": "", "http://127.0.0.1:1/x": "", "http://localhost": "", "http://[::1]": "",
		"http://a.example/?k=hunter2": "plain http to a.example: use https",
	} {
		u, err := outbound.URL(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(outbound.Exposed(u)); got != want {
			t.Errorf("Exposed(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestHeader(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"Authorization", "Bearer x", ""},
		{"X-Other", "a\tb", ""},
		{"", "x", `header name "" is not allowed`},
		{"A B", "x", `header name "A B" is not allowed`},
		{"x-tidemark-hook", "x", "header X-Tidemark-Hook cannot be set"},
		{"content-length", "1", "header Content-Length cannot be set"},
		{"expect", "x", "header Expect cannot be set"},
		{"x-ours", "x", "header X-Ours cannot be set"},
		{"X-A", "hunter2\r\nX-B: 1", "header X-A has a control character"},
	} {
		if got := text(outbound.Header(c.name, c.value, "X-Ours")); got != c.want {
			t.Errorf("Header(%q, %q) = %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

func TestAClientStaysWhereItWasSent(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	client := outbound.Client(outbound.Options{LocalOnly: true})
	defer client.CloseIdleConnections()
	resp, err := client.Post(first.URL, "text/plain", strings.NewReader("secret"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusTemporaryRedirect || asked != 0 {
		t.Errorf("got %d, and %d requests elsewhere; want the redirect itself and none", resp.StatusCode, asked)
	}
}

// A name that leads elsewhere is noticed when it is dialled, whatever it looks like.
func TestLocalOnlyHoldsAtTheDial(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = outbound.Transport(outbound.Options{LocalOnly: true}).DialContext(context.Background(), "tcp", net.JoinHostPort("192.0.2.1", port))
	if err == nil || !strings.Contains(err.Error(), "plain http beyond this machine") {
		t.Errorf("dial beyond this machine: got %v", err)
	}
	conn, err := outbound.Transport(outbound.Options{LocalOnly: true}).DialContext(context.Background(), "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatalf("dial this machine: %v", err)
	}
	_ = conn.Close()
}
