package remotehook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidemark/tidemark/hook"
)

// post sends an event and returns the answer, which is up to the caller to close.
func (p *Plugin) post(ctx context.Context, event hook.Event, c *hook.Context) (*http.Response, error) {
	body, err := (&hook.Envelope{Event: event, Ctx: *c}).Encode()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.o.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("build request: %w", withoutURL(err))
	}
	for name, value := range p.o.Header {
		req.Header.Set(name, value)
	}
	timestamp, signature := hook.Sign(p.o.Secret, p.o.Now(), body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set(hook.HeaderHook, string(event.Hook()))
	req.Header.Set(hook.HeaderTimestamp, timestamp)
	req.Header.Set(hook.HeaderSignature, signature)
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("post event: %w", withoutURL(err))
	}
	return resp, nil
}

// read closes the answer and returns its body. It reads to the end, so that the
// connection can be used again.
func read(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	switch {
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNoContent:
		return nil, fmt.Errorf("read answer: status %d", resp.StatusCode)
	case err != nil:
		return nil, fmt.Errorf("read answer: %w", err)
	case len(body) > MaxAnswer:
		return nil, fmt.Errorf("read answer: more than %d bytes", MaxAnswer)
	}
	return body, nil
}

func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// withoutURL drops the URL that net/http puts into its errors: a query may hold a token.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
