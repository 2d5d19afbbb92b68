// Package webpush tells browsers that a question waits, also while no page is open: Web Push (RFC 8030),
// encrypted to each browser (RFC 8291) and signed with this server's key (RFC 8292).
//
// It reads and writes one file, does network I/O and reads the clock. It starts goroutines, which have
// ended when the method that started them returns.
//
// Invariants:
//   - a message goes to the services of browsers' makers, at public addresses, and to those that the
//     operator names; over https alone, and no redirect is followed;
//   - it says that a question waits, and at most which tool it is about; nothing is answered by it;
//   - a person is told what they are asked, and not in their quiet hours;
//   - a browser that is gone, whose time is over or whose person left is not told, and forgotten;
//   - an address of a browser is in no error and in no log.
package webpush

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/quorum"
)

// Options describe a sender. Contact, Path, Now and Record are required.
type Options struct {
	Contact  string   // mailto: or https:, where a service can reach whoever runs this server
	ShowTool bool     // a message names the tool, and how its question ended
	Services []string // further services, by host or host:port; they may be inside

	Path   string // of the file of keys and browsers
	Now    func() time.Time
	Record func(ctx context.Context, p event.Person) error
	Who    *quorum.Rules                          // who is asked, and when not; nil: everybody, always
	After  func(d time.Duration) <-chan time.Time // nil is time.After
	Roots  *x509.CertPool                         // nil: the system's
}

// Sender tells browsers. It is safe for concurrent use.
type Sender struct {
	o       Options
	book    *book
	guarded *http.Client // for the services of browsers' makers
	named   *http.Client // for those of the operator

	mu    sync.Mutex
	fault error // guarded by mu; of the latest message
}

// New reads the file, or makes one.
func New(o Options) (*Sender, error) {
	if o.Contact == "" || o.Path == "" || o.Now == nil || o.Record == nil {
		return nil, errors.New("configure push: contact, path, clock and a record are needed")
	}
	if o.Who == nil {
		o.Who = &quorum.Rules{}
	}
	if o.After == nil {
		o.After = time.After
	}
	b, err := openBook(o.Path)
	if err != nil {
		return nil, fmt.Errorf("configure push: %w", err)
	}
	to := outbound.Options{Roots: o.Roots}
	return &Sender{o: o, book: b, guarded: outbound.Guarded(to, false), named: outbound.Client(to)}, nil
}

// Run waits for the end of ctx.
func (s *Sender) Run(ctx context.Context) {
	<-ctx.Done()
	s.guarded.CloseIdleConnections()
	s.named.CloseIdleConnections()
}

// Check says why the latest message did not go out; nil: it did, or there was none.
func (s *Sender) Check(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		return fmt.Errorf("push: %w", s.fault)
	}
	return nil
}

func (s *Sender) note(fault error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Browser is one that is told, in a list.
type Browser struct {
	ID      string
	By      string // whose it is, as the log names them
	Service string // that carries messages to it
	Made    time.Time
	Ends    time.Time
}

// List are the browsers that are told, the newest first.
func (s *Sender) List() []Browser {
	var out []Browser
	for _, e := range s.book.live(s.o.Now()) {
		out = append(out, Browser{ID: e.id(), By: e.By, Service: e.service(), Made: e.Made, Ends: e.ends()})
	}
	slices.SortFunc(out, func(a, b Browser) int { return cmp.Or(b.Made.Compare(a.Made), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Add has a browser of somebody be told from now on. It counts once the browser's service has taken a
// first message, and once it is recorded.
func (s *Sender) Add(ctx context.Context, by string, sub Subscription) error {
	e := entry{Subscription: sub, By: by, Made: s.o.Now().UTC().Truncate(time.Second)}
	if _, err := s.book.drop(func(o *entry) bool { return !s.o.Now().Before(o.ends()) }); err != nil {
		return err
	}
	if err := s.book.room(&e); err != nil {
		return err
	}
	hello := message{Title: "Tidemark", Body: "This browser gets a notice when a question waits."}
	if err := s.send(ctx, &sub, hello, minKept); errors.Is(err, errGone) {
		return fmt.Errorf("%w: its service does not know it", ErrBad)
	} else if err != nil {
		return err
	}
	if err := s.o.Record(ctx, event.Person{Act: "notices-on", By: by, Via: "console", Detail: e.detail()}); err != nil {
		return fmt.Errorf("record notices-on: %w", err)
	}
	return s.book.add(e)
}

// detail is a browser in the log.
func (e *entry) detail() string { return "browser " + e.id() + " of " + e.By + " at " + e.service() }

// ErrNobody is returned for a browser that is not told, or is somebody else's.
var ErrNobody = errors.New("that browser gets no notices")

// Remove takes a browser off the list: one of whose, or with an empty whose anybody's.
func (s *Sender) Remove(ctx context.Context, id, whose, by string) error {
	return s.forget(ctx, by, true, func(e *entry) bool { return e.id() == id && (whose == "" || e.By == whose) })
}

// Left takes every browser of somebody off the list.
func (s *Sender) Left(ctx context.Context, whose, by string) error {
	return s.forget(ctx, by, false, func(e *entry) bool { return e.By == whose })
}

// forget drops browsers and records it. What is taken away counts whether it could be recorded or not.
func (s *Sender) forget(ctx context.Context, by string, one bool, fits func(*entry) bool) error {
	gone, err := s.book.drop(fits)
	if err != nil {
		return err
	}
	if one && len(gone) == 0 {
		return ErrNobody
	}
	var errs []error
	for i := range gone {
		errs = append(errs, s.o.Record(ctx, event.Person{Act: "notices-off", By: by, Via: "console", Detail: gone[i].detail()}))
	}
	return errors.Join(errs...)
}

// Due reports whether somebody is to be told of a question now, and when that may change (zero: never).
func (s *Sender) Due(c engine.QuestionInfo) (now bool, next time.Time) {
	due, next := s.due(c, nil)
	return len(due) > 0, next
}

// due are the browsers to be told now that were not, and when there may be more.
func (s *Sender) due(c engine.QuestionInfo, told map[string]entry) (list []entry, next time.Time) {
	for _, e := range s.book.live(c.Now) {
		if _, done := told[e.Endpoint]; done {
			continue
		}
		now, later := s.o.Who.Reaches(c, e.By)
		switch {
		case now:
			list = append(list, e)
		case !later.IsZero() && (next.IsZero() || later.Before(next)):
			next = later
		}
	}
	return list, next
}

// topicOf names a question to services: 32 characters of base64url at most.
func topicOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}
