// Package afar is the way to a server on another machine: where it is, the key it is known by, and connections that are proven to end
// at it before anything is said on them.
//
// It reads and writes one file of the data folder, dials, and does no other I/O. Invariants:
//   - nothing is said without TLS, whatever the address;
//   - where a key is pinned no other key will do, whoever vouches for it; where none is, the system's roots decide;
//   - beyond TLS the server proves that it knows the token, for the very connection that it is asked on: one who ends the connection
//     in between, with a certificate that this machine trusts, cannot hand that proof on;
//   - a file that others could have written or read is an error, and never the same as none.
package afar

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tidemark/tidemark/internal/base/fileowner"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Server is a server elsewhere, as the data folder of a machine names it that has joined it.
type Server struct {
	URL     string `json:"url"`
	Pin     string `json:"pin,omitzero"` // of its key, as PinOf makes it; "": the system's roots vouch for it
	Machine string `json:"machine"`      // what this machine is called there
	Secret  string `json:"secret"`       // of this machine alone: tickets of sessions are made with it, and it is never sent
}

// File is where it is named.
func File(data string) string { return filepath.Join(data, "elsewhere.json") }

// PinOf is a key as it is pinned: the SHA-256 of the certificate's public key, in hexadecimal digits. Another certificate of the same
// key has the same pin.
func PinOf(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// Place is what a server says of where it was met, on a connection that ends at its own key.
func Place(pin string) string { return "key:" + pin }

// Read is the server that the data folder names; nil where it names none, and the server is this machine's.
func Read(data string) (*Server, error) {
	f, err := os.Open(File(data))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find server: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("find server: %w", err)
	}
	if fileowner.Open(info, 0o077) {
		return nil, fmt.Errorf("find server: %s is open to others (run: chmod 600 %s)", f.Name(), f.Name())
	}
	raw, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return nil, fmt.Errorf("find server: %w", err)
	}
	s := new(Server)
	if err := strictjson.UnmarshalKnown(raw, s); err != nil {
		return nil, fmt.Errorf("find server: %s: %w", f.Name(), err)
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("find server: %s: %w", f.Name(), err)
	}
	return s, nil
}

// NewSecret draws the secret of a machine.
func NewSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails: the program ends first
	return hex.EncodeToString(b[:])
}

// Write names the server in the data folder.
func (s *Server) Write(data string) error {
	if err := s.Check(); err != nil {
		return err
	}
	raw, err := strictjson.MarshalIndent(s)
	if err != nil {
		return fmt.Errorf("note the server: %w", err)
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("note the server: %w", err)
	}
	next := File(data) + ".new"
	if err := errors.Join(os.WriteFile(next, append(raw, '\n'), 0o600), os.Rename(next, File(data))); err != nil {
		return fmt.Errorf("note the server: %w", err)
	}
	return nil
}

// Forget makes the server this machine's own again.
func Forget(data string) error {
	if err := os.Remove(File(data)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget the server: %w", err)
	}
	return nil
}

// Check refuses what is no address of a server elsewhere, or no pin.
func (s *Server) Check() error {
	if err := CheckURL(s.URL); err != nil {
		return err
	}
	if s.Pin != "" && !isSum(s.Pin) {
		return errors.New("the pin is none: want the SHA-256 of the server's public key, 64 hexadecimal digits")
	}
	if s.Machine == "" || !isSum(s.Secret) {
		return errors.New("the machine has no name or no secret (join again: tidemark join)")
	}
	return nil
}

// CheckURL refuses everything but the https address of a server: what is said to one is for nobody on the way.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%q is no address of a server (want https://HOST:PORT)", raw)
	case u.Scheme != "https":
		return fmt.Errorf("%q is not https: the token and all that agents do would travel for everybody to read", raw)
	}
	return nil
}

func isSum(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size && s == strings.ToLower(s)
}

// Address is where to dial.
func (s *Server) Address() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	if u.Port() == "" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return u.Host
}

