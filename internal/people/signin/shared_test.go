package signin_test

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/signin"
)

// book is what desks have in common, as a database keeps it.
type book struct {
	mu     sync.Mutex
	there  map[string][]byte
	broken error
}

func (b *book) Turn(_ context.Context, change func(map[string][]byte) ([]signin.Entry, []string)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return b.broken
	}
	put, gone := change(maps.Clone(b.there))
	for _, e := range put {
		b.there[e.ID] = e.Body
	}
	for _, id := range gone {
		delete(b.there, id)
	}
	return nil
}

func (b *book) Look(_ context.Context, id string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.there[id], b.broken
}

// servers are desks that have a book in common.
func servers(t *testing.T, n int) (desks []*desk, b *book) {
	t.Helper()
	b = &book{there: map[string][]byte{}}
	for range n {
		d := &desk{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
		var err error
		d.Desk, err = signin.New(signin.Options{
			Now: func() time.Time { return d.now }, Rand: rand.Reader, Book: b,
			Record: func(_ context.Context, p event.Person) error { d.notes = append(d.notes, p); return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		desks = append(desks, d)
	}
	return desks, b
}

// CON-27: a link of one server is opened at another and confirmed at a third, and whoever came is signed in at all of them.
func TestWhoIsSignedInAtOneServerIsSoAtAll(t *testing.T) {
	at, _ := servers(t, 3)
	l := at[0].mint(t)
	cookie, err := at[1].Enter(t.Context(), l.Code)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := at[2].Enter(t.Context(), l.Code); !errors.Is(err, signin.ErrNoLink) {
		t.Errorf("the link works a second time, at another server: %v", err)
	}
	waits, ok := at[0].Session(t.Context(), cookie)
	if !ok || waits.Confirmed {
		t.Fatalf("before the digits are compared: %+v, %t", waits, ok)
	}
	if s, err := at[0].Look(t.Context(), l.ID); err != nil || s.State != signin.Opened || s.Digits != waits.Digits {
		t.Fatalf("%+v, %v", s, err)
	}
	if s, err := at[2].Confirm(t.Context(), l.ID, "approver", true); err != nil || s.State != signin.Confirmed {
		t.Fatalf("%+v, %v", s, err)
	}
	var standing []signin.Standing
	for i, d := range at {
		s, ok := d.Session(t.Context(), cookie)
		if !ok || !s.Confirmed || s.By != "approver" {
			t.Fatalf("server %d: %+v, %t", i, s, ok)
		}
		standing = append(standing, s)
	}
	form, twin := standing[0].Token("/console/queue"), standing[1].Token("/console/queue")
	if !standing[1].Bears("/console/queue", form) || standing[2].Bears("/console/keys", form) || form == twin {
		t.Error("a form of one server is not taken by another, or by another path, or two forms are alike")
	}
	if err := at[1].End(t.Context(), standing[1].ID, "approver"); err != nil {
		t.Fatal(err)
	}
	for i, d := range at {
		if err := d.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-standing[i].Ended():
		default:
			t.Errorf("server %d still shows who was signed out", i)
		}
		if _, ok := d.Session(t.Context(), cookie); ok {
			t.Errorf("server %d: signed in after the end", i)
		}
	}
}

// Wrong codes count together, whichever server is asked: several are not several times as many tries.
func TestTriesCountAtAllServers(t *testing.T) {
	at, _ := servers(t, 3)
	l := at[0].mint(t)
	for i := range signin.MaxTries {
		if _, err := at[i%3].Enter(t.Context(), "AAAA-AAAA"); !errors.Is(err, signin.ErrNoLink) {
			t.Fatal(err)
		}
	}
	if _, err := at[1].Enter(t.Context(), l.Short); !errors.Is(err, signin.ErrNoLink) {
		t.Errorf("the short code still works: %v", err)
	}
	if _, err := at[2].Enter(t.Context(), l.Code); err != nil {
		t.Errorf("the long code does not: %v", err)
	}
}

// A restart signs nobody out where there is a book; who was idle stays idle; and whose token is taken away is out everywhere.
func TestABookOutlivesAServer(t *testing.T) {
	at, b := servers(t, 2)
	cookie, err := at[0].Admit(t.Context(), "admin:erin", "admin", "with their token")
	if err != nil {
		t.Fatal(err)
	}
	fresh, _ := servers(t, 1)
	fresh[0].Desk, err = signin.New(signin.Options{
		Now: func() time.Time { return at[0].now }, Rand: rand.Reader, Book: b,
		Record: func(context.Context, event.Person) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 40 { // somebody is there all the time, now here and now there
		for _, d := range []*desk{at[0], at[1]} {
			d.now = d.now.Add(time.Minute)
			at[0].now, at[1].now = d.now, d.now
			if s, ok := d.Session(t.Context(), cookie); !ok || s.Idle {
				t.Fatalf("at %v: %+v, %t", d.now, s, ok)
			}
		}
	}
	at[0].now = at[0].now.Add(signin.IdleLife + time.Second)
	at[1].now = at[0].now
	for _, d := range []*desk{at[1], at[0], fresh[0]} {
		if s, ok := d.Session(t.Context(), cookie); !ok || !s.Idle {
			t.Errorf("after half an hour of nothing: %+v, %t", s, ok)
		}
	}
	if rows, err := at[1].Sessions(t.Context()); err != nil || len(rows) != 1 || rows[0].By != "admin:erin" {
		t.Errorf("%+v, %v", rows, err)
	}
	if err := at[1].EndOf(t.Context(), "admin:erin", "admin"); err != nil {
		t.Fatal(err)
	}
	if _, ok := at[0].Session(t.Context(), cookie); ok {
		t.Error("signed in after their token was taken away")
	}
}

// Where the book cannot be read or holds what nobody wrote, nobody is signed in.
func TestWithoutTheBookNobodyIsSignedIn(t *testing.T) {
	at, b := servers(t, 1)
	cookie, err := at[0].Admit(t.Context(), "approver", "approver", "with their token")
	if err != nil {
		t.Fatal(err)
	}
	b.broken = errors.New("the database is gone")
	if _, ok := at[0].Session(t.Context(), cookie); ok {
		t.Error("signed in, though nobody can know")
	}
	if _, err := at[0].Admit(t.Context(), "approver", "approver", "again"); err == nil {
		t.Error("let in, though nobody can note it")
	}
	b.broken = nil
	if _, ok := at[0].Session(t.Context(), cookie); !ok {
		t.Error("signed out by a database that was away")
	}
	for id := range b.there {
		b.there[id] = []byte(`{"by":"admin"`)
	}
	if _, ok := at[0].Session(t.Context(), cookie); ok {
		t.Error("signed in by an entry that cannot be read")
	}
}
