package verifier_test

import (
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/external/verifier"
)

// untimed leaves out what differs from run to run.
var untimed = cmp.Options{
	cmpopts.IgnoreUnexported(verifier.WebhookTest{}),
	cmpopts.IgnoreFields(verifier.WebhookTest{}, "URL", "DNS", "Connect", "TLS", "FirstByte", "Total", "Error"),
}

// allowsTests allows calls that are marked as a test and nothing else.
func allowsTests(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Tool     struct{ Name string } `json:"tool"`
		Tidemark struct {
			Test bool `json:"test"`
		} `json:"tidemark"`
	}
	data, _ := io.ReadAll(r.Body)
	if err := strictjson.Unmarshal(data, &body); err != nil || !body.Tidemark.Test || !strings.Contains(string(data), verifier.TestTool) {
		denies(w, r)
		return
	}
	says(200, `{"decision":"allow","reason":"only a test"}`)(w, r)
}

// VER-13
func TestTheTestTellsWhatAnEndpointDoes(t *testing.T) {
	deniesUnsigned := func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		checksSignatures(t, time.Now, allows)(rec, r)
		if rec.Code == http.StatusUnauthorized {
			denies(w, r)
			return
		}
		allows(w, r)
	}
	var asked atomic.Int32
	breaksOnSecond := func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1)%2 == 0 {
			panic(http.ErrAbortHandler)
		}
		allows(w, r)
	}
	tests := map[string]struct {
		endpoint http.HandlerFunc
		secret   endpoint.Secret
		want     verifier.WebhookTest
		ok       bool
		next     string
	}{
		"it works": {
			checksSignatures(t, time.Now, allowsTests), secret,
			verifier.WebhookTest{Status: 200, Decision: "allow", Reason: "only a test", Body: `{"decision":"allow","reason":"only a test"}`, Parsed: true, Signature: verifier.SignatureChecked},
			true, "nothing: it works",
		},
		"a wrong signature is denied": {
			deniesUnsigned, secret,
			verifier.WebhookTest{Status: 200, Decision: "allow", Body: `{"decision":"allow"}`, Parsed: true, Signature: verifier.SignatureChecked}, true, "nothing: it works",
		},
		"a wrong signature is allowed": {
			allows, secret,
			verifier.WebhookTest{Status: 200, Decision: "allow", Body: `{"decision":"allow"}`, Parsed: true, Signature: verifier.SignatureUnchecked},
			false, "it does not check signatures",
		},
		"it denies everything": {
			denies, secret,
			verifier.WebhookTest{Status: 200, Decision: "deny", Reason: "not today", Body: `{"decision":"deny","reason":"not today"}`, Parsed: true, Signature: verifier.SignatureUnknown},
			true, "let it allow the tool tidemark_verifier_test",
		},
		"it breaks at a wrong signature": {
			breaksOnSecond, secret,
			verifier.WebhookTest{Status: 200, Decision: "allow", Body: `{"decision":"allow"}`, Parsed: true, Signature: verifier.SignatureUnknown}, true, "let it allow the tool",
		},
		"there is no secret": {
			allows, "",
			verifier.WebhookTest{Status: 200, Decision: "allow", Body: `{"decision":"allow"}`, Parsed: true, Signature: verifier.SignatureNone}, true, "set webhook.secret",
		},
		"the secret is another": {
			checksSignatures(t, time.Now, allows), "another secret of the test",
			verifier.WebhookTest{Status: 401, Signature: verifier.SignatureUnknown}, false, "check webhook.headers and webhook.secret",
		},
		"it redirects": {
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", "/x"); w.WriteHeader(302) }, secret,
			verifier.WebhookTest{Status: 302, Signature: verifier.SignatureUnknown}, false, "configure the URL it redirects to",
		},
		"it is broken": {
			says(500, "oops\x1b[31m\xff"), secret,
			verifier.WebhookTest{Status: 500, Body: "oops\\x1b[31m\uFFFD", Signature: verifier.SignatureUnknown}, false, "look into the endpoint's log",
		},
		"it says something else": {
			says(200, strings.Repeat("x", 600)), secret,
			verifier.WebhookTest{Status: 200, Body: strings.Repeat("x", 500) + "… (100 more bytes not shown)", Signature: verifier.SignatureUnknown}, false, `make it answer {"decision": "allow"}`,
		},
		"it drops the connection": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, secret,
			verifier.WebhookTest{Signature: verifier.SignatureUnknown}, false, "check the URL",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := start(t, verifier.Options{Config: verifier.Config{Webhook: &verifier.WebhookConfig{URL: serve(t, tt.endpoint), Secret: tt.secret}}})
			for range 2 {
				got := v.Test(t.Context())
				if diff := cmp.Diff([]verifier.WebhookTest{tt.want}, got.Webhooks, untimed); diff != "" {
					t.Fatalf("result (-want +got):\n%s", diff)
				}
				w := got.Webhooks[0]
				if got.OK() != tt.ok || (w.Error == "") != w.Parsed || w.Total <= 0 || w.Connect <= 0 {
					t.Errorf("OK = %v of %+v, want %v", got.OK(), w, tt.ok)
				}
				text := rendered(t, got)
				if !strings.Contains(text, tt.next) || strings.Contains(text, "t0p") {
					t.Errorf("rendered:\n%s\nwant %q and no token", text, tt.next)
				}
			}
		})
	}
}