// Ticket is that of a session of this machine: whoever has a token and not this machine's secret has none.
func (s *Server) Ticket(session string) string {
	mac := hmac.New(sha256.New, []byte(s.Secret))
	_, _ = mac.Write([]byte("tidemark session ticket 1\n" + session)) // it never fails
	return "tms-" + hex.EncodeToString(mac.Sum(nil)[:24])
}

// ErrAway is for a server that cannot be reached: then nothing may run, and nobody can be asked.
var ErrAway = errors.New("the server elsewhere cannot be reached, so nothing may run")

// ErrKey is for what listens at the server's address under another key.
var ErrKey = errors.New("what listens there has another key than the server that this machine joined, so nothing was told to it " +
	"(somebody stands between, or the server has a new key: ask whoever runs it, and join again)")

var errPlain = errors.New("this is not https: nothing is said that everybody could read")

// dialTime bounds how long a connection may take to come up.
const dialTime = 4 * time.Second

// Dialer makes connections that end at the server, each proven with the token first.
func (s *Server) Dialer(token string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) { return s.Dial(ctx, token) }
}

// Dial is one such connection.
func (s *Server) Dial(ctx context.Context, token string) (net.Conn, error) {
	if token == "" {
		return nil, errors.New("there is no token to prove the server with")
	}
	if err := s.CheckWay(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	address := s.Address()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrAway, address, unresolved(err))
	}
	conn := tls.Client(raw, s.config())
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(s.unshaken(address, err), raw.Close())
	}
	own := Place(PinOf(conn.ConnectionState().PeerCertificates[0]))
	places := []string{own}
	if s.Pin == "" { // something before the server may end the connection, which the system's roots vouch for
		places = append(places, strings.TrimRight(s.URL, "/"))
	}
	if err := serverproof.KeyOf(token).Challenge(ctx, conn, address, places...); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %s does not answer", ErrAway, address)
		}
		if errors.Is(err, serverproof.ErrStranger) {
			err = fmt.Errorf("%w; or the token of this machine was taken away there: join again", err)
		}
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// CheckWay is Check without what a machine gets by joining.
func (s *Server) CheckWay() error {
	if s.Pin != "" && !isSum(s.Pin) {
		return errors.New("the pin is none: want the SHA-256 of the server's public key, 64 hexadecimal digits")
	}
	return CheckURL(s.URL)
}

// unresolved leaves the connection's own words, without the names of the calls.
func unresolved(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}

// unshaken says why a handshake failed.
func (s *Server) unshaken(address string, err error) error {
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(err, ErrKey):
		return ErrKey
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%w: %s: %w", ErrAway, address, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("nobody whom this machine trusts vouches for the server at %s (join it by a code, or give its key: --pin): %w",
			address, err)
	}
	return fmt.Errorf("the server at %s: %w", address, err)
}

// config is TLS as we speak it to the server.
func (s *Server) config() *tls.Config {
	u, err := url.Parse(s.URL)
	if err != nil { // it was checked
		return &tls.Config{MinVersion: tls.VersionTLS13}
	}
	c := &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if s.Pin == "" {
		return c
	}
	// The chain and the name say nothing here: the handshake shows that the other side has the one key that is meant.
	c.MinVersion, c.InsecureSkipVerify = tls.VersionTLS13, true //nolint:gosec // the key is compared instead
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 || subtle.ConstantTimeCompare([]byte(PinOf(state.PeerCertificates[0])), []byte(s.Pin)) != 1 {
			return ErrKey
		}
		return nil
	}
	return c
}

// Client speaks to the server and to nobody else: no proxy, no other address, no answer that leads elsewhere.
func (s *Server) Client(token string, limit time.Duration) *http.Client {
	return &http.Client{
		Timeout: limit,
		Transport: &http.Transport{
			DialContext:    func(context.Context, string, string) (net.Conn, error) { return nil, errPlain }, // an address without TLS
			DialTLSContext: s.Dialer(token), DisableCompression: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
