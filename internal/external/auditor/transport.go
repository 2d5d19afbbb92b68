package auditor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// maxBody is the longest answer that is read, in bytes.
const maxBody = 64 << 10

// newClient is what both protocols are spoken through.
func newClient(o *Options, u *url.URL) *http.Client {
	client := http.Client{}
	if o.HTTP != nil {
		client = *o.HTTP
	}
	if client.Transport == nil {
		client.Transport = outbound.Transport(outbound.Options{LocalOnly: u.Scheme == "http" && !o.PlainHTTP})
	}
	client.CheckRedirect = outbound.Stay
	client.Jar = nil
	return &client
}

// endpoint is an API of JSON over HTTP. The providers' own clients are not used: for two
// requests they would be two thirds of what the whole program takes to compile.
type endpoint struct {
	base   *url.URL
	client *http.Client
	header http.Header // of every request
	lent   func(session string) (http.Header, error)
	// secrets are values of the header that no answer may repeat: it would be kept.
	secrets []string
}

func newEndpoint(o *Options, u *url.URL, client *http.Client) endpoint {
	return endpoint{base: u, client: client, header: http.Header{}, lent: o.Lent}
}

// of is the endpoint as a session asks it: with the credential that it came with, where that is how it is asked.
func (e *endpoint) of(session string) (*endpoint, error) {
	if e.lent == nil {
		return e, nil
	}
	own, err := e.lent(session)
	if err != nil {
		return nil, err
	}
	out := endpoint{base: e.base, client: e.client, header: e.header.Clone(), secrets: slices.Concat(slices.Collect(maps.Values(own))...)}
	maps.Copy(out.header, own)
	return &out, nil
}

// exchange sends one request, with question as its body unless that is nil, and reads the
// answer into into. Only a 200 of bounded size that says it is JSON is an answer: a redirect
// with a likely body is none. What the endpoint wrote cannot get into an error.
func (e *endpoint) exchange(ctx context.Context, path string, question, into any) error {
	req, err := e.request(ctx, path, question)
	if err != nil {
		return err
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return explain(err)
	}
	defer resp.Body.Close()
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case resp.StatusCode != http.StatusOK:
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody)) // as much of it as there is
		return &refusal{status: resp.StatusCode, after: parseRetryAfter(resp.Header), body: string(body)}
	case resp.ContentLength > maxBody:
		return errTooLarge
	case kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		return errMalformed
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case len(body) > maxBody:
		return errTooLarge
	case err != nil: // it broke, unlike a body that merely ends
		return explain(err)
	}
	for _, s := range e.secrets {
		if _, bare, found := strings.Cut(s, " "); found {
			s = bare
		}
		if bytes.Contains(body, []byte(s)) {
			return fmt.Errorf("%w: it repeats the credential", errNoAnswer)
		}
	}
	if strictjson.Unmarshal(body, into) != nil {
		return errMalformed
	}
	return nil
}

func (e *endpoint) request(ctx context.Context, path string, question any) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if question != nil {
		text, err := strictjson.Marshal(question)
		if err != nil {
			return nil, fmt.Errorf("write question: %w", err)
		}
		method, body = http.MethodPost, bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, e.base.JoinPath(path).String(), body)
	if err != nil {
		return nil, errMalformed // it would repeat the URL
	}
	req.Header = e.header.Clone()
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "tidemark")
	if question != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// list asks for the models. What they are does not matter, but it must be a list's object.
func (e *endpoint) list(ctx context.Context, path string) error {
	var models *struct{}
	if err := e.exchange(ctx, path, nil, &models); err != nil {
		return err
	}
	if models == nil {
		return errMalformed
	}
	return nil
}

// plain is a text as JSON can hold it.
func plain(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
