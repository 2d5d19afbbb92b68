package catalogue_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

// asClaude quotes as Claude Code does.
func asClaude(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" }

const (
	claudeHead = `source /root/.claude/shell-snapshots/snapshot-bash-1.sh 2>/dev/null || true && ` +
		`{ shopt -u extglob || setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true && eval `
	claudeTail = ` < /dev/null && pwd -P >| /tmp/claude-1a2b-cwd`
)

// The model has a say in its own line alone: whatever stands in it, that line is what is read, and where the agent looks for the folder
// is not moved.
func TestTheModelsLineIsReadBack(t *testing.T) {
	read := catalogue.Lookup("claude").Prefix.Read
	check := func(t interface{ Errorf(string, ...any) }, line string) {
		for _, tail := range []string{claudeTail, strings.TrimPrefix(claudeTail, " < /dev/null")} {
			for _, head := range []string{claudeHead, "eval ", "export A='it is'\n: && eval "} {
				w, ok := read(head + asClaude(line) + tail)
				if !ok || w.Line != line || w.Where != "/tmp/claude-1a2b-cwd" || w.Quiet != (tail == claudeTail) {
					t.Errorf("%q after %q: got %+v, %v", line, head, w, ok)
				}
			}
		}
	}
	for _, line := range []string{
		"ls", "echo 'it'", `x' && eval 'y' && pwd -P >| /home/me/.bashrc`, `eval 'rm' < /dev/null && pwd -P >| /x`, "a && eval b && pwd -P >| c", "'", `'"'"'`, "\n", " ",
	} {
		check(t, line)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			" && eval ", " && pwd -P >| ", "'", `"`, `"'"`, `\'`, " < /dev/null", "/tmp/x", " ",
		})), 1, 8).Draw(t, "parts")
		if line := strings.Join(parts, ""); line != "" && !strings.ContainsRune(line, 0) {
			check(t, line)
		}
	})
}

// What is a command of the shell and cannot be read is told apart from what is none: the one does not run, the other does.
func TestWhatIsNoCommandOfTheShell(t *testing.T) {
	read := catalogue.Lookup("claude").Prefix.Read
	for _, line := range []string{"node server.js --port 1", "/usr/bin/hook 'a b'", "", "echo $(pwd)"} {
		if w, ok := read(line); ok {
			t.Errorf("%q: got %+v", line, w)
		}
	}
	for _, line := range []string{
		"eval x;y && pwd -P >| /f", "eval '' && pwd -P >| /f", "evil 'x' && pwd -P >| /f", "eval 'x && pwd -P >| /f", "eval 'x' && pwd -P >| /f; rm",
		"eval \"$X\" && pwd -P >| /f", "eval 'x' 2>&1 && pwd -P >| /f",
	} {
		if w, ok := read(line); !ok || w.Line != "" {
			t.Errorf("%q: got %+v, %v", line, w, ok)
		}
	}
}

// A program is known by where it lies.
func TestThePrefixProgramNamesItsDataFolder(t *testing.T) {
	for _, data := range []string{"/data", "/it's a/folder"} {
		if d, agent, ok := catalogue.Prefixed(catalogue.PrefixProgram(data, "claude")); d != data || agent != "claude" || !ok {
			t.Errorf("got %q %q %v", d, agent, ok)
		}
	}
	for _, program := range []string{"tidemark-hook", "/usr/bin/tidemark-hook", "claude.shell", "agents/claude.shell", "/data/claude.shell", "/data/agents/.shell"} {
		if d, agent, ok := catalogue.Prefixed(program); ok {
			t.Errorf("%q: got %q %q", program, d, agent)
		}
	}
}
