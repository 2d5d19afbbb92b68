package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/httpapi"
)

func TestHosts(t *testing.T) {
	w := open(t, "", func(o *httpapi.Options) { o.Hosts = []string{"Monitor.example"} })
	for host, wanted := range map[string]int{
		"localhost":                 http.StatusOK,
		"LOCALHOST:8417":            http.StatusOK,
		"127.0.0.1":                 http.StatusOK,
		"127.0.0.53:80":             http.StatusOK,
		"[::1]:8417":                http.StatusOK,
		"[::1]":                     http.StatusOK,
		"monitor.example":           http.StatusOK,
		"MONITOR.example:443":       http.StatusOK,
		"evil.example":              http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example":    http.StatusMisdirectedRequest,
		"localhost.evil.example":    http.StatusMisdirectedRequest,
		"monitor.example.evil.test": http.StatusMisdirectedRequest,
		"10.0.0.1":                  http.StatusMisdirectedRequest,
		"0.0.0.0:8417":              http.StatusMisdirectedRequest,
		"169.254.169.254":           http.StatusMisdirectedRequest,
		"[fe80::1]:80":              http.StatusMisdirectedRequest,
	} {
		t.Run(host, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodGet, w.url+"/healthz", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			if a := w.request(r); a.status != wanted {
				t.Errorf("got status %d, want %d", a.status, wanted)
			} else if wanted >= 400 {
				wantProblem(t, a, wanted, "Host")
			}
		})
	}
}

func TestOrigins(t *testing.T) {
	w := open(t, "", func(o *httpapi.Options) { o.Hosts = []string{"monitor.example"} })
	own := strings.TrimPrefix(w.url, "http://")
	for name, c := range map[string]struct {
		header http.Header
		wanted int
	}{
		"none":                           {http.Header{}, http.StatusOK},
		"the same origin":                {http.Header{"Origin": {w.url}}, http.StatusOK},
		"the same host over TLS":         {http.Header{"Origin": {"https://" + own}}, http.StatusOK},
		"an allowed host":                {http.Header{"Origin": {"https://monitor.example"}}, http.StatusOK},
		"an allowed host, fetched":       {http.Header{"Origin": {"https://monitor.example"}, "Sec-Fetch-Site": {"cross-site"}}, http.StatusOK},
		"a foreign one":                  {http.Header{"Origin": {"https://evil.example"}}, http.StatusForbidden},
		"another port of this machine":   {http.Header{"Origin": {"http://127.0.0.1:1"}}, http.StatusForbidden},
		"null":                           {http.Header{"Origin": {"null"}}, http.StatusForbidden},
		"empty":                          {http.Header{"Origin": {""}}, http.StatusForbidden},
		"a file":                         {http.Header{"Origin": {"file://" + own}}, http.StatusForbidden},
		"no URL":                         {http.Header{"Origin": {"http://%zz"}}, http.StatusForbidden},
		"two":                            {http.Header{"Origin": {w.url, "https://evil.example"}}, http.StatusForbidden},
		"claimed the same, fetched from": {http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"same-origin"}}, http.StatusForbidden},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			t.Run(method+" "+name, func(t *testing.T) {
				path, body := "/v1/policy", ""
				if method == http.MethodPost {
					path, body = "/v1/hooks/loop_iteration_start", `{"event":{"iteration":0},"ctx":{"sessionKey":"s"}}`
				}
				r, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header = c.header.Clone()
				r.Header.Set("Authorization", "Bearer "+agentToken)
				r.Header.Set("Content-Type", "application/json")
				if a := w.request(r); a.status != c.wanted {
					t.Errorf("got status %d, want %d: %s", a.status, c.wanted, a.raw)
				}
			})
		}
	}
}

func TestFetchFromAnotherSiteCannotWrite(t *testing.T) {
	w := open(t, "")
	r, err := http.NewRequest(http.MethodPost, w.url+"/v1/hooks/agent_end", strings.NewReader(`{"event":{},"ctx":{"sessionKey":"s"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+agentToken)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	wantProblem(t, w.request(r), http.StatusForbidden, "cross-origin")
}
