// Package signin lets people in at the console: links that work once, and the sessions that
// come of them. It keeps all of it in memory, and a restart signs everybody out; unless it has a Book, which
// several servers have in common: then who is signed in at one of them is so at all.
//
// It does no I/O of its own and starts no goroutine: the clock and randomness are handed in, and what
// has to be recorded is handed out.
//
// Invariants:
//   - a link works once, for a minute, and only its hash is kept;
//   - a session opens nothing until whoever asked for the link said that the digits match;
//   - what a cookie holds is not kept, only its hash;
//   - every sign-in, and every one that was refused, is recorded before it counts.
package signin

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/event"
)

// The bounds of links and sessions.
const (
	LinkLife    = 60 * time.Second
	SessionLife = 12 * time.Hour
	IdleLife    = 30 * time.Minute // after which a session reads and denies, and does nothing else
	MaxTries    = 5                // of the short form
	maxLinks    = 32
	maxSessions = 1024
)

// The states of a link.
const (
	Waiting   = "waiting"   // nobody has opened it
	Opened    = "opened"    // somebody has, and sees the digits
	Confirmed = "confirmed" // the digits match: they are signed in
	Refused   = "refused"   // they do not, or it was tried too often
	Expired   = "expired"
)

// Link is a way in, for the person who asked for it. Code and Short are known here once.
type Link struct {
	ID      string
	Code    string // for the private file
	Short   string // for typing
	Expires time.Time
}

// State is what became of a link.
type State struct {
	State  string
	Digits string // which the page shows; where State is Opened
}

// Options are what a Desk needs.
type Options struct {
	Now    func() time.Time
	Rand   io.Reader // a CSPRNG
	Record func(ctx context.Context, p event.Person) error
	// Book is what other servers have in common with this one; nil: there are none.
	Book Book
}

// Desk hands out links and knows who is signed in. It is safe for concurrent use.
type Desk struct {
	now    func() time.Time
	rand   io.Reader
	record func(ctx context.Context, p event.Person) error
	book   Book // nil: this server is alone

	mu       sync.Mutex
	links    map[string]*link      // guarded by mu; by ID
	sessions map[[32]byte]*Session // guarded by mu; by the hash of their cookie
}

type link struct {
	by, role    string
	code, short [sha256.Size]byte
	expires     time.Time
	tries       int
	state       string
	session     *Session
}

// New makes a Desk.
func New(o Options) (*Desk, error) {
	if o.Now == nil || o.Rand == nil || o.Record == nil {
		return nil, errors.New("new sign-in desk: clock, randomness and a record are needed")
	}
	return &Desk{
		now: o.Now, rand: o.Rand, record: o.Record, book: o.Book,
		links: map[string]*link{}, sessions: map[[32]byte]*Session{},
	}, nil
}

// ErrNoLink is returned for a code nobody has, or no longer.
var ErrNoLink = errors.New("this code does not work: " +
	"it was used, it is older than a minute, or it was mistyped; run tidemark console again")

// ErrBusy is returned while too many links wait.
var ErrBusy = errors.New("too many links wait to be opened; try again in a minute")

// Mint makes a link for somebody in a role.
func (d *Desk) Mint(ctx context.Context, by, role string) (Link, error) {
	var raw [16 + 16 + shortLength]byte
	if _, err := io.ReadFull(d.rand, raw[:]); err != nil {
		return Link{}, fmt.Errorf("draw link: %w", err)
	}
	l := Link{
		ID: hex.EncodeToString(raw[:16]), Code: base64.RawURLEncoding.EncodeToString(raw[16:32]),
		Short: shortOf(raw[32:]), Expires: d.now().Add(LinkLife),
	}
	err := d.turn(ctx, func() error {
		if len(d.links) >= maxLinks {
			return ErrBusy
		}
		d.links[l.ID] = &link{
			by: by, role: role, code: sha256.Sum256([]byte(l.Code)), short: sha256.Sum256([]byte(plain(l.Short))),
			expires: l.Expires, state: Waiting,
		}
		return nil
	})
	if err != nil {
		return Link{}, err
	}
	return l, nil
}

