package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// A host's record of the conversation shows whether it asks: a call that was carried out there and that no hook was started for was not
// asked about (package pulse). Some hosts name the record in what their hooks get; of others the place is known.

// acting are the tools of Gemini CLI, Copilot CLI and OpenCode that run or write something, and that start a hook whenever a model calls
// them. What else they have may be called by the program itself.
var acting = map[string]bool{
	"run_shell_command": true, "write_file": true, "replace": true,
	"bash": true, "powershell": true, "create": true, "edit": true, "apply_patch": true,
	"write": true, "multiedit": true, "patch": true,
}

// Acting reports whether a call of a tool, as those agents name it, is told by a record of theirs and always starts a hook.
func Acting(tool string) bool { return acting[tool] }

// Sum is what a call says, for agents whose hooks have no ids of calls: the same for two that say the same; "" for what cannot be told.
func Sum(tool string, args strictjson.Value) string {
	if !Acting(tool) {
		return ""
	}
	same, err := strictjson.Canonical(args)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(tool+"\n"), same...))
	return hex.EncodeToString(sum[:16])
}

// StoredPrefix begins the name of a record that is a session of a database.
const StoredPrefix = "sqlite:"

// FromStored takes the name of such a record apart.
func FromStored(record string) (file, session string) {
	record = strings.TrimPrefix(record, StoredPrefix)
	at := strings.LastIndexByte(record, '#')
	if at < 0 {
		return record, ""
	}
	return record[:at], record[at+1:]
}

// within names a file of a session below a folder that a variable names, or else the home. A session whose name is not plain has none.
func within(env func(string) string, variable, home, session string, rest ...string) string {
	top := env(variable)
	if top == "" && env("HOME") != "" {
		top = filepath.Join(env("HOME"), home)
	}
	plain := func(r rune) bool {
		return r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if !filepath.IsAbs(top) || session == "" || strings.TrimFunc(session, plain) != "" {
		return ""
	}
	return filepath.Join(append([]string{top}, rest...)...)
}

// copilotKept is the file to which Copilot CLI adds what happens in a session.
func copilotKept(env func(string) string, session string) string {
	return within(env, "COPILOT_HOME", ".copilot", session, "session-state", session, "events.jsonl")
}

// opencodeKept is OpenCode's database.
func opencodeKept(env func(string) string, session string) string {
	file := within(env, "XDG_DATA_HOME", ".local/share", session, "opencode", "opencode.db")
	if file == "" {
		return ""
	}
	return StoredPrefix + file + "#" + session
}
