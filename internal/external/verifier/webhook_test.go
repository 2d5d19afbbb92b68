package verifier_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/external/verifier"
)

// checksSignatures answers only requests that are signed as the documents say, and as an
// endpoint would check it without our code.
func checksSignatures(t *testing.T, now func() time.Time, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read body: %v", err)
		}
		sum := hmac.New(sha256.New, []byte(secret))
		sum.Write(body)
		got, err := hex.DecodeString(r.Header.Get("X-OpenClaw-Signature"))
		if err != nil || !hmac.Equal(got, sum.Sum(nil)) || hook.VerifySignature([]byte(secret), r.Header.Get, body, now(), time.Minute) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		next(w, r)
	}
}

// VER-04
func TestTheRequestIsAsDocumented(t *testing.T) {
	at := time.Date(2026, 2, 12, 16, 30, 0, 5, time.FixedZone("", 3600))
	var bodies []map[string]any
	url := serve(t, checksSignatures(t, func() time.Time { return at }, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.String() != "/verify?token=t0p" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "Bearer b" {
			t.Errorf("request = %s %s %v", r.Method, r.URL, r.Header)
		}
		body, _ := io.ReadAll(r.Body)
		var got map[string]any
		if err := strictjson.Unmarshal(body, &got); err != nil {
			t.Errorf("body: %v", err)
		}
		bodies = append(bodies, got)
		allows(w, r)
	}))
	v := start(t, verifier.Options{
		Config: verifier.Config{Enabled: true, Webhook: &verifier.WebhookConfig{URL: url, Secret: secret, Headers: map[string]endpoint.Secret{"Authorization": "Bearer b"}}},
		Now:    func() time.Time { return at },
	})
	c := call()
	for range 2 {
		if got := v.Verify(t.Context(), c); !got.Allow {
			t.Fatalf("Verify = %+v, want an allow", got)
		}
	}
	first, second := bodies[0]["requestId"].(string), bodies[1]["requestId"].(string)
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(first) || first == second {
		t.Errorf("request ids %q and %q, want two UUIDs of version 4", first, second)
	}
	delete(bodies[0], "requestId")
	want := map[string]any{
		"version": 1.0, "timestamp": "2026-02-12T15:30:00Z",
		"tool":     map[string]any{"name": "exec", "params": map[string]any{"command": "ls"}},
		"context":  map[string]any{"agentId": "main", "sessionKey": "agent:main:main", "messageProvider": "telegram"},
		"tidemark": map[string]any{"taint": "local", "branch": "b1", "digest": c.Digest.String()},
	}
	if diff := cmp.Diff(want, bodies[0]); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// Nothing is sent but what the monitor has redacted.
//
// VER-09
func TestParametersGoOutAsTheyWereRedacted(t *testing.T) {
	const params = `{"content":"[REDACTED: 12 chars]","n":12345678901234567890,"path":"a"}`
	var sent string
	var shown []verifier.Field
	v := start(t, verifier.Options{
		Config: verifier.Config{Enabled: true, Telegram: &chat, Webhook: hookAt(serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			sent = string(body)
			allows(w, r)
		}))},
		Telegram: tells(&shown),
	})
	c := call()
	c.Tool, c.Params = "write", []byte(params)
	if got := v.Verify(t.Context(), c); !got.Allow || !strings.Contains(sent, `"params":`+params) {
		t.Errorf("Verify = %+v, sent %s, want the parameters as given", got, sent)
	}
	want := []verifier.Field{
		{"Tool", "write"}, {"Path", "a"}, {"Parameters", `{"content":"[REDACTED: 12 chars]","n":12345678901234567890}`},
		{"Agent", "main"}, {"Session", "agent:main:main"}, {"Taint", "local"},
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

// VER-04
func TestWithoutASecretNothingIsSigned(t *testing.T) {
	v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, Webhook: hookAt(serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"X-OpenClaw-Signature", hook.HeaderSignature, hook.HeaderTimestamp} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s = %q, want none", name, r.Header.Get(name))
			}
		}
		allows(w, r)
	}))}})
	v.Verify(t.Context(), call())
}

// VER-04 VER-05
func TestAWrongSecretIsTheEndpointsRefusal(t *testing.T) {
	hook := &verifier.WebhookConfig{URL: serve(t, checksSignatures(t, time.Now, allows)), Secret: "another secret of the test"}
	v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, Webhook: hook}})
	if got := v.Verify(t.Context(), call()); got.Allow || got.Reason != "webhook: status 401" {
		t.Errorf("Verify = %+v, want status 401", got)
	}
}

// VER-04
func TestEncryptedEndpointsAreAsked(t *testing.T) {
	server := httptest.NewUnstartedServer(allows)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	v, err := verifier.New(verifier.Options{Config: verifier.Config{Enabled: true, Webhook: hookAt(server.URL)}, RootCAs: roots})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	if got := v.Verify(t.Context(), call()); !got.Allow {
		t.Errorf("Verify = %+v, want an allow", got)
	}
	if err := v.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
	if err := v.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// VER-05 VER-06
func TestAnswersAreRead(t *testing.T) {
	tests := map[string]struct {
		body, reason string
		allow        bool
	}{
		"allow":                              {`{"decision":"allow"}`, "", true},
		"allow without a reason":             {`{"decision":"allow","reason":null}`, "", true},
		"fields nobody knows":                {`{"decision":"allow","score":0.1,"trace":{"id":[1]}}`, "", true},
		"deny":                               {`{"decision":"deny","reason":"no"}`, "no", false},
		"a deny with a reason of any kind":   {`{"decision":"deny","reason":{"code":7}}`, "", false},
		"a reason of many lines":             {`{"decision":"deny","reason":"a\r\n\tb\u0000\u001b[31mc\u2028d"}`, "a b [31mc d", false},
		"a reason with invisible characters": {`{"decision":"deny","reason":"a\u202e\u200bb"}`, "ab", false},
		"a reason of 500 characters":         {`{"decision":"deny","reason":"` + strings.Repeat("é", 500) + `"}`, strings.Repeat("é", 500), false},
		"a longer reason":                    {`{"decision":"deny","reason":"` + strings.Repeat("é", 501) + `"}`, strings.Repeat("é", 500), false},
		"an answer of 64 KB":                 {`{"decision":"allow"}` + strings.Repeat(" ", 64<<10-20), "", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, Webhook: hookAt(serve(t, says(200, tt.body)))}})
			got := v.Verify(t.Context(), call())
			if got.Allow != tt.allow || got.Reason != tt.reason || got.By != "webhook" || got.Failed {
				t.Errorf("Verify = %+v, want allow %v because %q", got, tt.allow, tt.reason)
			}
		})
	}
	v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, Webhook: hookAt(serve(t, says(201, `{"decision":"allow"}`)))}})
	if got := v.Verify(t.Context(), call()); !got.Allow {
		t.Errorf("status 201: Verify = %+v, want an allow", got)
	}
}
