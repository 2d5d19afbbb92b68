package box_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/box"
)

var seatWant = box.Want{
	Workspace: "/Users/d/src/site", Home: "/Users/d", State: "/Users/d/Library/Application Support/tidemark/boxes/1", Hide: []string{"/Users/d/Library/Application Support/tidemark"},
	Read: []string{"/Users/d/.config/acme/dev.json"}, Write: []string{"/Users/d/src/shared"}, Guard: []string{"deploy"}, Terminal: "/dev/ttys003",
}

const seatTmp = "/Users/d/Library/Application Support/tidemark/boxes/1/tmp"

// What the profile for macOS says of paths: what may be read and written, and what may not. It was never run on macOS.
func TestSeatbelt(t *testing.T) {
	allows, _, err := box.Seat(seatWant, seatTmp)
	if err != nil {
		t.Fatal(err)
	}
	const ws = "/Users/d/src/site/"
	for _, c := range []struct {
		op, paths string
		want      bool
	}{
		{"file-read-data", "/usr/bin/git /System/Library/x /private/etc/hosts /Users/d/Documents/tax.txt /Users/d/src/other/f /Users/d/.bashrc /Users/d/.gitconfig /Users/d/.cargo/config.toml " +
			"/Users/d/.cache/go-build/x /Users/d/.config/acme/dev.json " + ws + ".env " + ws + ".git/config", true},
		{"file-read-data", "/Users/d/.ssh/id_ed25519 /Users/d/.aws/credentials /Users/d/.netrc /Users/d/.acme/token /Users/d/Library/Keychains/login.keychain-db /Users/d/.cargo/credentials.toml " +
			"/Users/d/.cache/mail/inbox /Users/d/.bash_history /Users/e/Documents/x /private/var/root/x /private/tmp/other /dev/disk0 /dev/ttys001 /Users/d/.claude/settings.json", false},
		{"file-write-data", ws + "a.txt " + ws + "deep/er/b.go " + ws + ".env " + ws + ".gitignore " + ws + ".git/HEAD " + ws + ".git/objects/aa/bb " + ws + "docs/agents-guide.md /dev/null /dev/ttys003 " +
			"/Users/d/src/shared/x " + strings.ReplaceAll(seatTmp, " ", "\x00") + "/t", true},
		{"file-write-data", "/Users/d/.bashrc /Users/d/.zshrc /Users/d/src/other/f /Users/d/Documents/tax.txt /usr/bin/git /Users/d/.cache/go-build/x /Users/d/.local/bin/git /dev/ttys001 " +
			ws + ".git/config " + ws + ".git/hooks/pre-commit " + ws + ".git/modules/x/config " + ws + "sub/.git/config " + ws + ".github/workflows/ci.yml " + ws + ".claude/settings.json " + ws +
			".mcp.json " + ws + ".MCP.JSON " + ws + "CLAUDE.md " + ws + "notes/AGENTS.md " + ws + "deep/.vscode/tasks.json " + ws + "deep/.envrc " + ws + ".newagent/hooks.json " + ws + "Jenkinsfile " + ws +
			"deploy/x " + ws + ".git/info/attributes", false},
		// a folder that holds what is guarded cannot be moved away, and none that brings it can be made ready elsewhere
		{"file-write-unlink", ws + ".git " + ws + ".github /Users/d/src/site " + ws + "deploy " + ws + ".yarn", false},
		{"file-write-create", ws + ".git " + ws + "sub/.git " + strings.ReplaceAll(seatTmp, " ", "\x00") + "/g/.git " + strings.ReplaceAll(seatTmp, " ", "\x00") + "/p/.claude /Users/d/src/shared/.envrc", false},
		{"network-outbound", "/var/run/docker.sock", false},
	} {
		for _, path := range strings.Fields(c.paths) {
			path = strings.ReplaceAll(path, "\x00", " ")
			if got := allows(c.op, path); got != c.want {
				t.Errorf("%s %s: %v, want %v", c.op, path, got, c.want)
			}
		}
	}
}

// The profile denies by default, has no network and no keychain, and is well formed: brackets and quotes match.
func TestSeatbeltProfile(t *testing.T) {
	_, profile, err := box.Seat(seatWant, seatTmp)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(profile, "(version 1)\n(deny default)\n") {
		t.Errorf("%.80s", profile)
	}
	for _, none := range []string{"network", "securityd", "SecurityServer", "pasteboard", "launchservices", "coreservices", "(allow default)", "(allow file*"} {
		if strings.Contains(profile, none) {
			t.Errorf("%s is in it", none)
		}
	}
	for i, line := range strings.Split(strings.TrimSpace(profile), "\n") {
		if !strings.HasPrefix(line, "(") || !strings.HasSuffix(line, ")") || strings.Count(line, `"`)%2 != 0 {
			t.Errorf("line %d: %s", i, line)
		}
	}
}

// Law: outside the workspace, what is granted and the box's own folder nothing can be written but devices, whatever it is called; and no path can
// end a text of the profile.
func TestSeatbeltWritesNothingElse(t *testing.T) {
	allows, _, err := box.Seat(seatWant, seatTmp)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"Users", "d", "src", "site", "site2", "shared", "etc", ".ssh", "Library", "a.b", "..site"}), 1, 6).Draw(t, "parts")
		path := "/" + strings.Join(parts, "/")
		in := strings.HasPrefix(path+"/", "/Users/d/src/site/") || strings.HasPrefix(path+"/", "/Users/d/src/shared/")
		if allows("file-write-data", path) && !in {
			t.Fatalf("%s can be written", path)
		}
	})
	for _, bad := range []string{`/Users/d/a"b`, "/Users/d/a\nb", `/Users/d/a\b`} {
		w := seatWant
		w.Workspace = bad
		if _, _, err := box.Seat(w, seatTmp); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
