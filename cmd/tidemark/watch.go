package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/people/tui"
)

func (e *env) watchCommand() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "See calls that are asked about as they come, and answer with keys",
		Long: `Watch the questions of the running server and answer them with keys; ? lists the keys.
With --json, or when the output is not a terminal, every question is printed as one
line of JSON when it comes and when it changes. A new question
is also shown on the desktop, where notify-send or osascript is installed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.watch(cmd.Context(), quiet) },
	}
	cmd.Flags().BoolVar(&quiet, "quiet", false, "no desktop notifications")
	return cmd
}

func (e *env) watch(ctx context.Context, quiet bool) error {
	c, err := e.findApprover(ctx)
	if err != nil {
		return err // said at once, not on a screen that never shows anything
	}
	w := tui.Watcher{Find: e.link, Paint: e.ui.word}
	if e.json || !e.onTerminal() { // nothing is answered there
		return w.Lines(ctx, e.out, e.errOut)
	}
	if proof, err := proofOf(ctx, c); err == nil && proof == passkeys && !e.tokenStdin {
		w.Find = e.keyLink // no token approves anything there
	} else if _, err := e.secret(ctx); err != nil {
		return err
	}
	if !quiet {
		w.Notify = tui.Desktop()
	}
	return w.Screen(ctx, e.in, e.out)
}

func (e *env) onTerminal() bool {
	f, ok := isTerminal(e.out)
	return ok && term.IsTerminal(int(f.Fd()))
}

// findApprover is the running server, to be spoken to with no more rights than it takes.
func (e *env) findApprover(ctx context.Context) (*client, error) {
	c, err := e.findServer(ctx)
	if err != nil {
		return nil, err
	}
	p, err := e.paths()
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("no server is running on %s: start one with: tidemark serve --data %s", p.Data, p.Data)
	}
	if e.token != "" {
		c.token = e.token
	}
	return c, nil
}

// link is that server as the screen speaks to it.
func (e *env) link(ctx context.Context) (tui.Link, error) {
	c, err := e.findApprover(ctx)
	if err != nil {
		return tui.Link{}, err
	}
	return tui.Link{Open: c.open, Post: func(ctx context.Context, path string, in, out any) error {
		return c.call(ctx, http.MethodPost, path, in, out)
	}}, nil
}

// passkeys is what approving takes where a key is enrolled.
const passkeys = "passkey"

// errByKey is told whoever answers in a terminal what a key has to sign.
var errByKey = errors.New("approving takes your passkey: the question is open in your browser, answer it there")

// keyLink is that server where approving takes a key: the terminal watches, and what is answered is opened in the browser, which
// has the key.
func (e *env) keyLink(ctx context.Context) (tui.Link, error) {
	c, err := e.findApprover(ctx)
	if err != nil {
		return tui.Link{}, err
	}
	c.secret = nil
	return tui.Link{Open: c.open, Post: func(ctx context.Context, path string, in, out any) error {
		err := c.call(ctx, http.MethodPost, path, in, out)
		var no *refused
		if id, ok := strings.CutPrefix(path, "/v1/approvals/"); ok && errors.As(err, &no) && no.Status == http.StatusForbidden {
			if bad := browser(c.base + "/console/q/" + id).Start(); bad != nil {
				return fmt.Errorf("approving takes your passkey, and no browser could be opened (%w): run tidemark console", bad)
			}
			return errByKey
		}
		return err
	}}, nil
}

// Final reports whether the same request would be refused again.
func (r *refused) Final() bool {
	return r.Status/100 == 4 && r.Status != http.StatusRequestTimeout && r.Status != http.StatusTooManyRequests
}

// open starts an endless answer. The client's time limit would end it.
func (c *client) open(ctx context.Context, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "text/event-stream")
	res, err := (&http.Client{Transport: c.http.Transport}).Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		return nil, errors.Join(refusal(res.StatusCode, raw), err, res.Body.Close())
	}
	if kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil || kind != "text/event-stream" {
		return nil, errors.Join(errors.New("the answer is not a stream of events"), res.Body.Close())
	}
	return res.Body, nil
}
