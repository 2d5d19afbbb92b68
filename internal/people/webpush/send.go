package webpush

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// message is what a browser reads; it has no place for more.
type message struct {
	ID    string `json:"id,omitzero"` // of the question; empty: of none
	Title string `json:"title"`
	Body  string `json:"body"`
	Over  bool   `json:"over,omitzero"` // it takes the place of the one before, without a sound
}

// The bounds of sending.
const (
	sendTime = 10 * time.Second
	tokenFor = 12 * time.Hour // RFC 8292: at most a day
	minKept  = time.Minute
	maxKept  = 24 * time.Hour
)

// ErrService is in the error for a service that does not take a message.
var ErrService = errors.New("the browser's service did not take a message")

// errGone is returned for a browser that does not want to be told any more.
var errGone = errors.New("the browser is gone")

// send has a service carry a message to a browser, and keep it for a while if the browser is off.
func (s *Sender) send(ctx context.Context, to *Subscription, m message, keep time.Duration) error {
	u, own, err := place(to.Endpoint, s.o.Services)
	if err != nil {
		return err
	}
	key, auth, err := to.keys()
	if err != nil {
		return err
	}
	text, err := strictjson.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode notice: %w", err)
	}
	body, err := seal(key, auth, text)
	if err != nil {
		return err
	}
	signed, err := s.vouch(u)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: it cannot be asked", ErrBad)
	}
	h := req.Header
	h.Set("Content-Encoding", "aes128gcm")
	h.Set("Content-Type", "application/octet-stream")
	h.Set("TTL", strconv.Itoa(int(min(max(keep, minKept), maxKept)/time.Second)))
	h.Set("Urgency", "high")
	h.Set("Authorization", signed)
	if m.ID != "" {
		h.Set("Topic", topicOf(m.ID)) // of two that wait at the service the later one is delivered
	}
	client := s.guarded
	if own {
		client = s.named
	}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be reached: %w", ErrService, u.Hostname(), bare(err))
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
	_ = res.Body.Close()
	return judged(u.Hostname(), res.StatusCode)
}

// judged is what the answer of a service means.
func judged(service string, status int) error {
	switch {
	case status == http.StatusNotFound, status == http.StatusGone:
		return errGone
	case status/100 == 2:
		return nil
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s answered %d: is channels.push.contact an address of yours?", ErrService, service, status)
	}
	return fmt.Errorf("%w: %s answered %d", ErrService, service, status)
}

// bare is an error of the network without the address, which is the browser's alone.
func bare(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// vouch says to a service who sends (RFC 8292).
func (s *Sender) vouch(u *url.URL) (string, error) {
	claims := jwt.MapClaims{"aud": "https://" + u.Host, "exp": s.o.Now().Add(tokenFor).Unix(), "sub": s.o.Contact}
	token, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(s.book.key)
	if err != nil {
		return "", fmt.Errorf("sign for %s: %w", u.Hostname(), err)
	}
	return "vapid t=" + token + ", k=" + s.Key(), nil
}

// Key is the public key that a browser binds its subscription to.
func (s *Sender) Key() string {
	raw, err := s.book.key.PublicKey.Bytes()
	if err != nil {
		return "" // of a key that was made or read here: it has a form
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}
