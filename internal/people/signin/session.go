package signin

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/internal/event"
)

// Session is a browser that somebody signed in with. Desk.mu guards what changes.
type Session struct {
	ID     string // for lists; nothing can be done with it but end it
	By     string // who it is, as the log names them
	Role   string // of the token they came with
	Digits string
	Began  time.Time

	seen      time.Time
	waits     time.Time // until when it may be confirmed
	confirmed bool
	over      bool
	key       []byte        // of its form tokens
	pads      atomic.Uint64 // that were used for them
	ended     chan struct{}
}

// Ends is when the session is over, whatever is done in it.
func (s *Session) Ends() time.Time { return s.Began.Add(SessionLife) }

// Ended is closed when the session is ended before that.
func (s *Session) Ended() <-chan struct{} { return s.ended }

// Token is what a form of this session for this path must bring back. It is another each time, under a
// pad that stands before it: a page is sent packed, and the size of one that holds both a secret and
// words of somebody else's would give the secret away, letter by letter.
func (s *Session) Token(path string) string {
	pad := s.mac("pad", strconv.FormatUint(s.pads.Add(1), 10))
	return base64.RawURLEncoding.EncodeToString(append(pad, masked(s.mac("path", path), pad)...))
}

// Bears reports whether a form's token is one for the path.
func (s *Session) Bears(path, token string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != 2*tokenSize {
		return false
	}
	return hmac.Equal(masked(raw[tokenSize:], raw[:tokenSize]), s.mac("path", path))
}

const tokenSize = 18

func (s *Session) mac(kind, what string) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(kind + " " + what))
	return h.Sum(nil)[:tokenSize]
}

func masked(text, pad []byte) []byte {
	out := make([]byte, tokenSize)
	subtle.XORBytes(out, text, pad)
	return out
}

func (s *Session) alive(now time.Time) bool {
	return !s.over && now.Before(s.Ends()) && (s.confirmed || now.Before(s.waits))
}

// end closes it. Preconditions: Desk.mu is held.
func (s *Session) end() {
	if !s.over {
		s.over = true
		close(s.ended)
	}
}

// Standing is how far a session counts right now.
type Standing struct {
	*Session
	Confirmed bool
	Idle      bool // nothing was done for so long that it only reads and denies
}

// Session is who a cookie belongs to. An idle session stays idle: only signing in again
// makes it more.
func (d *Desk) Session(ctx context.Context, cookie string) (Standing, bool) {
	hash := sha256.Sum256([]byte(cookie))
	entry, err := d.entry(ctx, hash)
	if err != nil {
		return Standing{}, false // nobody can know
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if entry != nil && d.sessions[hash] == nil { // it may have been ended here since: nothing is begun by what was
		if entry, err = d.entry(ctx, hash); err != nil {
			return Standing{}, false
		}
	}
	now := d.now()
	s := d.known(hash, entry)
	if s == nil || !s.alive(now) {
		return Standing{}, false
	}
	idle := now.Sub(s.seen) > IdleLife
	if !idle {
		d.saw(ctx, hash, s, now)
	}
	return Standing{Session: s, Confirmed: s.confirmed, Idle: idle}, true
}

// Row is a session in the list of those that are open.
type Row struct {
	ID, By, Role string
	Began, Seen  time.Time
}

// Sessions are those that are signed in, the newest first.
func (d *Desk) Sessions(ctx context.Context) ([]Row, error) {
	var out []Row
	err := d.turn(ctx, func() error {
		out = d.rows()
		return nil
	})
	return out, err
}

// rows is Sessions. Preconditions: mu is held.
func (d *Desk) rows() (out []Row) {
	for _, s := range d.sessions {
		if s.confirmed && s.alive(d.now()) {
			out = append(out, Row{s.ID, s.By, s.Role, s.Began, s.seen})
		}
	}
	slices.SortFunc(out, func(a, b Row) int { return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(a.ID, b.ID)) })
	return out
}

// End signs a session out, wherever it is used.
func (d *Desk) End(ctx context.Context, id, by string) error {
	return d.turn(ctx, func() error { return d.end(ctx, id, by) })
}

// end is End. Preconditions: mu is held.
func (d *Desk) end(ctx context.Context, id, by string) error {
	for hash, s := range d.sessions {
		if s.ID == id {
			s.end()
			delete(d.sessions, hash)
			return d.record(ctx, event.Person{Act: "signed-out", By: by, Via: via, Detail: "session " + id})
		}
	}
	return nil
}

// EndOf signs somebody out wherever they are signed in, and takes back the links they asked for.
func (d *Desk) EndOf(ctx context.Context, whose, by string) error {
	return d.turn(ctx, func() error {
		for _, l := range d.links {
			if l.by != whose || l.state != Waiting && l.state != Opened {
				continue
			}
			if l.state = Refused; l.session != nil {
				l.session.end()
			}
		}
		for _, s := range d.rows() {
			if s.By != whose {
				continue
			}
			if err := d.end(ctx, s.ID, by); err != nil {
				return err
			}
		}
		return nil
	})
}

// Admit signs somebody in who has shown already who they are: by a token of their own, or at
// a provider. The cookie is known here once.
func (d *Desk) Admit(ctx context.Context, by, role, how string) (cookie string, err error) {
	err = d.turn(ctx, func() (err error) {
		cookie, err = d.admit(ctx, by, role, how)
		return err
	})
	return cookie, err
}

// admit is Admit. Preconditions: mu is held.
func (d *Desk) admit(ctx context.Context, by, role, how string) (cookie string, err error) {
	if len(d.sessions) >= maxSessions {
		return "", ErrBusy
	}
	cookie, s, err := d.begin(by, role)
	if err != nil {
		return "", err
	}
	p := event.Person{Act: "signed-in", By: by, Via: via, Detail: "session " + s.ID + " as " + role + ", " + how}
	if err := d.record(ctx, p); err != nil {
		return "", fmt.Errorf("record sign-in: %w", err)
	}
	s.confirmed = true
	d.sessions[sha256.Sum256([]byte(cookie))] = s
	return cookie, nil
}

// Refuse records that somebody showed who they are, elsewhere, and was not let in.
func (d *Desk) Refuse(ctx context.Context, why string) error {
	return d.record(ctx, event.Person{Act: "refused", Via: via, Detail: why})
}

// begin draws a session. It counts once it is in the list.
// Preconditions: mu is held.
func (d *Desk) begin(by, role string) (cookie string, s *Session, err error) {
	var raw [32 + 32 + 1]byte
	if _, err := io.ReadFull(d.rand, raw[:]); err != nil {
		return "", nil, fmt.Errorf("draw session: %w", err)
	}
	cookie = base64.RawURLEncoding.EncodeToString(raw[:32])
	hash := sha256.Sum256([]byte(cookie))
	now := d.now()
	return cookie, &Session{
		ID: hex.EncodeToString(hash[:6]), By: by, Role: role, Began: now, Digits: fmt.Sprintf("%02d", int(raw[64])%100),
		seen: now, key: raw[32:64], ended: make(chan struct{}),
	}, nil
}

// letters of the short form: none that are taken for another.
const letters = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

const shortLength = 8

// shortOf is a code for typing. The last letters are a little likelier than the first; with
// five tries in a minute that is nobody's advantage.
func shortOf(raw []byte) string {
	out := make([]byte, 0, shortLength+1)
	for i, b := range raw[:shortLength] {
		if i == shortLength/2 {
			out = append(out, '-')
		}
		out = append(out, letters[int(b)%len(letters)])
	}
	return string(out)
}

// plain is a short code as it is compared: people type it with and without the dash.
func plain(code string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToUpper(code))
}
