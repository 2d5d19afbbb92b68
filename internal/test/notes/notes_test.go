// Package notes_test has somebody else's program read the signed notes that anchors are written as.
package notes_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/external/anchors"
	"github.com/tidemark/tidemark/internal/store"
)

// Programs that read signed notes, and know nothing of us, take ours.
func TestOthersReadOurNotes(t *testing.T) {
	s := anchors.NewSigner(bytes.Repeat([]byte{7}, 32))
	verifier, err := note.NewVerifier(s.Key.String())
	if err != nil {
		t.Fatal(err)
	}
	head := store.Head{Batch: 5, Records: 15, Hash: audit.Hash{5, 1, 2}}
	got, err := note.Open(s.Sign(head, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), note.VerifierList(verifier))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got.Text, "\n")
	if len(lines) < 5 || lines[1] != "5" || lines[3] != "records 15" || lines[4] != "time 2026-03-01T12:00:00Z" || lines[0] != got.Sigs[0].Name {
		t.Errorf("got %q, signed by %v", got.Text, got.Sigs)
	}
	again, err := anchors.ParseKey(s.Key.String())
	if err != nil || again.String() != s.Key.String() {
		t.Errorf("the key: %v, %v", again, err)
	}
}
