package auditor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

var (
	errTooLarge  = fmt.Errorf("the answer has more than %d bytes", maxBody)
	errMalformed = errors.New("the answer is not what the API promises")
	errPanic     = errors.New("the client panicked")
	// errNoAnswer is in errors about a model that answered without an answer.
	errNoAnswer = errors.New("no answer")
)

// refusal is a status other than 200. What the endpoint wrote is kept to see which
// parameter it names, and is never shown: it may repeat the key.
type refusal struct {
	status int
	after  time.Duration // it asks to be left alone for so long
	body   string
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d", r.status) }

// names reports whether the endpoint refuses a request for a parameter of this name.
func (r *refusal) names(parameter string) bool {
	return (r.status == http.StatusBadRequest || r.status == http.StatusUnprocessableEntity) && strings.Contains(r.body, parameter)
}

func (r *refusal) noSuchPath() bool {
	return r.status == http.StatusNotFound || r.status == http.StatusMethodNotAllowed || r.status == http.StatusNotImplemented
}

// unreachable is a connection that could not be made or broke.
type unreachable struct{ err error }

func (u *unreachable) Error() string { return u.err.Error() }
func (u *unreachable) Unwrap() error { return u.err }

// explain turns an error of net/http into one of ours, which does not hold the URL.
func explain(err error) error {
	var u *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case errors.As(err, &u):
		return &unreachable{u.Err}
	}
	return &unreachable{err}
}

// transient reports whether the same request may succeed a moment later.
func transient(err error) bool {
	var r *refusal
	if errors.As(err, &r) {
		return r.status == http.StatusTooManyRequests || r.status >= 500
	}
	var u *unreachable
	return errors.As(err, &u)
}

func retryAfter(err error) time.Duration {
	var r *refusal
	if errors.As(err, &r) {
		return r.after
	}
	return 0
}

// cancelled reports whether nobody waits for the answer any more, which says nothing
// about the endpoint.
func cancelled(err error) bool { return errors.Is(err, context.Canceled) }

// alive reports whether an endpoint that gave this error works: it refused this one
// question, or its model said nothing useful. Both can be brought about by what is in
// the question, so neither may count against the endpoint.
func alive(err error) bool {
	var r *refusal
	if errors.As(err, &r) {
		switch r.status {
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
			return true
		}
		return false
	}
	return err == nil || errors.Is(err, errNoAnswer)
}

// wrap says what was done. The deadline and the end of a caller read better in words.
func wrap(verb string, err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: no answer in time: %w", verb, err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: nobody waits any more: %w", verb, err)
	}
	return fmt.Errorf("%s: %w", verb, err)
}

// parseRetryAfter reads the header where it is a number. Anything else counts as soon:
// the pause between tries is then our own.
func parseRetryAfter(h http.Header) time.Duration {
	const most = 24 * time.Hour
	for _, f := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(h.Get(f.name), 64); err == nil && n > 0 {
			return time.Duration(min(n*float64(f.unit), float64(most)))
		}
	}
	return 0
}
