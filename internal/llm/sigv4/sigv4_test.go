package sigv4_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/llm/sigv4"
)

func request(t *testing.T, method, target string) *http.Request {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Request{Method: method, URL: u, Header: http.Header{}}
}

var example = sigv4.Key{ID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Region: "us-east-1", Service: "service"}

var then = time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)

// The examples of Amazon's own test suite.
func TestSignaturesAreThoseOfTheSuite(t *testing.T) {
	for _, c := range []struct{ method, target, want string }{
		{"GET", "https://example.amazonaws.com/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"POST", "https://example.amazonaws.com/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
	} {
		r := request(t, c.method, c.target)
		example.Sign(r, nil, then)
		want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + c.want
		if got := r.Header.Get("Authorization"); got != want {
			t.Errorf("%s %s: got %s, want %s", c.method, c.target, got, want)
		}
	}
}

// Nothing of what a client signed is left, and every part of the request counts.
func TestASignatureStandsForTheRequest(t *testing.T) {
	sign := func(change func(*http.Request, *[]byte, *sigv4.Key)) (string, http.Header) {
		r, body, key := request(t, "POST", "https://bedrock.example/model/a%3A0/invoke"), []byte(`{}`), example
		r.Header = http.Header{"Authorization": {"AWS4-HMAC-SHA256 Credential=CLIENT"}, "X-Amz-Security-Token": {"theirs"}, "X-Amz-Date": {"old"}, "User-Agent": {"x"}}
		change(r, &body, &key)
		key.Sign(r, body, then)
		return r.Header.Get("Authorization"), r.Header
	}
	first, h := sign(func(*http.Request, *[]byte, *sigv4.Key) {})
	if strings.Contains(first, "CLIENT") || h.Get("X-Amz-Security-Token") != "" || h.Get("X-Amz-Date") != "20150830T123600Z" {
		t.Errorf("got %v, want nothing of the client's", h)
	}
	for name, change := range map[string]func(*http.Request, *[]byte, *sigv4.Key){
		"body":    func(_ *http.Request, b *[]byte, _ *sigv4.Key) { *b = []byte(`{ }`) },
		"path":    func(r *http.Request, _ *[]byte, _ *sigv4.Key) { r.URL.Path = "/model/b:0/invoke"; r.URL.RawPath = "" },
		"spelled": func(r *http.Request, _ *[]byte, _ *sigv4.Key) { r.URL.RawPath = "" },
		"host":    func(r *http.Request, _ *[]byte, _ *sigv4.Key) { r.Host = "other.example" },
		"query":   func(r *http.Request, _ *[]byte, _ *sigv4.Key) { r.URL.RawQuery = "a=b" },
		"region":  func(_ *http.Request, _ *[]byte, k *sigv4.Key) { k.Region = "eu-west-1" },
		"secret":  func(_ *http.Request, _ *[]byte, k *sigv4.Key) { k.Secret = "other" },
		"token":   func(_ *http.Request, _ *[]byte, k *sigv4.Key) { k.Token = "session" },
	} {
		if got, _ := sign(change); got == first {
			t.Errorf("another %s has the same signature", name)
		}
	}
	if again, _ := sign(func(r *http.Request, _ *[]byte, _ *sigv4.Key) { r.Header.Set("User-Agent", "y") }); again != first {
		t.Error("a header that may change on the way is signed")
	}
}
