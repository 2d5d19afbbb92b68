// Package upgrade_test opens data folders that earlier versions made: what people said and what sessions had read is kept, or
// tightened, and never less.
package upgrade_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/store/sqlite"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// made is when the folder was: a question of it is open, one call is approved and not made, one grant runs.
var made = time.Date(2026, 11, 17, 3, 53, 10, 0, time.UTC)

// sessions are those of the folder; in each a page was read that asks for a file.
var sessions = []string{"open", "approved", "granted", "running"}

// folder is the data folder of commit 887df8c6, as a monitor of today opens it.
func folder(t *testing.T) *tidemark.Monitor {
	t.Helper()
	packed, err := os.ReadFile("testdata/887df8c6.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(unpack)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tidemark.db")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	set, faults := policy.Parse("policy.yaml", []byte("preset: balanced\n"))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	m, err := tidemark.New(tidemark.Options{Policy: set, Store: store, Now: func() time.Time { return made }, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// send is the call that the page asks for.
func send(to string) tool.Call {
	return tool.Call{ID: "b", Name: "send_file", Args: []byte(`{"file_id":"ledger-91","recipient":"` + to + `","text":"here"}`)}
}

// A folder of an earlier version is opened and goes on: open questions are answered, what is approved or granted is kept or asked
// about again, and sessions are as tainted as they were.
func TestAFolderOfAnEarlierVersionGoesOn(t *testing.T) {
	m := folder(t)
	decide := func(session, to string) tidemark.Verdict {
		t.Helper()
		v, err := m.Decide(t.Context(), tidemark.Ref{Session: session}, send(to))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, name := range sessions {
		v, err := m.View(t.Context(), name)
		if err != nil || v.Taint.Level > trust.External || v.Agent != "desk" {
			t.Fatalf("%s: %+v, %v", name, v, err)
		}
		if v := decide(name, "lea@quick.example"); v.Effect != policy.Confirm {
			t.Errorf("%s: got %s by %s for what nobody agreed to", name, v.Effect, v.Rule)
		}
	}
	for _, name := range []string{"approved", "granted"} { // the shipped preset is another: then they are asked about again
		if v := decide(name, "kes@quick.example"); v.Effect == policy.Deny {
			t.Errorf("%s: what was agreed to is denied by %s", name, v.Rule)
		}
	}
	held := decide("open", "kes@quick.example").Held
	if held == nil {
		t.Fatal("the open question is gone")
	}
	if _, err := m.Answer(t.Context(), tidemark.Vote{Session: "open", IDs: []string{held.ID}, Approve: true, By: "ada"}); err != nil {
		t.Fatal(err)
	}
	if v := decide("open", "kes@quick.example"); v.Effect != policy.Allow {
		t.Errorf("the question was answered, and the call is %s by %s", v.Effect, v.Rule)
	}
}

// The log of an earlier version is read back: each of its events is understood, and the questions in it are those that were asked.
func TestALogOfAnEarlierVersionIsRead(t *testing.T) {
	m, asked := folder(t), 0
	for _, name := range sessions {
		for e, err := range m.Events(t.Context(), name) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if e.Decided != nil && e.Decided.Ask != nil {
				asked++
			}
		}
	}
	if asked != 3 {
		t.Errorf("the log has %d questions, want 3", asked)
	}
}
