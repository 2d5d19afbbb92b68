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

// Held is a call that waits for a person: what the model reads, and what only the person is
// shown. Neither holds anything by which it could be answered.
type Held struct{ Reason, Person string }

// shown is the refusal of a call for agents of the nested dialect that show the person a
// message of a hook. The text must come out whole, or the exit code refuses.
func shown(e *Event, h Held) Reply {
	if e.Kind != Call || h.Person == "" {
		return byExit(e, h.Reason)
	}
	return Reply{Stdout: object(map[string]any{
		"systemMessage": h.Person,
		"hookSpecificOutput": map[string]any{
			"hookEventName": e.Name, "permissionDecision": "deny", "permissionDecisionReason": h.Reason,
		},
	})}
}

// warned is a warning at the start of a session, where nothing is decided, that the person is
// shown: of a hook that ends with code 1 some see the code alone.
func warned(e *Event, reason string) (Reply, bool) {
	if e.Kind != Start {
		return Reply{}, false
	}
	return Reply{Stdout: object(map[string]any{"systemMessage": reason}), Stderr: reason, Code: CodePass}, true
}

// byExit refuses with the exit code alone.
func byExit(_ *Event, reason string) Reply { return Reply{Stderr: reason, Code: CodeRefuse} }

// silent passes without a word, so that the agent's own permissions stand.
func silent(*Event, string) []byte { return nil }

// added is the reply that puts a notice beside the user's prompt, for agents of the
// nested dialect.
func added(e *Event, notice string) []byte {
	if e.Kind == Start && notice != "" { // nothing for the model: it is the person who must know
		return object(map[string]any{"systemMessage": "Tidemark: " + notice})
	}
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
