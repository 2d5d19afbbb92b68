// Package upgrade_test opens data folders that earlier versions made: what people said and what sessions had read is kept, or
// tightened, and never less.
package upgrade_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/store/backup"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// made is when the folder was: a question of it is open, one call is approved and not made, one grant runs.
var made = time.Date(2026, 11, 17, 3, 53, 10, 0, time.UTC)

// sessions are those of the folder; in each a page was read that asks for a file.
var sessions = []string{"open", "approved", "granted", "running"}

// unpacked is the log of commit 887df8c6, as it was.
func unpacked(t *testing.T) []byte {
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
	return raw
}

// folder is the data folder of that commit, as a monitor of today opens it.
func folder(t *testing.T) *engine.Monitor {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tidemark.db")
	if err := os.WriteFile(path, unpacked(t), 0o600); err != nil {
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
	m, err := engine.New(engine.Options{Policy: set, Store: store, Now: func() time.Time { return made }, Rand: rand.Reader})
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
	decide := func(session, to string) engine.Verdict {
		t.Helper()
		v, err := m.Decide(t.Context(), engine.Ref{Session: session}, send(to))
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
	if _, err := m.Answer(t.Context(), engine.Vote{Session: "open", IDs: []string{held.ID}, Approve: true, By: "ada"}); err != nil {
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

// A backup that an earlier version made is restored, and stays as it is; one of a later version is refused, with what to do.
func TestABackupOfAnotherVersion(t *testing.T) {
	older := datafolder.Paths{Data: t.TempDir()}
	raw := unpacked(t)
	if err := os.WriteFile(older.DB(), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	to := datafolder.Paths{Data: filepath.Join(t.TempDir(), "data")}
	c, err := backup.Restore(t.Context(), to, older.Data, time.Now())
	if err != nil || !c.Report.OK() || c.Report.Sessions < int64(len(sessions)) {
		t.Fatalf("%+v, %v", c, err)
	}
	if now, err := os.ReadFile(older.DB()); err != nil || !bytes.Equal(now, raw) {
		t.Errorf("the backup was changed (%v)", err)
	}
	log, err := installation.OpenLog(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sessions {
		if v, err := log.Monitor.View(t.Context(), name); err != nil || v.Agent != "desk" {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}

	newer := datafolder.Paths{Data: t.TempDir()}
	if _, err := backup.Restore(t.Context(), newer, to.Data, time.Now()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", newer.DB())
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "INSERT INTO schema_version (version_id, is_applied) VALUES (99, 1)")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), to, newer.Data, time.Now()); err == nil || !strings.Contains(err.Error(), "use the newer program") {
		t.Errorf("a backup of a later version: %v", err)
	}
}
