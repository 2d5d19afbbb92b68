package verifier

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/trust"
)

// TestTool is the name of the tool that a test asks about. There is none of that name.
const TestTool = "tidemark_verifier_test"

// What a test found out about an endpoint's check of signatures.
const (
	SignatureChecked   = "checked"     // a wrong one was refused
	SignatureUnchecked = "not checked" // a wrong one was answered like the right one
	SignatureUnknown   = "unknown"     // the answers do not tell
	SignatureNone      = "no secret"   // requests are not signed
)

const maxRaw = 500 // characters of a body that are shown

// TestResult is what a test of the verifier found.
type TestResult struct {
	Webhooks []WebhookTest `json:"webhooks"`
	Telegram *TelegramTest `json:"telegram,omitzero"`
}

// WebhookTest is what a test of one endpoint found. Times are in milliseconds.
type WebhookTest struct {
	Agent     string    `json:"agent,omitzero"` // whose endpoint it is; empty: the file's
	URL       string    `json:"url"`            // without what may be a secret
	DNS       float64   `json:"dnsMs"`
	Connect   float64   `json:"connectMs"`
	TLS       float64   `json:"tlsMs"`
	FirstByte float64   `json:"firstByteMs"`
	Total     float64   `json:"totalMs"`
	Status    int       `json:"status"` // 0: no response
	Decision  string    `json:"decision,omitzero"`
	Reason    string    `json:"reason,omitzero"`
	Body      string    `json:"body,omitzero"` // its beginning, as it came
	Parsed    bool      `json:"parsed"`
	Error     string    `json:"error,omitzero"`
	Signature string    `json:"signature"`
	Expires   time.Time `json:"certificateExpires,omitzero"`
	now       time.Time
}

// TelegramTest is what a test of the chat found.
type TelegramTest struct {
	Error string `json:"error,omitzero"`
}

// OK reports whether everybody answers as they must.
func (t *TestResult) OK() bool {
	for i := range t.Webhooks {
		if w := &t.Webhooks[i]; !w.Parsed || w.Signature == SignatureUnchecked {
			return false
		}
	}
	return (t.Telegram == nil || t.Telegram.Error == "") && (len(t.Webhooks) > 0 || t.Telegram != nil)
}

// Test asks every endpoint about a call of TestTool, which is marked as a test and runs
// nowhere, and once more with a wrong signature. The chat is only looked at.
func (v *Verifier) Test(ctx context.Context) TestResult {
	out := TestResult{Webhooks: []WebhookTest{}}
	for _, w := range v.hooks {
		out.Webhooks = append(out.Webhooks, v.testWebhook(ctx, w))
	}
	if v.asker != nil {
		out.Telegram = &TelegramTest{}
		if err := v.asker.Check(ctx); err != nil {
			out.Telegram.Error = err.Error()
		}
	}
	return out
}

func (v *Verifier) testWebhook(ctx context.Context, w *webhook) WebhookTest {
	out := WebhookTest{Agent: w.agent, URL: w.shown(), Signature: SignatureUnknown, now: v.now()}
	if len(w.secret) == 0 {
		out.Signature = SignatureNone
	}
	got, clock, err := v.testOnce(ctx, w, w.secret)
	clock.read(&out)
	if got != nil {
		out.Status, out.Body = got.status, visible(strings.ToValidUTF8(string(got.body), "\uFFFD"), maxRaw)
		out.Expires = expiry(got.tls)
	}
	var a answer
	if err == nil {
		a, err = got.answer()
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Parsed, out.Decision, out.Reason = true, decisionOf(a), a.reason
	if len(w.secret) > 0 {
		wrong, _, err := v.testOnce(ctx, w, append([]byte("not "), w.secret...))
		out.Signature = judgeSignature(a, wrong, err)
	}
	return out
}

func decisionOf(a answer) string {
	if a.allow {
		return string(Allow)
	}
	return string(Deny)
}

// judgeSignature compares what a right and a wrong signature led to.
func judgeSignature(right answer, wrong *response, err error) string {
	if err != nil {
		return SignatureUnknown
	}
	a, err := wrong.answer()
	switch {
	case err == nil && a.allow:
		return SignatureUnchecked
	case wrong.status == 401 || wrong.status == 403 || wrong.status == 400, err == nil && right.allow:
		return SignatureChecked
	}
	return SignatureUnknown // it denies everything, or broke for another reason
}

// testOnce does one exchange over a connection of its own.
func (v *Verifier) testOnce(ctx context.Context, w *webhook, secret []byte) (*response, *stopwatch, error) {
	clock := &stopwatch{now: v.now, start: v.now()}
	ctx, cancel := context.WithTimeout(httptrace.WithClientTrace(ctx, clock.trace()), w.timeout)
	defer cancel()
	client := outbound.Client(outbound.Options{Roots: v.roots, Once: true}) // every request has a connection of its own, to measure it
	defer client.CloseIdleConnections()
	check := engine.Check{Session: "test", Agent: w.agent, Tool: TestTool, Params: []byte(`{"test":true}`), Taint: trust.System}
	body, err := encode(check, clock.start, true)
	if err != nil {
		return nil, clock, err
	}
	got, err := w.exchange(ctx, client, body, clock.start, secret)
	if errors.Is(err, context.DeadlineExceeded) {
		err = &failure{"no answer within " + w.timeout.String(), err}
	}
	clock.stop()
	return got, clock, err
}

func expiry(s *tls.ConnectionState) time.Time {
	if s == nil || len(s.PeerCertificates) == 0 {
		return time.Time{}
	}
	return s.PeerCertificates[0].NotAfter.UTC()
}

// stopwatch notes when the steps of an exchange began and ended. Steps can run side by
// side, one address against another; the last of each kind counts.
type stopwatch struct {
	now   func() time.Time
	start time.Time

	mu                            sync.Mutex
	dns, dial, handshake          time.Time     // beginnings; guarded by mu
	dnsTook, dialTook, shookHands time.Duration // guarded by mu
	first, total                  time.Duration // guarded by mu
}

func (s *stopwatch) begin(at *time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*at = s.now()
}

func (s *stopwatch) end(from *time.Time, took *time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*took = s.now().Sub(*from)
}

func (s *stopwatch) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { s.begin(&s.dns) },
		DNSDone:              func(httptrace.DNSDoneInfo) { s.end(&s.dns, &s.dnsTook) },
		ConnectStart:         func(string, string) { s.begin(&s.dial) },
		ConnectDone:          func(string, string, error) { s.end(&s.dial, &s.dialTook) },
		TLSHandshakeStart:    func() { s.begin(&s.handshake) },
		TLSHandshakeDone:     func(tls.ConnectionState, error) { s.end(&s.handshake, &s.shookHands) },
		GotFirstResponseByte: func() { s.end(&s.start, &s.first) },
	}
}

func (s *stopwatch) stop() { s.end(&s.start, &s.total) }

func (s *stopwatch) read(out *WebhookTest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out.DNS, out.Connect, out.TLS = millis(s.dnsTook), millis(s.dialTook), millis(s.shookHands)
	out.FirstByte, out.Total = millis(s.first), millis(s.total)
}

func millis(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}
