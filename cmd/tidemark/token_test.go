package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Somebody gets a token of their own, beside a server and without one, and it is taken away again.
func TestTokensOfPeopleFromTheCommandLine(t *testing.T) {
	s := startServer(t, t.TempDir())
	out := s.says(t, "token", "add", "ada", "--role", "approver")
	if !strings.Contains(out, "tm-approver-") || !strings.Contains(out, "approver:ada") {
		t.Fatalf("it says %q", out)
	}
	token, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	raw, err := os.ReadFile(filepath.Join(s.data, "people.json"))
	if err != nil || strings.Contains(string(raw), token) {
		t.Errorf("the file says %s, %v", raw, err)
	}
	if out := s.says(t, "token", "list"); !strings.Contains(out, "ada") || strings.Contains(out, token) {
		t.Errorf("the list says %q", out)
	}
	for name, args := range map[string][]string{
		"a name twice":      {"token", "add", "ada", "--role", "viewer"},
		"no role":           {"token", "add", "bob"},
		"a role of agents":  {"token", "add", "bob", "--role", "agent"},
		"nobody to revoke":  {"token", "revoke", "bob"},
		"a name of an role": {"token", "add", "admin", "--role", "admin"},
	} {
		if _, errOut, code := command(t, append(args, "--data", s.data)...); code != exitUsage || errOut == "" {
			t.Errorf("%s: exit %d, %q", name, code, errOut)
		}
	}
	s.kill()
	if out := s.says(t, "token", "add", "bob", "--role", "viewer", "--json"); !strings.Contains(out, `"by": "reader:bob"`) {
		t.Errorf("without a server: %q", out)
	}
	s.says(t, "token", "revoke", "ada")
	if out := s.says(t, "token", "list"); strings.Contains(out, "ada") || !strings.Contains(out, "bob") {
		t.Errorf("the list says %q", out)
	}
	records := s.says(t, "audit", "--kind", "person.acted", "--json")
	for _, part := range []string{"token-added", "token-revoked", "approver:ada", "reader:bob"} {
		if !strings.Contains(records, part) {
			t.Errorf("the log does not say %s: %s", part, records)
		}
	}
}
