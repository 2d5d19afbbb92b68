package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A backup is taken while a server writes; it holds together, and a folder restored from it
// goes on where it stood.
func TestBackupAndRestore(t *testing.T) {
	data, backup := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	writeFile(t, filepath.Join(data, "tidemark.yaml"), "preset: strict\n")
	s := startServer(t, data)
	say := func(s *server, session string) {
		t.Helper()
		if err := s.hook(t.Context(), session, "message_received", map[string]any{"content": "hello"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	say(s, "before")
	writing, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(writing)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = s.hook(t.Context(), fmt.Sprintf("busy-%d", i), "message_received", map[string]any{"content": "hello"}, nil)
			}
		}
	}()
	out, errOut, code := command(t, "backup", backup, "--secrets", "--data", data)
	close(stop)
	<-writing
	if code != exitOK || !strings.Contains(out, "unbroken") || !strings.Contains(out, "words.key") {
		t.Fatalf("backup: exit %d, %q, %q", code, out, errOut)
	}
	say(s, "after")
	if _, errOut, code := command(t, "restore", backup, "--data", data); code == exitOK || !strings.Contains(errOut, "a server runs on") {
		t.Errorf("restore below a running server: exit %d, %q; want a refusal", code, errOut)
	}
	s.kill()
	if out, errOut, code = command(t, "restore", backup, "--data", data); code != exitOK || !strings.Contains(out, "what was there before is in "+filepath.Join(data, "before-")) {
		t.Fatalf("restore: exit %d, %q, %q", code, out, errOut)
	}
	sessions, _, _ := command(t, "sessions", "--data", data)
	if !strings.Contains(sessions, "before") || strings.Contains(sessions, "after") {
		t.Errorf("the restored log has\n%s", sessions)
	}
	again := startServer(t, data)
	say(again, "later")
	if out, _, code := command(t, "audit", "verify", "--data", data); code != exitOK || !strings.Contains(out, "unbroken") {
		t.Errorf("after restore and more work: exit %d, %q", code, out)
	}
	fresh := filepath.Join(t.TempDir(), "new")
	if out, errOut, code := command(t, "restore", backup, "--data", fresh); code != exitOK || strings.Contains(out, "was there before") {
		t.Errorf("into a folder that is not there: exit %d, %q, %q", code, out, errOut)
	}
}

func TestABackupThatIsNoneIsRefused(t *testing.T) {
	data, backup := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	if _, errOut, code := command(t, "backup", backup, "--data", data); code == exitOK || !strings.Contains(errOut, "there is none in") {
		t.Errorf("without a log: exit %d, %q", code, errOut)
	}
	startServer(t, data).kill()
	if out, errOut, code := command(t, "backup", backup, "--data", data); code != exitOK || strings.Contains(out, "tokens.json") {
		t.Fatalf("backup: exit %d, %q, %q; want no secrets in it", code, out, errOut)
	}
	if _, errOut, code := command(t, "backup", backup, "--data", data); code == exitOK || !strings.Contains(errOut, "does not exist yet") {
		t.Errorf("into a folder that is there: exit %d, %q", code, errOut)
	}
	if _, err := os.Stat(filepath.Join(backup, "tidemark.db")); err != nil {
		t.Fatalf("the refusal removed the first backup: %v", err)
	}
	if err := os.WriteFile(filepath.Join(backup, "tidemark.db"), []byte("no log"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(data, "tidemark.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, code := command(t, "restore", backup, "--data", data); code == exitOK {
		t.Error("a broken backup was restored")
	}
	if after, err := os.ReadFile(filepath.Join(data, "tidemark.db")); err != nil || string(after) != string(before) {
		t.Errorf("a refused restore changed the log (%v)", err)
	}
}

func TestABackupHasAPolicyThatIsElsewhere(t *testing.T) {
	data, backup, policy := t.TempDir(), filepath.Join(t.TempDir(), "copy"), filepath.Join(t.TempDir(), "our.yaml")
	writeFile(t, policy, "preset: strict\n")
	startServer(t, data, "--config", policy).kill()
	if out, errOut, code := command(t, "backup", backup, "--data", data, "--config", policy); code != exitOK || !strings.Contains(out, "tidemark.yaml") {
		t.Fatalf("backup: exit %d, %q, %q", code, out, errOut)
	}
	if raw, err := os.ReadFile(filepath.Join(backup, "tidemark.yaml")); err != nil || string(raw) != "preset: strict\n" {
		t.Errorf("the backup has %q, %v", raw, err)
	}
}
