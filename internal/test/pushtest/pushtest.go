// Package pushtest is a push service as browsers' makers run them, and the browsers that listen to it: it speaks
// the protocol over TLS, refuses what a real one would, and reads messages with each browser's own key.
package pushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Message is what a browser read.
type Message struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Body  string `json:"body"`
	Over  bool   `json:"over"`

	Topic, Urgency string
	TTL            time.Duration
	Sealed         int // bytes on the way
}

// Service carries messages.
type Service struct {
	Now func() time.Time // its clock; set before anybody sends

	t      testing.TB
	server *httptest.Server

	mu       sync.Mutex
	browsers map[string]*Browser // guarded by mu; by path
	faults   []string            // guarded by mu; what a real one would have refused
	asked    int                 // guarded by mu; requests of any kind
}

// New starts a service.
func New(t testing.TB) *Service {
	t.Helper()
	s := &Service{Now: time.Now, t: t, browsers: map[string]*Browser{}}
	s.server = httptest.NewTLSServer(s)
	t.Cleanup(s.server.Close)
	return s
}

// Host is what it is called, with its port.
func (s *Service) Host() string { return strings.TrimPrefix(s.server.URL, "https://") }

// Roots are whom to believe that it is the one.
func (s *Service) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.server.Certificate())
	return pool
}

// Faults are what a real service would have refused.
func (s *Service) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.faults...)
}

// Asked is how many requests came, of any kind.
func (s *Service) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Browser is one that subscribed.
type Browser struct {
	Endpoint, P256dh, Auth string

	service *Service
	key     *ecdh.PrivateKey
	auth    []byte
	sender  string // the key it is bound to
	got     chan Message

	mu     sync.Mutex
	answer int    // guarded by mu; in place of taking a message; 0: it is taken
	to     string // guarded by mu; where a redirect leads
}

