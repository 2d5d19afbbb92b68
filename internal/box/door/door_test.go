package door_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/box/door"
)

const sign = "sk-box-0123456789abcdef"

// monitor notes what reaches it.
type monitor struct{ got []*http.Request }

func (m *monitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.got = append(m.got, r)
	_, _ = io.WriteString(w, "answer")
}

func newDoor(t interface{ Fatal(...any) }, models bool) (*door.Door, *monitor, func()) {
	m := &monitor{}
	srv := httptest.NewServer(m)
	d, err := door.New(door.Options{
		Server: srv.URL, Sign: sign, Token: "tm-agent", Session: "run:1", Models: models,
		Keys: map[string]door.Key{"anthropic": {Header: "X-Api-Key", Value: "real"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d, m, srv.Close
}

func send(d http.Handler, method, target string, headers map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader("{}"))
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// Models and MCP servers are reached, with the real key or the monitor's token in place of the sign.
func TestWhatIsHandedOn(t *testing.T) {
	for name, c := range map[string]struct {
		target        string
		give          map[string]string
		header, value string
	}{
		"a key that the door has":        {"/anthropic/v1/messages", map[string]string{"X-Api-Key": sign}, "X-Api-Key", "real"},
		"as a bearer":                    {"/anthropic/v1/messages", map[string]string{"Authorization": "Bearer " + sign}, "X-Api-Key", "real"},
		"a key that the monitor has":     {"/openai/v1/responses", map[string]string{"Authorization": "Bearer " + sign}, "Authorization", "Bearer " + sign},
		"another upstream":               {"/llm/mine/v1/chat/completions", map[string]string{"Authorization": "Bearer " + sign}, "Authorization", "Bearer " + sign},
		"a key in the query":             {"/gemini/v1beta/models/m:generateContent?key=" + sign, nil, "Authorization", "Bearer " + sign},
		"an MCP server":                  {"/mcp/files", nil, "Authorization", "Bearer tm-agent"},
		"an MCP server's own session":    {"/mcp/files", map[string]string{"X-Tidemark-Session": "theirs"}, "X-Tidemark-Session", "run:1"},
		"no token of the caller's":       {"/anthropic/v1/messages", map[string]string{"X-Tidemark-Token": "theirs"}, "X-Tidemark-Token", ""},
		"nor an agent of its own choice": {"/anthropic/v1/messages", map[string]string{"X-Tidemark-Agent": "owner"}, "X-Tidemark-Agent", ""},
	} {
		d, m, end := newDoor(t, false)
		w := send(d, http.MethodPost, c.target, c.give)
		if w.Code != http.StatusOK || len(m.got) != 1 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		} else if got := m.got[0].Header.Get(c.header); got != c.value || strings.Contains(m.got[0].URL.RawQuery, sign) {
			t.Errorf("%s: %s is %q, want %q", name, c.header, got, c.value)
		}
		end()
	}
}

// Nothing else of the monitor's can be reached, whatever the path looks like, and no other key leaves.
func TestWhatIsNot(t *testing.T) {
	d, m, end := newDoor(t, true)
	defer end()
	for _, target := range []string{
		"/", "/v1/approvals", "/v1/approvals/1/approve", "/console", "/metrics", "/v1/box/redeem", "/mcp-port/x", "/anthropic", "/anthropic/",
		"/anthropic/../v1/approvals", "/anthropic/%2e%2e/v1/approvals", "/anthropic//v1/messages", "//v1/approvals", "/mcp/x/..%2f..%2fv1/approvals", "/anthropicx/v1",
	} {
		if w := send(d, http.MethodPost, target, map[string]string{"X-Api-Key": sign}); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	for _, give := range []map[string]string{
		{"X-Api-Key": "sk-theirs"}, {"Authorization": "Bearer sk-theirs"}, {"Authorization": "Basic " + sign}, {"X-Api-Key": sign, "Authorization": "Bearer sk-theirs"},
		{"Api-Key": "x"}, {"X-Goog-Api-Key": "x"}, {"X-Api-Key": sign + " "[:0] + "x"},
	} {
		if w := send(d, http.MethodPost, "/anthropic/v1/messages", give); w.Code != http.StatusForbidden {
			t.Errorf("%v: %d", give, w.Code)
		}
	}
	for _, query := range []string{"?key=theirs", "?KEY=theirs", "?key=" + sign + "&key=theirs", "?access_token=theirs", "?a;key=theirs"} {
		if w := send(d, http.MethodPost, "/gemini/v1beta/models"+query, nil); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", query, w.Code)
		}
	}
	if len(m.got) > 0 {
		t.Errorf("the monitor was asked for %s", m.got[0].URL)
	}
}

// Law: whatever path is asked for, what reaches the monitor lies below the paths of models and MCP servers, as it was written.
func TestOnlyTheNamedPathsAreReached(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, m, end := newDoor(t, false)
		defer end()
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"anthropic", "openai", "mcp", "v1", "approvals", "..", ".", "", "%2e%2e", "%2f", "a;b", "x"}), 1, 6).Draw(t, "parts")
		target := "/" + strings.Join(parts, "/")
		send(d, http.MethodPost, target, nil)
		for _, r := range m.got {
			first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
			if r.URL.EscapedPath() != target || rest == "" || first != "anthropic" && first != "openai" && first != "mcp" || strings.Contains(target, "..") {
				t.Fatalf("%s reached the monitor as %s", target, r.URL)
			}
		}
	})
}

// Whoever asks for a proxy is told that there is no way, and one that asks its proxy for the door itself is served.
func TestThereIsNoOtherWay(t *testing.T) {
	d, m, end := newDoor(t, false)
	defer end()
	proxy := door.Proxied(d)
	for _, target := range []string{"http://evil.example/x", "http://127.0.0.1:22/"} {
		if w := send(proxy, http.MethodGet, target, nil); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "[confined: no network") {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if w := send(proxy, http.MethodPost, door.Base+"/anthropic/v1/messages", nil); w.Code != http.StatusOK || len(m.got) != 1 {
		t.Errorf("the door itself: %d %s", w.Code, w.Body)
	}
	if w := send(proxy, http.MethodGet, door.Base+"/v1/approvals", nil); w.Code != http.StatusForbidden {
		t.Errorf("the rest of the monitor: %d", w.Code)
	}
}

// The token goes along with models only where the monitor wants it.
func TestTheTokenForModels(t *testing.T) {
	for _, wants := range []bool{true, false} {
		d, m, end := newDoor(t, wants)
		send(d, http.MethodPost, "/anthropic/v1/messages", nil)
		if got := m.got[0].Header.Get("X-Tidemark-Token"); (got == "tm-agent") != wants {
			t.Errorf("wants %v: %q", wants, got)
		}
		end()
	}
	for status, want := range map[int]bool{401: true, 403: false, 200: false} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		if got, err := door.WantsToken(t.Context(), srv.URL, nil); got != want || err != nil {
			t.Errorf("%d: %v %v", status, got, err)
		}
		srv.Close()
	}
}
