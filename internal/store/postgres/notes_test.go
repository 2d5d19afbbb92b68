package postgres_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/store/postgres"
)

// notesOf are the notes after one of them: "-" before those of the server itself.
func notesOf(t *testing.T, s *postgres.Store, after int64) (out []string, last int64) {
	t.Helper()
	for n, err := range s.Notes(t.Context(), after) {
		if err != nil {
			t.Fatal(err)
		}
		mark := ""
		if n.Own {
			mark = "-"
		}
		out, last = append(out, mark+string(n.Body)), n.ID
	}
	return out, last
}

// SEQ-09
func TestServersNoteForOneAnother(t *testing.T) {
	address := cluster.New(t)
	one, two := open(t, address), open(t, address)
	for _, bodies := range [][][]byte{{[]byte("a"), []byte("b")}, nil, {[]byte("")}} {
		if err := one.Note(t.Context(), bodies); err != nil {
			t.Fatal(err)
		}
	}
	got, last := notesOf(t, two, 0)
	if own, _ := notesOf(t, one, 0); !slices.Equal(got, []string{"a", "b", ""}) || !slices.Equal(own, []string{"-a", "-b", "-"}) {
		t.Fatalf("one sees %q, the other %q", own, got)
	}
	if err := two.Note(t.Context(), [][]byte{[]byte("late")}); err != nil { // what the other has not read yet stays
		t.Fatal(err)
	}
	many := make([][]byte, 1500)
	for i := range many {
		many[i] = fmt.Append(nil, "n", i)
	}
	if err := one.Renote(t.Context(), last, slices.Values(many)); err != nil {
		t.Fatal(err)
	}
	got, _ = notesOf(t, two, last)
	if len(got) != 1501 || got[0] != "-late" || got[1500] != "n1499" {
		t.Errorf("written anew there are %d: %q", len(got), got[:min(len(got), 3)])
	}
	if err := one.Renote(t.Context(), 1<<40, slices.Values([][]byte{})); err != nil {
		t.Fatal(err)
	}
	if got, _ := notesOf(t, two, 0); len(got) != 0 {
		t.Errorf("nothing is left, and there are %d", len(got))
	}
}

// Whoever reads on misses nothing, though many write at once.
func TestNoNoteIsMissed(t *testing.T) {
	address := cluster.New(t)
	reads := open(t, address)
	const writers, each = 4, 40
	var all sync.WaitGroup
	for w := range writers {
		s := open(t, address)
		all.Go(func() {
			for i := range each {
				if err := s.Note(t.Context(), [][]byte{fmt.Append(nil, w, " ", i), fmt.Append(nil, w, " ", i, " too")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	seen, last, ended := map[string]bool{}, int64(0), false
	for !ended {
		select {
		case <-done:
			ended = true // and once more
		default:
		}
		got, at := notesOf(t, reads, last)
		for _, n := range got {
			seen[n] = true
		}
		last = max(last, at)
	}
	if len(seen) != 2*writers*each {
		t.Errorf("%d of %d were seen", len(seen), 2*writers*each)
	}
}