// Subscribe is a browser that agreed to be told by whoever has the key.
func (s *Service) Subscribe(sender string) *Browser {
	s.t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	auth := make([]byte, 16)
	if _, err := rand.Read(auth); err != nil {
		s.t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	path := "/send/" + rand.Text()
	b := &Browser{
		Endpoint: s.server.URL + path, P256dh: encode(key.PublicKey().Bytes()), Auth: encode(auth),
		service: s, key: key, auth: auth, sender: sender, got: make(chan Message, 1000),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.browsers[path] = b
	return b
}

// Answers has the service answer with a status in place of taking messages; 0: it takes them again.
func (b *Browser) Answers(status int, location string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer, b.to = status, location
}

// patience is for a loaded machine.
const patience = 30 * time.Second

// Next waits for a message.
func (b *Browser) Next() Message {
	b.service.t.Helper()
	select {
	case m := <-b.got:
		return m
	case <-time.After(patience):
		b.service.t.Fatalf("no message came; refused: %q", b.service.Faults())
		return Message{}
	}
}

// Told reports whether a message is there that nobody took.
func (b *Browser) Told() bool { return len(b.got) > 0 }

// ServeHTTP takes a message.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked++
	b := s.browsers[r.URL.Path]
	s.mu.Unlock()
	if b == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	b.mu.Lock()
	status, to := b.answer, b.to
	b.mu.Unlock()
	if status != 0 {
		if to != "" {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(status)
		return
	}
	m, status, err := b.take(r, "https://"+s.Host())
	if err != nil {
		s.mu.Lock()
		s.faults = append(s.faults, err.Error())
		s.mu.Unlock()
		w.WriteHeader(status)
		return
	}
	b.got <- m
	w.Header().Set("Location", "https://"+s.Host()+"/message/"+rand.Text())
	w.WriteHeader(http.StatusCreated)
}

var topic = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// take looks at a message as RFC 8030, 8292 and 8291 want it.
func (b *Browser) take(r *http.Request, origin string) (m Message, status int, err error) {
	h := r.Header
	seconds, err := strconv.Atoi(h.Get("TTL"))
	switch {
	case r.Method != http.MethodPost:
		return m, http.StatusMethodNotAllowed, errors.New("a message is posted")
	case err != nil || seconds < 0:
		return m, http.StatusBadRequest, fmt.Errorf("TTL %q", h.Get("TTL"))
	case h.Get("Content-Encoding") != "aes128gcm":
		return m, http.StatusUnsupportedMediaType, fmt.Errorf("content encoding %q", h.Get("Content-Encoding"))
	case h.Get("Topic") != "" && !topic.MatchString(h.Get("Topic")):
		return m, http.StatusBadRequest, fmt.Errorf("topic %q", h.Get("Topic"))
	case h.Get("Urgency") != "high" && h.Get("Urgency") != "normal":
		return m, http.StatusBadRequest, fmt.Errorf("urgency %q", h.Get("Urgency"))
	}
	if err := b.vouched(h.Get("Authorization"), origin); err != nil {
		return m, http.StatusForbidden, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || len(body) > 4096 {
		return m, http.StatusRequestEntityTooLarge, fmt.Errorf("%d bytes, %w", len(body), err)
	}
	text, err := Open(b.key, b.auth, body)
	if err != nil {
		return m, http.StatusBadRequest, err
	}
	if err := strictjson.Unmarshal(text, &m); err != nil {
		return m, http.StatusBadRequest, err
	}
	m.Topic, m.Urgency, m.TTL, m.Sealed = h.Get("Topic"), h.Get("Urgency"), time.Duration(seconds)*time.Second, len(body)
	return m, 0, nil
}

// vouched checks who sends: RFC 8292.
func (b *Browser) vouched(header, origin string) error {
	fields, ok := strings.CutPrefix(header, "vapid ")
	token, key, two := strings.Cut(fields, ", ")
	token, good := strings.CutPrefix(token, "t=")
	key, fine := strings.CutPrefix(key, "k=")
	if !ok || !two || !good || !fine {
		return fmt.Errorf("authorization %q", header)
	}
	if key != b.sender {
		return errors.New("the browser is bound to another key")
	}
	raw, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return err
	}
	claims := jwt.MapClaims{}
	now := b.service.Now
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithAudience(origin), jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(now))
	if _, err = parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return public, nil }); err != nil {
		return err
	}
	if end, err := claims.GetExpirationTime(); err != nil || end.Sub(now()) > 24*time.Hour {
		return fmt.Errorf("it is good until %v", end)
	}
	if sub, _ := claims.GetSubject(); !strings.HasPrefix(sub, "mailto:") && !strings.HasPrefix(sub, "https:") {
		return fmt.Errorf("sub %q", sub)
	}
	return nil
}

// Open decrypts a message: RFC 8291 over RFC 8188, in one record.
func Open(key *ecdh.PrivateKey, auth, body []byte) ([]byte, error) {
	if len(body) < 21+65 || body[20] != 65 {
		return nil, errors.New("the header is cut short")
	}
	salt, size, public := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:86]
	if sealed := body[86:]; uint32(len(sealed)) > size {
		return nil, errors.New("more than one record")
	}
	sender, err := ecdh.P256().NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	shared, err := key.ECDH(sender)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(key.PublicKey().Bytes()) + string(public)
	prk, err1 := hkdf.Extract(sha256.New, shared, auth)
	secret, err2 := hkdf.Expand(sha256.New, prk, info, 32)
	prk2, err3 := hkdf.Extract(sha256.New, secret, salt)
	cek, err4 := hkdf.Expand(sha256.New, prk2, "Content-Encoding: aes128gcm\x00", 16)
	nonce, err5 := hkdf.Expand(sha256.New, prk2, "Content-Encoding: nonce\x00", 12)
	block, err6 := aes.NewCipher(cek)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, body[86:], nil)
	if err != nil {
		return nil, err
	}
	end := len(plain) - 1
	for end >= 0 && plain[end] == 0 {
		end--
	}
	if end < 0 || plain[end] != 2 {
		return nil, errors.New("the last record has no end")
	}
	return plain[:end], nil
}
