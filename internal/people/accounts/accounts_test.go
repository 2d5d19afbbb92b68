package accounts_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

type book struct {
	path  string
	notes []event.Person
	fails error
}

func (b *book) open(t *testing.T) (*accounts.Roster, error) {
	t.Helper()
	return accounts.Open(accounts.Options{
		Path: b.path, Now: time.Now, Rand: rand.Reader,
		Record: func(_ context.Context, p event.Person) error {
			if b.fails != nil {
				return b.fails
			}
			b.notes = append(b.notes, p)
			return nil
		},
	})
}

func newBook(t *testing.T) (*book, *accounts.Roster) {
	t.Helper()
	b := &book{path: filepath.Join(t.TempDir(), "people.json")}
	r, err := b.open(t)
	if err != nil {
		t.Fatal(err)
	}
	return b, r
}

var root = accounts.Actor{By: "admin", Via: "http"}

func TestATokenIsKnownOnceAndKeptAsAHash(t *testing.T) {
	b, r := newBook(t)
	token, err := r.Add(t.Context(), root, "ada", "approver")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), token) || strings.Contains(string(raw), strings.TrimPrefix(token, "tm-approver-")) {
		t.Errorf("the token lies on the disk: %s", raw)
	}
	if info, err := os.Stat(b.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is not private: %v %v", info, err)
	}
	again, err := b.open(t)
	if err != nil {
		t.Fatal(err)
	}
	for when, r := range map[string]*accounts.Roster{"at once": r, "after a restart": again} {
		if p, ok := r.Find(token); !ok || p.By() != "approver:ada" {
			t.Errorf("%s: got %v %v", when, p, ok)
		}
		if _, ok := r.Find(token + "0"); ok {
			t.Errorf("%s: another token is hers too", when)
		}
	}
	if len(b.notes) != 1 || b.notes[0].Act != "token-added" || b.notes[0].Detail != "approver:ada" || b.notes[0].By != "admin" {
		t.Errorf("the record says %+v", b.notes)
	}
}

func TestARevokedTokenIsNobodys(t *testing.T) {
	b, r := newBook(t)
	token, err := r.Add(t.Context(), root, "ada", "viewer")
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := r.Find(token); !ok || p.Role != "reader" {
		t.Fatalf("a viewer is %v %v, want a reader", p, ok)
	}
	if _, err := r.Revoke(t.Context(), root, "bob"); !errors.Is(err, accounts.ErrNobody) {
		t.Errorf("revoked nobody: %v", err)
	}
	if _, err := r.Revoke(t.Context(), root, "ada"); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Find(token); ok {
		t.Error("it still counts")
	}
	if again, err := b.open(t); err != nil || len(again.List()) != 0 {
		t.Errorf("after a restart: %v %v", again.List(), err)
	}
}

func TestWhoCannotBeAdded(t *testing.T) {
	_, r := newBook(t)
	if _, err := r.Add(t.Context(), root, "ada", "admin"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ name, role string }{
		"a name twice":                    {"ada", "reader"},
		"the name of a role":              {"approver", "approver"},
		"an account of a channel":         {"slack:u1", "approver"},
		"a name with a capital":           {"Ada", "approver"},
		"a name of nothing":               {"", "approver"},
		"a name that ends the line":       {"bob\n", "approver"},
		"a role that is none for people":  {"bob", "agent"},
		"the role that vouches for words": {"bob", "owner"},
		"no role":                         {"bob", ""},
		"a name nobody can read":          {strings.Repeat("a", 33), "reader"},
	} {
		t.Run(name, func(t *testing.T) {
			if token, err := r.Add(t.Context(), root, c.name, c.role); err == nil {
				t.Errorf("got %s", token)
			}
			if len(r.List()) != 1 {
				t.Errorf("the list is %v", r.List())
			}
		})
	}
}

