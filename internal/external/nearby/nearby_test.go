package nearby

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
)

// at is a server on loopback and its port.
func at(t *testing.T, pages map[string]string) int {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := pages[r.URL.Path]; ok {
			_, _ = w.Write([]byte(page))
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// MAN-12: a server is known by what only its kind has; models that run elsewhere, and names that are none, are left out.
func TestServersAreFoundByWhatTheySay(t *testing.T) {
	ollama, openai := kinds[0], kinds[3]
	ollama.Port = at(t, map[string]string{"/api/version": `{"version":"1"}`, "/api/tags": `{"models":[{"name":"big:480b-cloud"},{"name":"qwen3:8b"},{"name":"x\" y"}]}`})
	openai.Port = at(t, map[string]string{"/version": `{"version":"1"}`, "/v1/models": `{"data":[{"id":"org/small"},{"id":"org/small"}]}`})
	page, cloud, list := kinds[2], kinds[0], kinds[0]
	page.Port = at(t, map[string]string{"/": "<h1>hello</h1>", "/props": "<h1>hello</h1>"})
	cloud.Port = at(t, map[string]string{"/api/version": `{}`, "/api/tags": `{"models":[{"name":"big:480b-cloud"}]}`})
	list.Port = at(t, map[string]string{"/api/version": `[]`, "/api/tags": `{"models":[{"name":"a"}]}`})
	got := find(t.Context(), []kind{ollama, page, openai, cloud, list})
	if len(got) != 2 || got[0].Name != "ollama" || strings.Join(got[0].Models, ",") != "qwen3:8b" || strings.Join(got[1].Models, ",") != "org/small" {
		t.Fatalf("got %+v", got)
	}
	if want := "http://127.0.0.1:" + strconv.Itoa(openai.Port) + "/v1"; got[1].BaseURL != want || got[1].Provider != "openai" {
		t.Errorf("got %+v, want %s", got[1], want)
	}
}

// MAN-12: who listens is told, so that another program at the same port is not taken for it.
func TestWhoListensIsTold(t *testing.T) {
	port := at(t, nil)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got := Listener(port)
	if got == "" {
		t.Skip("this system does not tell who listens")
	}
	if want := strconv.Itoa(os.Getuid()) + " " + self; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp, _ := l.Addr().(*net.TCPAddr)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := Listener(tcp.Port); got != "" {
		t.Errorf("nobody listens, and it is %q", got)
	}
}

// MAN-12: a key is found by its name, and addresses are never taken from the environment.
func TestKeysAreFoundByTheirNames(t *testing.T) {
	got := Keys(func(name string) string {
		return map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "https://evil.example", "OPENROUTER_API_KEY": "k"}[name]
	})
	if len(got) != 2 || got[0].Provider != "anthropic" || got[0].Base != "" || got[0].Model == "" || got[1].Model != "" || !strings.HasPrefix(got[1].Base, "https://openrouter.ai/") {
		t.Errorf("got %+v", got)
	}
}
