package signin

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Book is what desks of several servers have in common. What it holds nobody else can read or make.
type Book interface {
	// Turn has one desk after the other read all there is and leave what it puts, until its time is over, and without what is gone.
	Turn(ctx context.Context, change func(there map[string][]byte) (put []Entry, gone []string)) error
	// Look is one of its entries as it is now; nil: there is none.
	Look(ctx context.Context, id string) ([]byte, error)
}

// Entry is a link or a session in a Book.
type Entry struct {
	ID    string
	Body  []byte
	Until time.Time
}

// What ids of entries begin with.
const (
	ofLink    = "link/"
	ofSession = "session/"
)

// bookLink and bookSession are as a Book has them.
type (
	bookLink struct {
		By      string    `json:"by"`
		Role    string    `json:"role"`
		Code    []byte    `json:"code"`
		Short   []byte    `json:"short"`
		Expires time.Time `json:"expires"`
		Tries   int       `json:"tries"`
		State   string    `json:"state"`
		Session string    `json:"session,omitzero"` // its id in the Book
	}
	bookSession struct {
		ID        string    `json:"id"`
		By        string    `json:"by"`
		Role      string    `json:"role"`
		Digits    string    `json:"digits"`
		Began     time.Time `json:"began"`
		Seen      time.Time `json:"seen"`
		Waits     time.Time `json:"waits,omitzero"`
		Confirmed bool      `json:"confirmed"`
		Key       []byte    `json:"key"`
	}
)

// turn does something to links and sessions while nobody else does, at any server.
func (d *Desk) turn(ctx context.Context, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.book == nil {
		d.forget()
		return do()
	}
	var refused error
	err := d.book.Turn(ctx, func(there map[string][]byte) ([]Entry, []string) {
		d.read(there)
		d.forget()
		refused = do() // what it changed counts all the same: a wrong code was tried
		return d.changes(there)
	})
	if err != nil {
		return err
	}
	return refused
}

// Refresh ends what was ended at another server: whoever still looks at this one is told.
func (d *Desk) Refresh(ctx context.Context) error {
	return d.turn(ctx, func() error { return nil })
}

// read takes over what other servers did. Preconditions: mu is held.
func (d *Desk) read(there map[string][]byte) {
	for hash, s := range d.sessions {
		if there[sessionID(hash)] == nil {
			s.end()
			delete(d.sessions, hash)
		}
	}
	for id, body := range there {
		if name, ok := strings.CutPrefix(id, ofSession); ok {
			d.readSession(name, body)
		}
	}
	d.links = map[string]*link{}
	for id, body := range there {
		if name, ok := strings.CutPrefix(id, ofLink); ok {
			d.readLink(name, body)
		}
	}
}

func (d *Desk) readSession(name string, body []byte) *Session {
	var b bookSession
	raw, err := hex.DecodeString(name)
	if err != nil || len(raw) != sha256.Size || strictjson.Unmarshal(body, &b) != nil {
		return nil // it is nobody's
	}
	hash := [sha256.Size]byte(raw)
	s := d.sessions[hash]
	if s == nil {
		s = &Session{ID: b.ID, By: b.By, Role: b.Role, Digits: b.Digits, Began: b.Began, key: b.Key, ended: make(chan struct{})}
		var from [8]byte // forms of several servers have pads of their own
		if _, err := io.ReadFull(d.rand, from[:]); err != nil {
			return nil
		}
		s.pads.Store(binary.BigEndian.Uint64(from[:]))
		d.sessions[hash] = s
	}
	if b.Seen.After(s.seen) {
		s.seen = b.Seen
	}
	s.waits, s.confirmed = b.Waits, b.Confirmed
	return s
}

func (d *Desk) readLink(id string, body []byte) {
	var b bookLink
	if strictjson.Unmarshal(body, &b) != nil || len(b.Code) != sha256.Size || len(b.Short) != sha256.Size {
		return
	}
	l := &link{
		by: b.By, role: b.Role, code: [sha256.Size]byte(b.Code), short: [sha256.Size]byte(b.Short),
		expires: b.Expires, tries: b.Tries, state: b.State,
	}
	if raw, err := hex.DecodeString(b.Session); err == nil && len(raw) == sha256.Size {
		l.session = d.sessions[[sha256.Size]byte(raw)]
	}
	if l.state == Opened && l.session == nil {
		l.state = Refused // whoever opened it was signed out
	}
	d.links[id] = l
}

// changes are how the Book differs from what is so now. Preconditions: mu is held.
func (d *Desk) changes(there map[string][]byte) (put []Entry, gone []string) {
	now := map[string]Entry{}
	add := func(id string, until time.Time, v any) {
		if body, err := strictjson.Marshal(v); err == nil { // of these kinds it is always
			now[id] = Entry{id, body, until}
		}
	}
	names := map[*Session]string{}
	for hash, s := range d.sessions {
		if !s.alive(d.now()) {
			continue
		}
		names[s] = hex.EncodeToString(hash[:])
		add(sessionID(hash), s.Ends(), bookSession{s.ID, s.By, s.Role, s.Digits, s.Began, s.seen, s.waits, s.confirmed, s.key})
	}
	for id, l := range d.links {
		add(ofLink+id, l.expires.Add(2*LinkLife),
			bookLink{l.by, l.role, l.code[:], l.short[:], l.expires, l.tries, l.state, names[l.session]})
	}
	for id, e := range now {
		if string(there[id]) != string(e.Body) {
			put = append(put, e)
		}
	}
	for id := range there {
		if _, is := now[id]; !is {
			gone = append(gone, id)
		}
	}
	return put, gone
}

// IsSession reports whether an entry is a session: without it somebody is signed out.
func IsSession(id string) bool { return strings.HasPrefix(id, ofSession) }

func sessionID(hash [sha256.Size]byte) string { return ofSession + hex.EncodeToString(hash[:]) }

// entry is what the Book has of a session, now.
func (d *Desk) entry(ctx context.Context, hash [sha256.Size]byte) ([]byte, error) {
	if d.book == nil {
		return nil, nil
	}
	return d.book.Look(ctx, sessionID(hash))
}

// known is the session of a cookie, by what the Book has of it where there is one. Preconditions: mu is held.
func (d *Desk) known(hash [sha256.Size]byte, entry []byte) *Session {
	if d.book == nil {
		return d.sessions[hash]
	}
	if entry != nil {
		return d.readSession(hex.EncodeToString(hash[:]), entry)
	}
	if s := d.sessions[hash]; s != nil {
		s.end()
		delete(d.sessions, hash)
	}
	return nil
}

// seenEvery is how exactly other servers know when somebody was last there.
const seenEvery = time.Minute

// saw notes that somebody did something. Preconditions: mu is held.
func (d *Desk) saw(ctx context.Context, hash [sha256.Size]byte, s *Session, now time.Time) {
	if d.book == nil {
		s.seen = now
		return
	}
	if now.Sub(s.seen) < seenEvery {
		return
	}
	_ = d.book.Turn(ctx, func(there map[string][]byte) ([]Entry, []string) { // else it counts as before, and the next one tries again
		if there[sessionID(hash)] == nil {
			return nil, nil // ended in between
		}
		d.read(there)
		s.seen = now
		return d.changes(there)
	})
}
