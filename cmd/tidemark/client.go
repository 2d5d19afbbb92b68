package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

// client speaks to the server that runs on the data folder.
type client struct {
	base   string
	token  string
	secret func(context.Context) (string, error) // a person's token, where the other does not do; nil: there is none
	http   *http.Client
}

// findServer returns a client for the running server, or nil when there is none: then
// the command works on the log itself.
func (e *env) findServer(ctx context.Context) (*client, error) {
	p, err := e.paths()
	if err != nil {
		return nil, err
	}
	if away, token, err := datafolder.JoinedTo(p); err != nil || away != nil {
		return e.elsewhere(ctx, away, token, err)
	}
	r, err := datafolder.FindRunning(p)
	if errors.Is(err, datafolder.ErrNotRunning) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	tokens, _, err := accounts.LoadTokens(p.Tokens())
	if err != nil {
		return nil, err
	}
	c := &client{base: r.URL, token: tokens.Reader, secret: e.secret, http: straight(tokens.Agent, r.URL)}
	if err := c.call(ctx, http.MethodGet, "/healthz", nil, nil); errors.Is(err, syscall.ECONNREFUSED) {
		return nil, nil // the announcement is stale: the server was killed
	} else if err != nil {
		return nil, fmt.Errorf("reach server at %s: %w", r.URL, err)
	}
	return c, nil
}

// straight is a client that goes to the server and to nobody else: a person's token must not
// end up with a program that took its port.
func straight(secret, url string) *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: serverproof.Dialer(secret, url)}}
}

// call sends one request and decodes the answer into out, if given. What the token of this
// machine may not do takes a person's.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	err := c.send(ctx, method, path, in, out)
	var no *refused
	if c.secret == nil || !errors.As(err, &no) || no.Status != http.StatusForbidden {
		return err
	}
	token, err := c.secret(ctx)
	if err != nil {
		return err
	}
	c.token, c.secret = token, nil
	return c.send(ctx, method, path, in, out)
}

func (c *client) send(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := strictjson.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if res.StatusCode >= 300 {
		return refusal(res.StatusCode, raw)
	}
	if out == nil {
		return nil
	}
	if err := strictjson.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// refused is an answer that is not 2xx.
type refused struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

func (r *refused) Error() string {
	if r.Detail == "" {
		return fmt.Sprintf("%s (%d)", r.Title, r.Status)
	}
	return fmt.Sprintf("%s (%d)", r.Detail, r.Status)
}

func refusal(status int, raw []byte) error {
	r := &refused{}
	if err := strictjson.Unmarshal(raw, r); err != nil || r.Title == "" {
		r.Title = http.StatusText(status)
	}
	r.Status = status
	return r
}

// unlessStopped reads what may never come: who presses Ctrl-C waits for nothing more.
func unlessStopped[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	came := make(chan answer, 1)
	go func() {
		v, err := read()
		came <- answer{v, err}
	}()
	select {
	case a := <-came:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// stdin is standard input for as long as nobody stops the command.
func (e *env) stdin(ctx context.Context) io.Reader {
	var buf []byte
	return reading(func(p []byte) (int, error) {
		if len(buf) < len(p) {
			buf = make([]byte, len(p)) // not p, which is the caller's again once it was stopped
		}
		part := buf[:len(p)]
		n, err := unlessStopped(ctx, func() (int, error) { return e.in.Read(part) })
		return copy(p, part[:n]), err
	})
}

// reading is a reader that is one function.
type reading func(p []byte) (int, error)

func (r reading) Read(p []byte) (int, error) { return r(p) }

// line reads one line of standard input, of so many bytes at most.
func (e *env) line(ctx context.Context, most int64) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(e.stdin(ctx), most)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSpace(line), err
}

// maxSecret bounds a line that is a token.
const maxSecret = 4096

// errNoSecret says what a command lacks that was not started by a person at a terminal.
var errNoSecret = errors.New("this takes the approver or admin token, which is not kept on this machine: " +
	"run it on a terminal, or hand the token in with --token-stdin (tidemark token new makes another)")

// secret is the token of a person who may answer. It is asked for, and kept no longer than
// this program runs: what lies on the disk could be read by the agent that waits.
func (e *env) secret(ctx context.Context) (string, error) {
	if e.token != "" {
		return e.token, nil
	}
	token, err := e.askSecret(ctx)
	if err != nil {
		return "", err
	}
	if e.token = token; token == "" {
		return "", errNoSecret
	}
	return token, nil
}

func (e *env) askSecret(ctx context.Context) (string, error) {
	if e.tokenStdin {
		token, err := e.line(ctx, maxSecret)
		if err != nil {
			return "", fmt.Errorf("read token: %w", err)
		}
		return token, nil
	}
	f, ok := e.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", errNoSecret
	}
	fmt.Fprint(e.errOut, "approver or admin token (shown by the first tidemark serve): ")
	fd := int(f.Fd())
	was, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	raw, err := unlessStopped(ctx, func() ([]byte, error) { return term.ReadPassword(fd) })
	fmt.Fprintln(e.errOut)
	if err != nil {
		// Whoever was stopped while letters were hidden gets a terminal back that shows them.
		return "", fmt.Errorf("read token: %w", errors.Join(err, term.Restore(fd, was)))
	}
	return strings.TrimSpace(string(raw)), nil
}
