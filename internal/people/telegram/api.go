package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	tg "github.com/go-telegram/bot"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/people/channels"
)

// The bounds of talking to Telegram.
const (
	maxBody   = 8 << 20          // of an answer: 50 updates with a whole message each
	maxCalls  = 8                // calls under way at once, getUpdates apart
	maxTries  = 5                // of one call that Telegram asks to repeat later
	callLimit = 15 * time.Second // of one call
)

// newClient is the client to use: no redirects, because the token in the URL would go
// along in the Referer header, and no proxy of the environment.
func newClient(given *http.Client) *http.Client {
	c := &http.Client{}
	if given != nil {
		*c = *given
	} else {
		c.Transport = outbound.Transport(outbound.Options{Conns: 2 * maxCalls})
	}
	c.CheckRedirect = outbound.Stay
	return c
}

// bounded is a client whose answers end at maxBody: the library reads them whole.
type bounded struct{ http *http.Client }

// Do sends a request.
func (b bounded) Do(r *http.Request) (*http.Response, error) {
	resp, err := b.http.Do(r) //nolint:gosec // the library builds every request from the base URL the operator configured
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxBody), resp.Body}
	return resp, nil
}

// Error is a call of the Bot API that did not work. It never holds the token.
type Error struct {
	Method     string
	Code       int // of the Bot API; 0 where there was no proper answer
	Text       string
	RetryAfter time.Duration // with code 429
	cause      error
}

func (e *Error) Error() string {
	if e.Code != 0 {
		return fmt.Sprintf("%s: %d %s", e.Method, e.Code, e.Text)
	}
	return fmt.Sprintf("%s: %s", e.Method, e.Text)
}

// Unwrap gives context.Canceled, if that is what ended the call. A call that took too
// long is only a call that did not work: it says nothing about the time for an answer.
func (e *Error) Unwrap() error { return e.cause }

// failure turns any error of a call into an Error. Nothing else of the chain survives:
// net/http puts the URL, and with it the token, into its errors.
func (b *Bot) failure(method string, err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		known.Text = b.scrub(known.Text)
		return known
	}
	e := &Error{Method: method}
	var many *tg.TooManyRequestsError
	var moved *tg.MigrateError
	var u *url.Error
	switch {
	case errors.As(err, &many):
		e.Code, e.RetryAfter = http.StatusTooManyRequests, time.Duration(many.RetryAfter)*time.Second
	case errors.As(err, &moved):
		e.Code, err = http.StatusBadRequest, fmt.Errorf("the group became a supergroup: its chat id is now %d", moved.MigrateToChatID)
	case errors.As(err, &u):
		err = u.Err
	}
	for code, sentinel := range map[int]error{
		http.StatusForbidden: tg.ErrorForbidden, http.StatusBadRequest: tg.ErrorBadRequest, http.StatusUnauthorized: tg.ErrorUnauthorized,
		http.StatusNotFound: tg.ErrorNotFound, http.StatusConflict: tg.ErrorConflict,
	} {
		if errors.Is(err, sentinel) {
			e.Code = code
		}
	}
	if errors.Is(err, context.Canceled) {
		e.cause = context.Canceled
	}
	e.Text = b.scrub(err.Error())
	return e
}

// scrub makes text fit for errors and logs: one short line without the token.
func (b *Bot) scrub(text string) string {
	_, secret, _ := strings.Cut(b.token, ":")
	for _, s := range []string{b.token, url.PathEscape(b.token), url.QueryEscape(b.token), secret} {
		text = strings.ReplaceAll(text, s, "***")
	}
	return channels.Cut(channels.OneLine(text), 300)
}

// gate bounds the calls under way and keeps quiet for as long as Telegram asks.
type gate struct {
	slots chan struct{}
	mu    sync.Mutex
	quiet time.Time // guarded by mu; no call before
}

func (g *gate) hush(until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until.After(g.quiet) {
		g.quiet = until
	}
}

func (g *gate) wait(now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.quiet.Sub(now)
}

// call runs one method, again after a pause where Telegram asks for one. The end of ctx
// ends the waiting, but not a call that is under way: what Telegram made of it would
// stay unknown.
func (b *Bot) call(ctx context.Context, method string, run func(context.Context) error) error {
	select {
	case b.gate.slots <- struct{}{}:
		defer func() { <-b.gate.slots }()
	case <-ctx.Done():
		return b.failure(method, ctx.Err())
	}
	var failed *Error
	for range maxTries {
		if ctx.Err() != nil {
			return b.note(method, b.failure(method, ctx.Err()))
		}
		if err := b.pause(ctx, method, b.gate.wait(b.now())); err != nil {
			return b.note(method, err)
		}
		one, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
		err := run(one)
		cancel()
		if err == nil {
			return b.note(method, nil)
		}
		failed = b.failure(method, err)
		if failed.Code != http.StatusTooManyRequests {
			break
		}
		b.gate.hush(b.now().Add(max(failed.RetryAfter, time.Second)))
	}
	return b.note(method, failed)
}

// pause waits, unless it is plain that there is no time for it.
func (b *Bot) pause(ctx context.Context, method string, d time.Duration) *Error {
	if d <= 0 {
		return nil
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		text := fmt.Sprintf("too many requests: Telegram asks to wait %s", d.Round(time.Second))
		return &Error{Method: method, Code: http.StatusTooManyRequests, Text: text, RetryAfter: d}
	}
	if err := b.sleep(ctx, d); err != nil {
		return b.failure(method, err)
	}
	return nil
}
