package webpush

import (
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/outbound"
)

// Subscription is what a browser hands out when it agrees to be told: where, and what to encrypt with.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	P256dh   string `json:"p256dh"` // its public key, base64url
	Auth     string `json:"auth"`   // a secret of the browser and us, base64url
}

// ErrBad is in the error for a subscription that is none.
var ErrBad = errors.New("the browser's address for notices cannot be used")

// entry is a browser that is told, as the file has it.
type entry struct {
	Subscription
	By   string    `json:"by"` // whose it is, as the log names them
	Made time.Time `json:"made"`
}

// life is how long a browser is told after somebody signed in asked for it. Sign-ins end within a day;
// this must not go on for ever.
const life = 90 * 24 * time.Hour

func (e *entry) ends() time.Time { return e.Made.Add(life) }

// id names a browser in lists and in the log. The address itself would let whoever reads it send it noise.
func (s *Subscription) id() string {
	sum := sha256.Sum256([]byte(s.Endpoint))
	return hex.EncodeToString(sum[:8])
}

// service is the host that carries messages to it.
func (s *Subscription) service() string {
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		return "?"
	}
	return u.Hostname()
}

// keys reads what a message to the browser is encrypted with.
func (s *Subscription) keys() (*ecdh.PublicKey, []byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s.P256dh, "="))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: its key is no base64url", ErrBad)
	}
	key, err := ecdh.P256().NewPublicKey(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: its key is no point of P-256", ErrBad)
	}
	auth, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s.Auth, "="))
	if err != nil || len(auth) != authSize {
		return nil, nil, fmt.Errorf("%w: its secret has not %d bytes", ErrBad, authSize)
	}
	return key, auth, nil
}

// known are the services of the makers of browsers: a host, or with a dot before it every host below it.
// Whoever is signed in hands us an address, and only what is named here is asked.
var known = []string{
	"fcm.googleapis.com", "jmt17.google.com", // Chrome, Edge on Android, Brave, Opera; Chromium of distributions
	".push.services.mozilla.com", // Firefox
	".push.apple.com",            // Safari
	".notify.windows.com",        // Edge
}

const maxEndpoint = 1024

// place reads where a browser is told, and says whether the file names the service itself.
func place(endpoint string, named []string) (u *url.URL, own bool, err error) {
	if len(endpoint) > maxEndpoint {
		return nil, false, fmt.Errorf("%w: it has more than %d characters", ErrBad, maxEndpoint)
	}
	if u, err = outbound.URL(endpoint); err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrBad, err)
	}
	host := strings.ToLower(u.Hostname())
	_, numeric := netip.ParseAddr(host)
	switch {
	case u.Scheme != "https":
		return nil, false, fmt.Errorf("%w: it is not https", ErrBad)
	case u.Fragment != "" || u.Path == "" || u.Path == "/":
		return nil, false, fmt.Errorf("%w: it names no browser", ErrBad)
	case slices.Contains(named, strings.ToLower(u.Host)):
		return u, true, nil
	case u.Port() != "" || numeric == nil || !slices.ContainsFunc(known, func(k string) bool { return isService(host, k) }):
		return nil, false, fmt.Errorf("%w: %s is none of the known services; an operator can name it in channels.push.services",
			ErrBad, u.Host)
	}
	return u, false, nil
}

// isService reports whether a host is one of known, or below it.
func isService(host, service string) bool {
	return host == service || service[0] == '.' && strings.HasSuffix(host, service)
}