// forget drops links that are over. What became of one is told for a while.
// Preconditions: mu is held.
func (d *Desk) forget() {
	now := d.now()
	for id, l := range d.links {
		if now.After(l.expires.Add(LinkLife)) {
			delete(d.links, id)
		}
	}
	for hash, s := range d.sessions {
		if !s.alive(now) {
			delete(d.sessions, hash)
		}
	}
}

// Look says what became of a link.
func (d *Desk) Look(ctx context.Context, id string) (s State, err error) {
	err = d.turn(ctx, func() error {
		l := d.links[id]
		if l == nil {
			return ErrNoLink
		}
		s.State = l.state
		if l.state == Opened {
			s.Digits = l.session.Digits
		}
		if l.state == Waiting && !d.now().Before(l.expires) {
			s.State = Expired
		}
		return nil
	})
	return s, err
}

// Enter takes a code, long or short, and begins a session that waits for its digits to be
// confirmed. The cookie is known here once.
func (d *Desk) Enter(ctx context.Context, code string) (cookie string, err error) {
	err = d.turn(ctx, func() (err error) {
		cookie, err = d.enter(ctx, code)
		return err
	})
	return cookie, err
}

// enter is Enter. Preconditions: mu is held.
func (d *Desk) enter(ctx context.Context, code string) (cookie string, err error) {
	l, guessed := d.match(code)
	if l == nil && guessed {
		err := d.record(ctx, event.Person{Act: "refused", Via: via, Detail: "a code that does not work"})
		return "", errors.Join(ErrNoLink, err)
	}
	if l == nil {
		return "", ErrNoLink // nothing is there to be guessed, and the log is not for everybody to fill
	}
	if len(d.sessions) >= maxSessions {
		return "", ErrBusy
	}
	cookie, s, err := d.begin(l.by, l.role)
	if err != nil {
		return "", err
	}
	s.waits = l.expires.Add(LinkLife)
	l.state, l.session = Opened, s
	d.sessions[sha256.Sum256([]byte(cookie))] = s
	return cookie, nil
}

const via = "console"

// match finds the link a code belongs to, and counts a wrong one against all that wait: after some of
// them the short codes are worth nothing. The long ones cannot be guessed, and nobody who
// types nonsense keeps a person out by it. It reports whether there was something to guess.
// Preconditions: mu is held.
func (d *Desk) match(code string) (found *link, guessed bool) {
	long, short := sha256.Sum256([]byte(code)), sha256.Sum256([]byte(plain(code)))
	for _, l := range d.links {
		open := l.state == Waiting && d.now().Before(l.expires)
		if is := hmac.Equal(l.code[:], long[:]) || l.tries < MaxTries && hmac.Equal(l.short[:], short[:]); is && open {
			found = l
		}
	}
	if found != nil {
		return found, false
	}
	for _, l := range d.links {
		was := l.state != Waiting && hmac.Equal(l.code[:], long[:]) // it was used, and comes again
		if (l.state == Waiting || was) && l.tries < MaxTries {
			l.tries++
			guessed = true
		}
	}
	return nil, guessed
}

// Confirm takes the word of whoever asked for the link: do the digits match? Only then is
// the session worth anything; a no ends it, and is recorded.
func (d *Desk) Confirm(ctx context.Context, id, by string, matches bool) (s State, err error) {
	err = d.turn(ctx, func() (err error) {
		s, err = d.confirm(ctx, id, by, matches)
		return err
	})
	return s, err
}

// confirm is Confirm. Preconditions: mu is held.
func (d *Desk) confirm(ctx context.Context, id, by string, matches bool) (State, error) {
	l := d.links[id]
	if l == nil || l.by != by {
		return State{}, ErrNoLink
	}
	if l.state != Opened {
		return State{State: l.state}, nil
	}
	p := event.Person{Act: "signed-in", By: l.by, Via: via, Detail: "session " + l.session.ID + " as " + l.role}
	if !matches {
		p.Act, p.Detail = "refused", "the digits did not match: somebody else opened the link"
	}
	if err := d.record(ctx, p); err != nil {
		return State{}, fmt.Errorf("record sign-in: %w", err)
	}
	l.state = Refused
	if matches {
		l.state = Confirmed
		l.session.confirmed = true
	} else {
		l.session.end()
	}
	return State{State: l.state}, nil
}
