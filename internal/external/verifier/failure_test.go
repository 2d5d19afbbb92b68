package verifier_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/external/verifier"
)

// failures are endpoints that give no answer, with what the ruling says about them.
func failures() map[string]struct {
	endpoint http.HandlerFunc
	want     string
} {
	const open = `{"decision":"allow"`
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, open)
	}
	endless := func(w http.ResponseWriter, r *http.Request) {
		chunk := []byte(open + strings.Repeat(" ", 32<<10))
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	const notUnderstood = "webhook: its answer is not understood"
	return map[string]struct {
		endpoint http.HandlerFunc
		want     string
	}{
		"a server error":            {says(500, open+"}"), "webhook: status 500"},
		"a refusal":                 {says(401, open+"}"), "webhook: status 401"},
		"not modified":              {says(304, ""), "webhook: status 304, and redirects are not followed"},
		"no content":                {says(204, ""), notUnderstood},
		"an empty answer":           {says(200, ""), notUnderstood},
		"blanks":                    {says(200, " \n"), notUnderstood},
		"null":                      {says(200, "null"), notUnderstood},
		"a list":                    {says(200, `["allow"]`), notUnderstood},
		"a bare text":               {says(200, `"allow"`), notUnderstood},
		"plain text":                {says(200, "allow"), notUnderstood},
		"half an object":            {says(200, open), notUnderstood},
		"two answers":               {says(200, open+"}"+open+"}"), notUnderstood},
		"an answer and more":        {says(200, open+"}\nbye"), notUnderstood},
		"no decision":               {says(200, `{"reason":"allow"}`), notUnderstood},
		"a decision in capitals":    {says(200, `{"decision":"ALLOW"}`), notUnderstood},
		"a decision with a blank":   {says(200, `{"decision":"allow "}`), notUnderstood},
		"a decision that is true":   {says(200, `{"decision":true}`), notUnderstood},
		"a decision that is a list": {says(200, `{"decision":["allow"]}`), notUnderstood},
		"a decision that is null":   {says(200, `{"decision":null}`), notUnderstood},
		"a decision nobody knows":   {says(200, `{"decision":"maybe"}`), notUnderstood},
		"a key in other letters":    {says(200, `{"Decision":"allow"}`), notUnderstood},
		"a decision twice":          {says(200, `{"decision":"allow","decision":"allow"}`), notUnderstood},
		"a decision in two letters": {says(200, `{"decision":"allow","Decision":"deny"}`), notUnderstood},
		"a reason that is no text":  {says(200, open+`,"reason":7}`), notUnderstood},
		"bytes that are no UTF-8":   {says(200, open+",\"reason\":\"\xff\"}"), notUnderstood},
		"a byte order mark":         {says(200, "\ufeff"+open+"}"), notUnderstood},
		"nesting without end":       {says(200, open+`,"x":`+strings.Repeat("[", 10000)), notUnderstood},
		"one byte too much":         {says(200, open+"}"+strings.Repeat(" ", 64<<10-len(open))), "webhook: its answer has more than 65536 bytes"},
		"an endless answer":         {endless, "webhook: its answer has more than 65536 bytes"},
		"an answer that breaks off": {cut, "webhook: its answer broke off"},
		"a dropped connection":      {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "webhook: not reachable"},
		"an answer that is squeezed": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			says(200, "\x1f\x8b\x08")(w, r)
		}, notUnderstood},
		"headers without end": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Fill", strings.Repeat("x", 128<<10))
			allows(w, r)
		}, "webhook: not reachable"},
	}
}

