package proxy

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

	"github.com/tidemark/tidemark/internal/llm/format"
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
	l, ok := readLine(line)
	if !ok || !hmac.Equal(l.sum, h.sum(l.body)) {
		return "", ErrHandshake
	}
	if now.Unix() > l.until {
		return "", fmt.Errorf("%w: its line has expired", ErrHandshake)
	}
	return l.session, nil
}

// signed is what a line says, whoever made it.
type signed struct {
	session string
	until   int64
	body    string // what the sum is of
	sum     []byte
}

func readLine(line string) (signed, bool) {
	inner, begun := strings.CutPrefix(line, handshakeBegin)
	inner, ended := strings.CutSuffix(inner, handshakeEnd)
	fields := strings.Split(inner, " ")
	if !begun || !ended || len(fields) != 3 || len(line) > maxHandshake {
		return signed{}, false
	}
	session, err1 := base64.RawURLEncoding.DecodeString(fields[0])
	until, err2 := strconv.ParseInt(fields[1], 10, 64)
	sum, err3 := hex.DecodeString(fields[2])
	ok := err1 == nil && err2 == nil && err3 == nil && len(session) > 0 && len(sum) == sha256.Size
	return signed{session: string(session), until: until, body: fields[0] + " " + fields[1], sum: sum}, ok
}

func (h *Handshake) sum(body string) []byte {
	m := hmac.New(sha256.New, h.key[:])
	m.Write([]byte("tidemark llm handshake " + body))
	return m.Sum(nil)
}

// handshakeMarks are what looks like a line of ours, of this start or another: none is for a
// provider, whether it still counts or not.
func handshakeMarks() format.Marks {
	return format.Marks{Open: handshakeBegin, Close: handshakeEnd, Most: maxHandshake, Ours: func(line string) bool {
		_, ok := readLine(line)
		return ok
	}}
}
