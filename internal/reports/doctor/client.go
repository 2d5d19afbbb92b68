package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// client speaks to the server in one role.
type client struct {
	base, token string
	http        *http.Client
}

// newClient goes straight to the server: no proxy sees a token, no redirect carries one
// elsewhere, and a program that took its port gets none. secret is what the server proves
// itself with.
func newClient(base, token, secret string) *client {
	way := &http.Transport{DisableKeepAlives: true, DialContext: serverproof.Dialer(secret, base)}
	if secret == "" && token == "" { // nothing to lose, and nothing to prove it with
		way.DialContext = nil
	}
	return &client{base: base, token: token, http: &http.Client{
		Timeout:       15 * time.Second,
		Transport:     way,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// refusedError is an answer that is not 2xx.
type refusedError struct {
	status int
	detail string
}

func (e *refusedError) Error() string {
	if e.detail == "" {
		return fmt.Sprintf("it answered %d", e.status)
	}
	return fmt.Sprintf("it answered %d: %s", e.status, e.detail)
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 8 << 20

// call sends one request and decodes the answer into out, if given.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if res.StatusCode >= 300 {
		var p struct {
			Detail string `json:"detail"`
		}
		_ = strictjson.Unmarshal(raw, &p) // an answer of another form has no detail
		return &refusedError{res.StatusCode, line(p.Detail)}
	}
	if out == nil {
		return nil
	}
	if err := strictjson.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}
