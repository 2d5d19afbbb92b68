package endpoint_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/base/endpoint"
)

func TestPatternsNameRequests(t *testing.T) {
	for _, c := range []struct {
		pattern, method, path string
		want                  bool
	}{
		{"POST /v1/rerank", "POST", "/v1/rerank", true},
		{"POST /v1/rerank", "POST", "/V1/Rerank/", true},
		{"POST /v1/rerank", "GET", "/v1/rerank", false},
		{"POST /v1/rerank", "POST", "/v1/rerank/x", false},
		{"POST /v1/rerank", "POST", "/x/v1/rerank", false},
		{"/v1/a/*", "DELETE", "/v1/a/b", true},
		{"/v1/a/*", "GET", "/v1/a", false},
		{"/v1/a/*/c", "GET", "/v1/a/b/c", true},
		{"GET /v1/a/**", "GET", "/v1/a/b/c", true},
		{"GET /v1/a/**", "GET", "/v1/a", false},
	} {
		p, err := endpoint.ParsePattern(c.pattern)
		if err != nil {
			t.Fatalf("%s: %v", c.pattern, err)
		}
		if got := p.Match(c.method, c.path); got != c.want {
			t.Errorf("%s, %s %s: got %t, want %t", c.pattern, c.method, c.path, got, c.want)
		}
	}
	if (endpoint.Pattern{}).Match("GET", "/") {
		t.Error("the zero pattern names a request")
	}
}

func TestPatternsThatNameTooMuchOrNothing(t *testing.T) {
	for _, text := range []string{"", "/", "/**", "/*", "/*/v1", "v1/x", "post /v1/x", "CONNECT /v1/x", "POST v1/x", "/v1//x", "/v1/../x", "/v1/**/x", "/v1/x*", "/v1/x?y", "/v1/%2e", "/v1/ x"} {
		if _, err := endpoint.ParsePattern(text); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}
