package llm

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Handshake signs the lines by which a host's plugin shows, in the system prompt, that it
// is alive and which session speaks. A line is worth nothing after a restart.
type Handshake struct {
	key [sha256.Size]byte
}

// ErrHandshake is returned for a line that is not one of ours, or no longer counts.
var ErrHandshake = errors.New("no live Tidemark plugin")

const (
	handshakeBegin = "[[tidemark:handshake "
	handshakeEnd   = "]]"
	maxHandshake   = 1024 // bytes of a line; a session's name has at most 512
)

// NewHandshake draws a secret.
func NewHandshake(rand io.Reader) (*Handshake, error) {
	h := &Handshake{}
	if _, err := io.ReadFull(rand, h.key[:]); err != nil {
		return nil, fmt.Errorf("draw handshake secret: %w", err)
	}
	return h, nil
}

// Sign makes the line for a session. It has no character that JSON would escape.
func (h *Handshake) Sign(session string, until time.Time) string {
	body := base64.RawURLEncoding.EncodeToString([]byte(session)) + " " + strconv.FormatInt(until.Unix(), 10)
	return handshakeBegin + body + " " + hex.EncodeToString(h.sum(body)) + handshakeEnd
}

// Verify is the session a line was signed for.
func (h *Handshake) Verify(line string, now time.Time) (string, error) {
	inner, begun := strings.CutPrefix(line, handshakeBegin)
	inner, ended := strings.CutSuffix(inner, handshakeEnd)
	fields := strings.Split(inner, " ")
	if !begun || !ended || len(fields) != 3 || len(line) > maxHandshake {
		return "", ErrHandshake
	}
	sum, err := hex.DecodeString(fields[2])
	if err != nil || !hmac.Equal(sum, h.sum(fields[0]+" "+fields[1])) {
		return "", ErrHandshake
	}
	until, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || now.Unix() > until {
		return "", fmt.Errorf("%w: its line has expired", ErrHandshake)
	}
	session, err := base64.RawURLEncoding.DecodeString(fields[0])
	if err != nil || len(session) == 0 {
		return "", ErrHandshake
	}
	return string(session), nil
}

func (h *Handshake) sum(body string) []byte {
	m := hmac.New(sha256.New, h.key[:])
	m.Write([]byte("tidemark llm handshake " + body))
	return m.Sum(nil)
}

// findLine is the first thing in a text that looks like a line of ours.
func findLine(text string) string {
	_, rest, found := strings.Cut(text, handshakeBegin)
	if !found {
		return ""
	}
	inner, _, closed := strings.Cut(rest, handshakeEnd)
	if !closed || len(inner) > maxHandshake {
		return ""
	}
	return handshakeBegin + inner + handshakeEnd
}
