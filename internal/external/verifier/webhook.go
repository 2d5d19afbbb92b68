package verifier

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/uuid"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/trust"
)

// headerOpenClaw is the hex HMAC-SHA256 of the raw body. It can be replayed; the header
// pair of package hook, sent beside it, covers the time as well.
const headerOpenClaw = "X-OpenClaw-Signature"

const dialTimeout = 5 * time.Second

// request is the body of a POST. The version stands for everything but the last field,
// which is ours.
type request struct {
	Version   int            `json:"version"`
	Timestamp string         `json:"timestamp"`
	RequestID string         `json:"requestId"`
	Tool      requestTool    `json:"tool"`
	Context   requestContext `json:"context"`
	Tidemark  requestExtra   `json:"tidemark"`
}

type requestTool struct {
	Name   string           `json:"name"`
	Params strictjson.Value `json:"params"`
}

type requestContext struct {
	Agent    string `json:"agentId"`
	Session  string `json:"sessionKey"`
	Provider string `json:"messageProvider"`
}

type requestExtra struct {
	Taint  trust.Level `json:"taint"`
	Branch string      `json:"branch,omitzero"`
	Digest string      `json:"digest,omitzero"`
	Test   bool        `json:"test,omitzero"` // nothing will run, whatever the answer
}

// webhook is an endpoint that is asked.
type webhook struct {
	url     *url.URL
	agent   string // whose it is; empty: the file's
	header  map[string]endpoint.Secret
	secret  []byte
	timeout time.Duration
	client  *http.Client
	now     func() time.Time
}

func newWebhook(c *WebhookConfig, agent string, client *http.Client, now func() time.Time) *webhook {
	u, err := outbound.URL(c.URL)
	if err != nil {
		u = &url.URL{} // not reached: New has checked it; an empty one answers nothing
	}
	return &webhook{
		url: u, agent: agent, header: c.Headers, secret: []byte(c.Secret),
		timeout: cmp.Or(c.Timeout, DefaultWebhookTimeout), client: client, now: now,
	}
}

func (w *webhook) name() string         { return byWebhook }
func (w *webhook) limit() time.Duration { return w.timeout }

// shown is the URL without what may be a secret.
func (w *webhook) shown() string {
	return (&url.URL{Scheme: w.url.Scheme, Host: w.url.Host, Path: w.url.Path}).String()
}

func (w *webhook) ask(ctx context.Context, c engine.Check) (answer, error) {
	at := w.now()
	body, err := encode(c, at, false)
	if err != nil {
		return answer{reason: reasonUnsendable}, nil //nolint:nilerr // a deny whatever the fail mode: see the invariants
	}
	got, err := w.exchange(ctx, w.client, body, at, w.secret)
	if err != nil {
		return answer{}, err
	}
	return got.answer()
}

func encode(c engine.Check, at time.Time, test bool) ([]byte, error) {
	r := request{
		Version: 1, Timestamp: at.UTC().Format(time.RFC3339), RequestID: uuid.New(),
		Tool:     requestTool{c.Tool, c.Params},
		Context:  requestContext{c.Agent, c.Session, c.Provider},
		Tidemark: requestExtra{Taint: c.Taint, Branch: c.Branch, Test: test},
	}
	if !test {
		r.Tidemark.Digest = c.Digest.String()
	}
	body, err := strictjson.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	return body, nil
}

// response is what came back, whatever it is.
type response struct {
	status int
	body   []byte // at most maxAnswer+1 bytes
	tls    *tls.ConnectionState
}

// exchange posts a body, signed if there is a secret, and reads what comes back.
func (w *webhook) exchange(ctx context.Context, client *http.Client, body []byte, at time.Time, secret []byte) (*response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, &failure{"not reachable", withoutURL(err)}
	}
	req.Header.Set("User-Agent", "tidemark")
	for name, value := range w.header {
		req.Header.Set(name, string(value))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if len(secret) > 0 {
		sum := hmac.New(sha256.New, secret)
		sum.Write(body)
		req.Header.Set(headerOpenClaw, hex.EncodeToString(sum.Sum(nil)))
		timestamp, signature := hook.Sign(secret, at, body)
		req.Header.Set(hook.HeaderTimestamp, timestamp)
		req.Header.Set(hook.HeaderSignature, signature)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	defer resp.Body.Close()
	out := &response{status: resp.StatusCode, tls: resp.TLS}
	out.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return out, &failure{"its answer broke off", withoutURL(err)}
	}
	return out, nil
}

// answer reads a decision out of a response.
func (r *response) answer() (answer, error) {
	switch {
	case r.status >= 300 && r.status < 400:
		return answer{}, &failure{fmt.Sprintf("status %d, and redirects are not followed", r.status), nil}
	case r.status < 200 || r.status > 299:
		return answer{}, &failure{fmt.Sprintf("status %d", r.status), nil}
	case len(r.body) > maxAnswer:
		return answer{}, &failure{fmt.Sprintf("its answer has more than %d bytes", maxAnswer), nil}
	}
	a, err := parseAnswer(r.body)
	if err != nil {
		return answer{}, &failure{"its answer is not understood", err}
	}
	return a, nil
}

func unreachable(err error) error {
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) {
		return &failure{"its certificate is not trusted", withoutURL(err)}
	}
	return &failure{"not reachable", withoutURL(err)}
}

// withoutURL drops the URL that net/http puts into its errors: a query may hold a token.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func tlsConfig(roots *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}
