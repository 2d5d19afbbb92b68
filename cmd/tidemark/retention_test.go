package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

// oldLog makes a data folder whose log has two sessions of long ago.
func oldLog(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	s, err := sqlite.Open(t.Context(), filepath.Join(data, "tidemark.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, session := range []string{"first", "second"} {
		if err := s.Append(t.Context(), session, 0, storetest.Events("turn", 300*i, 300)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return data
}

// works runs a command that must succeed, and say something.
func works(t *testing.T, want string, args ...string) string {
	t.Helper()
	out, errOut, code := command(t, args...)
	if code != exitOK || !strings.Contains(out, want) {
		t.Fatalf("%q: exit %d, %q, %q; want %q", args, code, out, errOut, want)
	}
	return out
}

const oldText = "your parcel is on its way"

// BEY-12
func TestALogIsPrunedHeldAndExportedBesideARunningServer(t *testing.T) {
	data := oldLog(t)
	s := startServer(t, data)
	works(t, "nothing is held", "hold", "--data", data)
	works(t, "held session first", "hold", "add", "--session", "first", "--why", "case 12", "--data", data)
	works(t, "case 12", "hold", "--data", data)
	if _, errOut, code := command(t, "hold", "add", "--session", "first", "--data", data); code != exitUsage || !strings.Contains(errOut, "already") {
		t.Errorf("a second hold: exit %d, %q", code, errOut)
	}
	works(t, "would take", "prune", "--events", "30d", "--dry-run", "--data", data)
	works(t, "would take", "prune", "--content", "0d", "--dry-run", "--data", data) // all of it
	works(t, oldText, "audit", "--session", "second", "--data", data)
	out := works(t, "out of 300 records in 1 sessions", "prune", "--events", "30d", "--data", data)
	if !strings.Contains(out, "left session first: session first is held by") || !strings.Contains(out, "case 12") {
		t.Errorf("what is held is not named: %s", out)
	}
	if out := works(t, "turn", "audit", "--session", "second", "--data", data); strings.Contains(out, oldText) {
		t.Errorf("it is still there:\n%s", out)
	}
	works(t, oldText, "audit", "--session", "first", "--data", data)
	works(t, "events of 300", "audit", "verify", "--data", data)
	if err := s.hook(t.Context(), "second", "message_received", map[string]any{"content": "hello"}, nil); err != nil {
		t.Errorf("the session cannot go on: %v", err)
	}

	if _, _, code := command(t, "prune", "--person", "chat:user-0", "--data", data); code != exitFault {
		t.Errorf("somebody who is held is forgotten: exit %d", code)
	}
	works(t, "released session first", "hold", "release", "--session", "first", "--data", data)
	works(t, `"records": 300`, "prune", "--person", "chat:user-0", "--why", "asked for it", "--json", "--data", data)
	works(t, "pruned 600 records in 2 sessions", "audit", "verify", "--data", data)
	works(t, "took 0 bytes out of 0 records", "prune", "--content", "1h,1KB", "--data", data)

	file := filepath.Join(t.TempDir(), "all.jsonl")
	works(t, "records to "+file, "export", "--out", file, "--data", data)
	raw, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(raw), oldText) || strings.Count(string(raw), "\n") < 600 || !strings.Contains(string(raw), `"kind":"log.pruned"`) {
		t.Errorf("%d bytes of export, %v", len(raw), err)
	}
	if _, _, code := command(t, "export", "--out", file, "--data", data); code != exitUsage {
		t.Errorf("a file is written over: exit %d", code)
	}
	if _, errOut, code := command(t, "export", "--format", "parquet", "--data", data); code != exitUsage || !strings.Contains(errOut, "tidemark-parquet") {
		t.Errorf("Parquet: exit %d, %q", code, errOut)
	}
}

// BEY-12
func TestAServerPrunesByItself(t *testing.T) {
	data := oldLog(t)
	writeFile(t, filepath.Join(data, "tidemark.yaml"), "retention:\n  previews: {days: 30}\n")
	startServer(t, data)
	for limit := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		out, errOut, code := command(t, "audit", "verify", "--data", data)
		if code == exitOK && strings.Contains(out, "previews of 400") {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("nothing is pruned: exit %d, %q, %q", code, out, errOut)
		}
	}
}

func TestPruneRefusesWhatMakesNoSense(t *testing.T) {
	data := oldLog(t)
	for _, test := range []struct {
		want string
		args []string
	}{
		{"how much is to be kept", nil},
		{"--content", []string{"--content", "soon"}},
		{"--content", []string{"--content", "0GB"}},
		{"--events", []string{"--events", "-1d"}},
		{"neither an age", []string{"--previews", "30d,many"}},
	} {
		if _, errOut, code := command(t, append([]string{"prune", "--data", data}, test.args...)...); code != exitUsage || !strings.Contains(errOut, test.want) {
			t.Errorf("%q: exit %d, %q; want %q", test.args, code, errOut, test.want)
		}
	}
	for _, args := range [][]string{{"hold", "add"}, {"hold", "release", "--session", "first"}, {"hold", "add", "--session", "a", "--person", "b"}, {"export", "--format", "xlsx"}, {"export", "--format", "parquet"}} {
		if _, errOut, code := command(t, append(args, "--data", data)...); code != exitUsage || errOut == "" {
			t.Errorf("%q: exit %d, %q", args, code, errOut)
		}
	}
}
