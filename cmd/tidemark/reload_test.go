package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const noTools = "rules:\n  - {name: closed, effect: deny}\n"

// modeOf asks a server what it does with exec.
func (s *server) modeOf(t *testing.T) string {
	t.Helper()
	var x struct {
		Mode string `json:"mode"`
	}
	if err := s.call(t.Context(), http.MethodGet, "/v1/explain?tool=exec&taint=owner", nil, &x); err != nil {
		t.Fatal(err)
	}
	return x.Mode
}

// eventually waits for a server to do something by itself.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("a minute later: %s has not happened", what)
		}
	}
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file that came after the start is the policy, by itself or when somebody says so; one
// with faults, and one that is gone, change nothing.
func TestAPolicyFileThatComesLaterIsInForce(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(data, "tidemark.yaml")
	s := startServer(t, data)
	if got := s.modeOf(t); got != "allow" {
		t.Fatalf("as shipped exec is %s, want allow", got)
	}
	if out, _, _ := command(t, "status", "--data", data); !strings.Contains(out, "as shipped") || !strings.Contains(out, "server: "+s.client.base+", version ") {
		t.Errorf("status: %q, want it to say that the policy is the shipped one", out)
	}
	writeFile(t, file, "foo: bar\n")
	_, errOut, code := command(t, "reload", "--data", data)
	if code == exitOK || !strings.Contains(errOut, "tidemark.yaml:1:1") {
		t.Errorf("reload of a file with a fault: exit %d, %q; want its place", code, errOut)
	}
	writeFile(t, file, noTools)
	out, errOut, code := command(t, "reload", "--data", data)
	if code != exitOK || !strings.Contains(out, file) {
		t.Fatalf("reload: exit %d, %q, %q; want the file named", code, out, errOut)
	}
	if got := s.modeOf(t); got != "restrict" {
		t.Errorf("after reload exec is %s, want restrict", got)
	}
	writeFile(t, file, "preset: balanced\n")
	eventually(t, "the changed file being in force", func() bool { return s.modeOf(t) == "allow" })
	writeFile(t, file, noTools+"# longer\n")
	eventually(t, "the second change being in force", func() bool { return s.modeOf(t) == "restrict" })
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, errOut, code := command(t, "reload", "--data", data); code == exitOK || !strings.Contains(errOut, "does not exist") {
		t.Errorf("reload of a file that is gone: exit %d, %q; want a refusal", code, errOut)
	}
	if got := s.modeOf(t); got != "restrict" {
		t.Errorf("after the file was removed exec is %s, want restrict as before", got)
	}
}

func TestReloadNeedsAServer(t *testing.T) {
	if _, errOut, code := command(t, "reload", "--data", t.TempDir()); code != exitUsage || !strings.Contains(errOut, "no server runs") {
		t.Errorf("exit %d, %q", code, errOut)
	}
}
