package signin_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/signin"
)

type desk struct {
	*signin.Desk
	now   time.Time
	notes []event.Person
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	var err error
	d.Desk, err = signin.New(signin.Options{
		Now: func() time.Time { return d.now }, Rand: rand.Reader,
		Record: func(_ context.Context, p event.Person) error { d.notes = append(d.notes, p); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) mint(t *testing.T) signin.Link {
	t.Helper()
	l, err := d.Mint(t.Context(), "approver", "approver")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// CON-27
func TestLinkWorksOnceForAMinute(t *testing.T) {
	for name, c := range map[string]struct {
		code  func(signin.Link) string
		after time.Duration
		twice bool
		want  bool
	}{
		"the long code": {code: func(l signin.Link) string { return l.Code }, want: true},
		"the short one": {code: func(l signin.Link) string { return l.Short }, want: true},
		"the short one, as one types": {code: func(l signin.Link) string {
			return strings.ToLower(strings.ReplaceAll(l.Short,
				"-", " "))
		}, want: true},
		"a second time":  {code: func(l signin.Link) string { return l.Code }, twice: true},
		"a minute later": {code: func(l signin.Link) string { return l.Code }, after: signin.LinkLife},
		"another code":   {code: func(signin.Link) string { return "AAAA-AAAA" }},
		"the link's id":  {code: func(l signin.Link) string { return l.ID }},
		"nothing":        {code: func(signin.Link) string { return "" }},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			l := d.mint(t)
			if c.twice {
				if _, err := d.Enter(t.Context(), l.Code); err != nil {
					t.Fatal(err)
				}
			}
			d.now = d.now.Add(c.after)
			cookie, err := d.Enter(t.Context(), c.code(l))
			if (err == nil) != c.want || (cookie != "") != c.want {
				t.Fatalf("got %q, %v", cookie, err)
			}
			if !c.want && (len(d.notes) == 0 || d.notes[len(d.notes)-1].Act != "refused") {
				t.Errorf("it is not recorded: %v", d.notes)
			}
		})
	}
}

// CON-27
func TestFiveWrongCodesEndTheShortCode(t *testing.T) {
	d := newDesk(t)
	l := d.mint(t)
	for range signin.MaxTries {
		if _, err := d.Enter(t.Context(), "WRNG-CDES"); !errors.Is(err, signin.ErrNoLink) {
			t.Fatal(err)
		}
	}
	if _, err := d.Enter(t.Context(), l.Short); !errors.Is(err, signin.ErrNoLink) {
		t.Errorf("the right code after five wrong ones: %v", err)
	}
	for range 20 {
		if _, err := d.Enter(t.Context(), "WRNG-CDES"); !errors.Is(err, signin.ErrNoLink) {
			t.Fatal(err)
		}
	}
	if len(d.notes) > 2*signin.MaxTries {
		t.Errorf("whoever types nonsense writes %d records", len(d.notes))
	}
	if _, err := d.Enter(t.Context(), l.Code); err != nil {
		t.Errorf("nobody can guess the link itself, and it does not work: %v", err)
	}
}

func TestASessionWaitsForItsDigits(t *testing.T) {
	for name, matches := range map[string]bool{"they match": true, "somebody else was faster": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			l := d.mint(t)
			cookie, err := d.Enter(t.Context(), l.Code)
			if err != nil {
				t.Fatal(err)
			}
			s, ok := d.Session(t.Context(), cookie)
			if !ok || s.Confirmed || len(s.Digits) != 2 {
				t.Fatalf("before anybody looked: %+v, %v", s, ok)
			}
			if st, err := d.Look(t.Context(), l.ID); err != nil || st.State != signin.Opened || st.Digits != s.Digits {
				t.Fatalf("the terminal sees %+v, %v", st, err)
			}
			if _, err := d.Confirm(t.Context(), l.ID, "approver", matches); err != nil {
				t.Fatal(err)
			}
			s, ok = d.Session(t.Context(), cookie)
			if ok != matches || ok && !s.Confirmed {
				t.Errorf("after %t: %+v, %v", matches, s, ok)
			}
			want := map[bool]string{true: "signed-in", false: "refused"}[matches]
			if len(d.notes) != 1 || d.notes[0].Act != want {
				t.Errorf("recorded %+v, want %s", d.notes, want)
			}
		})
	}
}

func TestSessionsEnd(t *testing.T) {
	d := newDesk(t)
	enter := func() (string, signin.Standing) {
		l := d.mint(t)
		cookie, err := d.Enter(t.Context(), l.Code)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Confirm(t.Context(), l.ID, "approver", true); err != nil {
			t.Fatal(err)
		}
		s, _ := d.Session(t.Context(), cookie)
		return cookie, s
	}
	cookie, s := enter()
	other, _ := enter()
	if err := d.End(t.Context(), s.ID, "approver"); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Session(t.Context(), cookie); ok {
		t.Error("it is over, and still counts")
	}
	select {
	case <-s.Ended():
	default:
		t.Error("whoever listens was not told")
	}
	d.now = d.now.Add(signin.IdleLife + time.Second)
	if s, ok := d.Session(t.Context(), other); !ok || !s.Idle {
		t.Errorf("half an hour later: %+v, %v", s, ok)
	}
	d.now = d.now.Add(signin.SessionLife)
	if _, ok := d.Session(t.Context(), other); ok {
		t.Error("it outlived its twelve hours")
	}
}

func TestAFormsTokenIsForItsPathAndSession(t *testing.T) {
	d := newDesk(t)
	l := d.mint(t)
	cookie, err := d.Enter(t.Context(), l.Code)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := d.Session(t.Context(), cookie)
	if !s.Bears("/a", s.Token("/a")) || s.Bears("/b", s.Token("/a")) || s.Bears("/a", "") {
		t.Error("a token is good for its own path, and for nothing else")
	}
}

// Whoever is signed out everywhere has no link left to come back by, and nobody else confirms theirs.
func TestWhoIsSignedOutHasNoLinkLeft(t *testing.T) {
	for _, opened := range []bool{false, true} {
		d := newDesk(t)
		l, err := d.Mint(t.Context(), "admin:mallory", "admin")
		if err != nil {
			t.Fatal(err)
		}
		cookie := ""
		if opened {
			if cookie, err = d.Enter(t.Context(), l.Code); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Confirm(t.Context(), l.ID, "reader", true); err == nil {
				t.Error("somebody else confirmed it")
			}
		}
		if err := d.EndOf(t.Context(), "admin:mallory", "admin"); err != nil {
			t.Fatal(err)
		}
		if !opened {
			if _, err := d.Enter(t.Context(), l.Code); err == nil {
				t.Error("the code still works")
			}
			continue
		}
		if s, err := d.Confirm(t.Context(), l.ID, "admin:mallory", true); err == nil && s.State == signin.Confirmed {
			t.Error("the link is confirmed after the sign-out")
		}
		if who, ok := d.Session(t.Context(), cookie); ok && who.Confirmed {
			t.Errorf("the cookie is good for %v", who)
		}
	}
}