func rendered(t *testing.T, r verifier.TestResult) string {
	t.Helper()
	var b strings.Builder
	if err := r.Render(&b); err != nil {
		t.Errorf("Render: %v", err)
	}
	data, err := strictjson.Marshal(r)
	if err != nil || strings.Contains(string(data), "t0p") {
		t.Errorf("as JSON: %s, %v, want no token", data, err)
	}
	return b.String()
}

// VER-13
func TestTheTestTimesOut(t *testing.T) {
	v := start(t, verifier.Options{Config: verifier.Config{Webhook: &verifier.WebhookConfig{URL: serve(t, hangs), Timeout: 30 * time.Millisecond}}})
	got := v.Test(t.Context())
	if w := got.Webhooks[0]; !strings.HasPrefix(w.Error, "no answer within 30ms") || w.Status != 0 || got.OK() {
		t.Errorf("Test = %+v, want a timeout", w)
	}
}

// VER-13
func TestTheTestSeesTheCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(allows)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	end := server.Certificate().NotAfter
	for name, tt := range map[string]struct {
		roots *x509.CertPool
		want  string
	}{
		"trusted":     {roots, "certificate valid until " + end.UTC().Format(time.DateOnly)},
		"not trusted": {nil, "its certificate is not trusted"},
	} {
		t.Run(name, func(t *testing.T) {
			v := start(t, verifier.Options{Config: verifier.Config{Webhook: hookAt(server.URL)}, RootCAs: tt.roots})
			got := v.Test(t.Context())
			if text := rendered(t, got); !strings.Contains(text, tt.want) || got.OK() != (tt.roots != nil) {
				t.Errorf("rendered:\n%s\nwant %q", text, tt.want)
			}
			if tt.roots != nil && got.Webhooks[0].TLS <= 0 {
				t.Errorf("TLS took %v ms, want some", got.Webhooks[0].TLS)
			}
		})
	}
}

// VER-13
func TestACertificateThatEndsSoonIsWorthAWord(t *testing.T) {
	server := httptest.NewTLSServer(allows)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	soon := server.Certificate().NotAfter.Add(-24 * time.Hour)
	v := start(t, verifier.Options{Config: verifier.Config{Webhook: hookAt(server.URL)}, RootCAs: roots, Now: func() time.Time { return soon }})
	if text := rendered(t, v.Test(t.Context())); !strings.Contains(text, "renew its certificate") {
		t.Errorf("rendered:\n%s\nwant a word about the certificate", text)
	}
}

// VER-13
func TestEverybodyIsTested(t *testing.T) {
	o := verifier.Options{
		Config: verifier.Config{Enabled: true, Webhook: hookAt(serve(t, allows)), Telegram: &chat},
		Agents: map[string]verifier.Override{"main": {Webhook: hookAt(serve(t, says(500, "")))}},
	}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"the bot answers":      {nil, "bot and chat answer"},
		"the bot does not":     {errBroken, "error       broken"},
		"the bot is forbidden": {errors.New("status 403"), "check botToken and chatId"},
	} {
		t.Run(name, func(t *testing.T) {
			o.Telegram = answers(true, tt.err)
			got := start(t, o).Test(t.Context())
			text := rendered(t, got)
			if len(got.Webhooks) != 2 || got.Webhooks[1].Agent != "main" || got.OK() || !strings.Contains(text, "(agent main)") || !strings.Contains(text, tt.want) {
				t.Errorf("Test = %+v, rendered:\n%s\nwant %q", got, text, tt.want)
			}
		})
	}
	nobody := start(t, verifier.Options{}).Test(t.Context())
	if text := rendered(t, nobody); nobody.OK() || !strings.HasPrefix(text, "No verifier is configured") {
		t.Errorf("rendered:\n%s\nwant a word about nobody", text)
	}
	alone := verifier.Options{Config: verifier.Config{Enabled: true, Telegram: &chat}, Telegram: answers(true, nil)}
	if got := start(t, alone).Test(t.Context()); !got.OK() {
		t.Errorf("Test = %+v, want it OK", got)
	}
}

func TestRenderReportsAWriterThatFails(t *testing.T) {
	var r verifier.TestResult
	if err := r.Render(failingWriter{}); !errors.Is(err, errBroken) {
		t.Errorf("Render = %v, want %v", err, errBroken)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errBroken }