// Whatever goes wrong, the fail mode decides; the second time is like the first. What is
// said about it names no address.
//
// VER-05 VER-06
func TestWhatIsNoAnswerGoesToTheFailMode(t *testing.T) {
	for name, tt := range failures() {
		for mode, want := range map[verifier.FailMode]bool{verifier.Deny: false, verifier.Allow: true} {
			t.Run(name+" under "+string(mode), func(t *testing.T) {
				var log bytes.Buffer
				v := start(t, verifier.Options{
					Config: verifier.Config{Enabled: true, FailMode: mode, Webhook: hookAt(serve(t, tt.endpoint))},
					Logger: slog.New(slog.NewTextHandler(&log, nil)),
				})
				for range 2 {
					got := v.Verify(t.Context(), call())
					if got.Allow != want || got.By != "failMode" || !got.Failed || got.Reason != tt.want {
						t.Errorf("Verify = %+v, want allow %v because %q", got, want, tt.want)
					}
				}
				if strings.Count(log.String(), "level=WARN") != 2 || strings.Contains(log.String(), "t0p") {
					t.Errorf("log:\n%s\nwant two warnings without the token", &log)
				}
			})
		}
	}
}

// VER-05
func TestADeadEndpointGoesToTheFailMode(t *testing.T) {
	for mode, want := range map[verifier.FailMode]bool{verifier.Deny: false, verifier.Allow: true} {
		server := httptest.NewServer(allows)
		v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, FailMode: mode, Webhook: hookAt(server.URL)}})
		server.Close()
		for range 2 {
			if got := v.Verify(t.Context(), call()); got.Allow != want || got.Reason != "webhook: not reachable" {
				t.Errorf("Verify = %+v, want allow %v", got, want)
			}
		}
	}
}

// The time covers everything: an answer that begins in time must also end in time.
//
// VER-05
func TestASlowEndpointGoesToTheFailMode(t *testing.T) {
	trickles := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"decision":`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		_, _ = io.WriteString(w, `"allow"}`) // too late, to nobody
	}
	for name, endpoint := range map[string]http.HandlerFunc{"nothing": hangs, "half an answer": trickles} {
		for mode, want := range map[verifier.FailMode]bool{verifier.Deny: false, verifier.Allow: true} {
			t.Run(name+" under "+string(mode), func(t *testing.T) {
				hook := &verifier.WebhookConfig{URL: serve(t, endpoint), Timeout: 30 * time.Millisecond}
				v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, FailMode: mode, Webhook: hook}})
				for range 2 {
					got := v.Verify(t.Context(), call())
					if got.Allow != want || !got.Failed || got.Reason != "webhook: no answer within 30ms" {
						t.Errorf("Verify = %+v, want allow %v", got, want)
					}
				}
			})
		}
	}
}

// VER-05
func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var hits atomic.Int32
		other := serve(t, func(w http.ResponseWriter, r *http.Request) { hits.Add(1); allows(w, r) })
		for mode, want := range map[verifier.FailMode]bool{verifier.Deny: false, verifier.Allow: true} {
			v := start(t, verifier.Options{Config: verifier.Config{
				Enabled: true, FailMode: mode, Webhook: hookAt(serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, status) })),
			}})
			for range 2 {
				if got := v.Verify(t.Context(), call()); got.Allow != want || !got.Failed || hits.Load() != 0 {
					t.Errorf("status %d: Verify = %+v after %d requests elsewhere, want allow %v and none", status, got, hits.Load(), want)
				}
			}
		}
	}
}

// VER-05 VER-10
func TestAnUnknownCertificateGoesToTheFailMode(t *testing.T) {
	server := httptest.NewUnstartedServer(allows)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	for mode, want := range map[verifier.FailMode]bool{verifier.Deny: false, verifier.Allow: true} {
		v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, FailMode: mode, Webhook: hookAt(server.URL)}})
		for range 2 {
			if got := v.Verify(t.Context(), call()); got.Allow != want || got.Reason != "webhook: its certificate is not trusted" {
				t.Errorf("Verify = %+v, want allow %v", got, want)
			}
		}
	}
}

func TestNoProxyIsTakenFromTheEnvironment(t *testing.T) {
	hook := &verifier.WebhookConfig{URL: "http://192.0.2.1:9/", Timeout: 50 * time.Millisecond} // an address that leads nowhere
	v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, Webhook: hook}})
	if got := v.Verify(t.Context(), call()); got.Allow || proxied.Load() != 0 {
		t.Errorf("Verify = %+v after %d requests to the proxy, want a deny and none", got, proxied.Load())
	}
}
