package oauth_test

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/oauth"
)

// authority is an MCP server and its authorization server on one real socket. It speaks as the
// specification has it and counts what it is asked.
type authority struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	asked     map[string]int
	seen      []http.Header // of requests to the MCP server
	challenge string        // of the last authorization
	access    string        // the token that is good now
	refresh   string
	expires   int
	change    func(doc map[string]any) // of the authorization server's document
	resource  func(doc map[string]any) // of the server's
	wrong     url.Values               // what the browser brings back otherwise
}

func serve(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, asked: map[string]int{}, expires: 3600}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", a.mcp)
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		a.document(w, a.resource, map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		a.document(w, a.change, map[string]any{
			"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token", "registration_endpoint": a.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"authorization_response_iss_parameter_supported": true,
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in["application_type"] != "native" {
			t.Errorf("registered as %v, %v; want native", in, err)
		}
		in["client_id"] = "us"
		in["token_endpoint_auth_method"] = "none"
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(in)
	})
	mux.HandleFunc("/authorize", a.authorize)
	mux.HandleFunc("/token", a.token)
	a.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.asked[r.URL.Path]++
		a.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *authority) document(w http.ResponseWriter, change func(map[string]any), doc map[string]any) {
	if change != nil {
		change(doc)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc)
}

func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("state") == "" || q.Get("resource") != a.URL+"/mcp" || q.Get("client_id") != "us" {
		a.t.Errorf("authorization asked for with %v", q)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.challenge = q.Get("code_challenge")
	back := url.Values{"code": {"the-code"}, "state": {q.Get("state")}, "iss": {a.URL}}
	for k, v := range a.wrong {
		back[k] = v
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		if base64.RawURLEncoding.EncodeToString(sum[:]) != a.challenge || r.PostForm.Get("code") != "the-code" || r.PostForm.Get("resource") != a.URL+"/mcp" {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
	case "refresh_token":
		if r.PostForm.Get("refresh_token") != a.refresh {
			http.Error(w, `{"error":"invalid_grant","error_description":"SECRET-IN-ERROR"}`, http.StatusBadRequest)
			return
		}
	}
	n := a.asked["/token"]
	a.access, a.refresh = fmt.Sprintf("access-%d", n), fmt.Sprintf("refresh-%d", n)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"token_type":"Bearer","expires_in":%d}`, a.access, a.refresh, a.expires)
}

// mcp is the server: it lets nobody in without the token.
func (a *authority) mcp(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.seen = append(a.seen, r.Header.Clone())
	good := a.access != "" && r.Header.Get("Authorization") == "Bearer "+a.access
	a.mu.Unlock()
	raw, _ := io.ReadAll(r.Body)
	if !good {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+a.URL+`/.well-known/oauth-protected-resource/mcp"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var m struct {
		ID     any    `json:"id"`
		Method string `json:"method"`
	}
	_ = json.Unmarshal(raw, &m)
	w.Header().Set("Content-Type", "application/json")
	result := map[string]any{"resultType": "complete"}
	switch m.Method {
	case "server/discover":
		result["supportedVersions"], result["capabilities"] = []string{"2026-07-28"}, map[string]any{}
	case "tools/list":
		result["tools"] = []any{map[string]any{"name": "look", "inputSchema": map[string]any{"type": "object"}}}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.Certificate())
	return p
}

// rig is a Keeper on a file of its own.
type rig struct {
	*oauth.Keeper
	t    *testing.T
	file string
	now  time.Time
}

func open(t *testing.T, a *authority) *rig {
	t.Helper()
	r := &rig{t: t, file: filepath.Join(t.TempDir(), "data", "mcp-tokens.json"), now: time.Now()}
	r.Keeper = oauth.Open(r.file, func() time.Time { return r.now }, a.pool())
	return r
}

// browser is a person's: it follows where it is led, to our own listener too.
func (a *authority) browser(shown *[]string) func(string) error {
	return func(address string) error {
		*shown = append(*shown, address)
		res, err := a.Client().Get(address)
		if err != nil {
			return err
		}
		raw, err := io.ReadAll(res.Body)
		if err != nil || !strings.Contains(string(raw), "close this page") {
			a.t.Errorf("the browser ends at %q, %v", raw, err)
		}
		return res.Body.Close()
	}
}