func TestWhatIsNotRecordedDoesNotCount(t *testing.T) {
	b, r := newBook(t)
	b.fails = errors.New("the disk is full")
	token, err := r.Add(t.Context(), root, "ada", "admin")
	if !errors.Is(err, b.fails) {
		t.Fatalf("got %v", err)
	}
	if _, ok := r.Find(token); ok {
		t.Error("the token counts, and no record says so")
	}
	if _, err := os.Stat(b.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
}

func TestABadFileIsAnError(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	good := `{"name":"ada","role":"admin","hash":"` + hash + `","made":"2026-01-02T03:04:05Z"}`
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"readable by others":  {`{"people":[` + good + `]}`, 0o644},
		"no JSON":             {`{"people":`, 0o600},
		"an unknown member":   {`{"people":[],"more":1}`, 0o600},
		"a person twice":      {`{"people":[` + good + `,` + good + `]}`, 0o600},
		"a token, not a hash": {`{"people":[` + strings.Replace(good, hash, "tm-admin-1", 1) + `]}`, 0o600},
		"a role of agents":    {`{"people":[` + strings.Replace(good, `"admin"`, `"agent"`, 1) + `]}`, 0o600},
		"a name with a colon": {`{"people":[` + strings.Replace(good, `"ada"`, `"slack:ada"`, 1) + `]}`, 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			b := &book{path: filepath.Join(t.TempDir(), "people.json")}
			if err := os.WriteFile(b.path, []byte(c.text), c.mode); err != nil {
				t.Fatal(err)
			}
			if r, err := b.open(t); err == nil {
				t.Errorf("it was read: %v", r.List())
			}
		})
	}
}

// Where several servers have one log, it says who has a token: what one adds or takes away counts at the other at once, and the people of a
// file are taken over, once.
//
// WAR-10
func TestSeveralServersHaveOneRoster(t *testing.T) {
	var all []accounts.Person
	b := &book{path: filepath.Join(t.TempDir(), "people.json")}
	alone, err := b.open(t)
	if err != nil {
		t.Fatal(err)
	}
	old, err := alone.Add(t.Context(), accounts.Actor{By: "admin"}, "ada", "approver")
	if err != nil {
		t.Fatal(err)
	}
	server := func(path string) *accounts.Roster {
		t.Helper()
		r, err := accounts.Open(accounts.Options{
			Path: path, Now: time.Now, Rand: rand.Reader, Kept: func() ([]accounts.Person, error) { return all, b.fails },
			Record: func(_ context.Context, p event.Person) error {
				role, name, _ := strings.Cut(p.Detail, ":")
				all = slices.DeleteFunc(all, func(o accounts.Person) bool { return o.Name == name })
				if p.Act == "token-added" {
					all = append(all, accounts.Person{Name: name, Role: role, Hash: p.Token})
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, two := server(b.path), server(filepath.Join(t.TempDir(), "people.json"))
	if p, ok := two.Find(old); !ok || p.By() != "approver:ada" {
		t.Errorf("somebody of the file: %+v, %t", p, ok)
	}
	token, err := one.Add(t.Context(), accounts.Actor{By: "admin"}, "bob", "reader")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := two.Find(token); !ok || len(two.List()) != 2 {
		t.Errorf("somebody who was added at the other server: %t, %v", ok, two.List())
	}
	if _, err := two.Add(t.Context(), accounts.Actor{By: "admin"}, "bob", "reader"); !errors.Is(err, accounts.ErrTaken) {
		t.Errorf("their name once more: %v", err)
	}
	if _, err := two.Revoke(t.Context(), accounts.Actor{By: "admin"}, "ada"); err != nil {
		t.Fatal(err)
	}
	again := server(b.path) // the file was taken over: who was revoked does not come back with it
	for name, r := range map[string]*accounts.Roster{"one": one, "two": two, "one, started again": again} {
		if _, ok := r.Find(old); ok {
			t.Errorf("%s takes a token that was revoked", name)
		}
	}
	b.fails = errors.New("the log cannot be read")
	if _, ok := one.Find(token); ok {
		t.Error("without the log somebody is let in")
	}
}
