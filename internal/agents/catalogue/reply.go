package catalogue

import "github.com/tidemark/tidemark/internal/base/strictjson"

// The exit codes agents give a meaning to.
const (
	CodePass   = 0
	CodeWarn   = 1 // tell the person and go on
	CodeRefuse = 2 // the one refusal every agent honours, if standard error is not empty
)

// Reply is a verdict in an agent's own form.
type Reply struct {
	Stdout []byte
	Stderr string
	Code   int
}

// byExit refuses with the exit code alone.
func byExit(_ *Event, reason string) Reply { return Reply{Stderr: reason, Code: CodeRefuse} }

// silent passes without a word, so that the agent's own permissions stand.
func silent(*Event, string) []byte { return nil }

// added is the reply that puts a notice beside the user's prompt, for agents of the
// nested dialect.
func added(e *Event, notice string) []byte {
	if e.Kind != Prompt || notice == "" {
		return nil
	}
	return object(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": e.Name, "additionalContext": "Tidemark: " + notice}})
}

// object is a reply of one line. Its values are strings and booleans: it cannot fail.
func object(fields map[string]any) []byte {
	raw, err := strictjson.Marshal(fields)
	if err != nil {
		return nil
	}
	return raw
}
