package buttons

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// CallLimit is how long one request to a service may take.
const CallLimit = 10 * time.Second

// maxAnswer bounds what is read of an answer.
const maxAnswer = 1 << 20

// Caller asks a service over HTTP. Its errors hold neither address nor token.
type Caller struct {
	HTTP *http.Client
	// Prepare adds what the service wants to know; nil: nothing.
	Prepare func(r *http.Request, body []byte)
}

// StatusError is an answer that says no.
type StatusError struct {
	Status int
	Body   []byte
	After  time.Duration // when to try again; 0: it is not said
}

func (e *StatusError) Error() string { return fmt.Sprintf("the service answered %d", e.Status) }

// Call sends a request with a JSON body, unless in is nil, and decodes the answer into out,
// unless it is nil. Where the service says when to come back it waits, once.
func (c Caller) Call(ctx context.Context, method, url string, in, out any) error {
	err := c.call(ctx, method, url, in, out)
	var said *StatusError
	if !errors.As(err, &said) || said.Status != http.StatusTooManyRequests {
		return err
	}
	select {
	case <-ctx.Done():
		return err
	case <-time.After(min(max(said.After, time.Second), time.Minute)):
	}
	return c.call(ctx, method, url, in, out)
}

func (c Caller) call(ctx context.Context, method, url string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = strictjson.Marshal(in); err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address cannot be asked")
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	if c.Prepare != nil {
		c.Prepare(req, body)
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return plain(err)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return plain(err)
	}
	if res.StatusCode/100 != 2 {
		after, _ := strconv.ParseFloat(res.Header.Get("Retry-After"), 64)
		return &StatusError{Status: res.StatusCode, Body: raw, After: time.Duration(after * float64(time.Second))}
	}
	if out == nil {
		return nil
	}
	if err := strictjson.Unmarshal(raw, out); err != nil {
		return errors.New("the answer cannot be read")
	}
	return nil
}

// plain is an error of the network without the address, which may hold a token.
func plain(err error) error {
	var at interface{ Unwrap() error }
	for errors.As(err, &at) {
		inner := at.Unwrap()
		if inner == nil {
			break
		}
		err = inner
	}
	return err
}
