package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/afar"
)

// A machine is invited, joins, is known by name, asks for tokens of its agents, and leaves; each step from the command line.
func TestAMachineJoinsFromTheCommandLine(t *testing.T) {
	data := t.TempDir()
	policy := "server: {tls: {listen: '127.0.0.1:0', names: ['127.0.0.1']}}\n"
	if err := os.WriteFile(filepath.Join(data, "tidemark.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, data)
	var invited struct {
		Code string   `json:"code"`
		URLs []string `json:"urls"`
	}
	if err := json.Unmarshal([]byte(s.says(t, "token", "invite", "ana-laptop", "--json")), &invited); err != nil || len(invited.URLs) != 1 {
		t.Fatalf("invite: %+v, %v", invited, err)
	}
	for name, args := range map[string][]string{
		"no code":            {"join", invited.URLs[0], "ABC"},
		"plain http":         {"join", strings.Replace(invited.URLs[0], "https", "http", 1), invited.Code},
		"nothing is invited": {"join", invited.URLs[0], strings.Repeat("A", 48)},
	} {
		if _, errOut, code := command(t, append(args, "--data", t.TempDir())...); code != exitUsage || errOut == "" {
			t.Errorf("%s: exit %d, %q", name, code, errOut)
		}
	}
	laptop := t.TempDir()
	if out, errOut, code := command(t, "join", invited.URLs[0], strings.ToLower(invited.Code), "--data", laptop); code != exitOK || !strings.Contains(out, "as ana-laptop") {
		t.Fatalf("join: exit %d, %s%s", code, out, errOut)
	}
	if _, errOut, code := command(t, "join", invited.URLs[0], invited.Code, "--data", t.TempDir()); code != exitUsage || !strings.Contains(errOut, "does not work") {
		t.Errorf("the code again: exit %d, %s", code, errOut)
	}
	if _, errOut, code := command(t, "serve", "--data", laptop); code != exitUsage || !strings.Contains(errOut, "tidemark leave") {
		t.Errorf("a server beside it: exit %d, %s", code, errOut)
	}
	for _, file := range []string{afar.File(laptop), afar.TokenFile(laptop)} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	if list := s.says(t, "token", "list"); !strings.Contains(list, "ana-laptop") || !strings.Contains(list, "machine") {
		t.Errorf("the list says %s", list)
	}
	tokenInPlaceOfACode(t, s, laptop)
	if out, errOut, code := command(t, "leave", "--data", laptop); code != exitOK || !strings.Contains(out, "token revoke ana-laptop") {
		t.Errorf("leave: exit %d, %s%s", code, out, errOut)
	}
	if _, err := os.Stat(afar.TokenFile(laptop)); err == nil {
		t.Error("the token is still there")
	}
	if away, err := afar.Read(laptop); away != nil || err != nil {
		t.Errorf("it is still joined: %v, %v", away, err)
	}
}

// tokenInPlaceOfACode tries tokens of roles: a machine's will do, and nobody else's.
func tokenInPlaceOfACode(t *testing.T, s *server, laptop string) {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	for role, want := range map[string]string{"viewer": "agent or admin", "machine": ""} {
		secret, _, _ := strings.Cut(strings.TrimSpace(s.says(t, "token", "add", "build-"+role[:1], "--role", role)), "\n")
		if err := os.WriteFile(token, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		away, err := afar.Read(laptop)
		if err != nil {
			t.Fatal(err)
		}
		other := t.TempDir()
		e := &env{data: other}
		err = e.setElsewhere(&installFlags{server: away.URL, tokenFile: token, pin: away.Pin})
		if want == "" && err != nil || want != "" && err == nil {
			t.Errorf("%s: got %v, want %q", role, err, want)
		}
		if joined, _ := afar.Read(other); (joined != nil) != (want == "") {
			t.Errorf("%s: it is noted: %+v", role, joined)
		}
	}
}
