package signin_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// Who reads the database learns nothing of who is signed in, and who writes it signs nobody in: what was sealed for one place is nothing at
// another, and neither is what was sealed with another key.
func TestTheDatabaseSignsNobodyIn(t *testing.T) {
	address := pgtest.Start(t).New(t)
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	book := func(key string) signin.Book {
		b, err := signin.NewSharedBook(store, []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	ours, theirs := book("the key of the log"), book("another key")
	read := func(b signin.Book) (there map[string][]byte) {
		err := b.Turn(t.Context(), func(all map[string][]byte) ([]signin.Entry, []string) {
			there = all
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	const secret = "who they are and what they may"
	err = ours.Turn(t.Context(), func(map[string][]byte) ([]signin.Entry, []string) {
		return []signin.Entry{{ID: "session/a", Body: []byte(secret), Until: time.Now().Add(time.Hour)}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `INSERT INTO shelf SELECT 'desk/session/b', body, until FROM shelf WHERE id = 'desk/session/a'`); err != nil {
		t.Fatal(err)
	}
	var raw []byte
	if err := conn.QueryRow(t.Context(), `SELECT body FROM shelf WHERE id = 'desk/session/a'`).Scan(&raw); err != nil || bytes.Contains(raw, []byte("who")) {
		t.Errorf("the database has %q, %v", raw, err)
	}
	there := read(ours)
	if string(there["session/a"]) != secret || there["session/b"] != nil || len(there) != 2 {
		t.Errorf("read %q of %v", there, slices.Sorted(maps.Keys(there)))
	}
	for id, want := range map[string]string{"session/a": secret, "session/b": "", "session/c": ""} {
		if got, err := ours.Look(t.Context(), id); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", id, got, err)
		}
		if got, err := theirs.Look(t.Context(), id); err != nil || got != nil {
			t.Errorf("%s, by another key: %q, %v", id, got, err)
		}
	}
}
