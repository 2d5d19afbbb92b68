package shim

import (
	"cmp"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// The exit codes agents give a meaning to.
const (
	codePass   = 0
	codeWarn   = 1 // tell the person and go on
	codeRefuse = 2 // the one refusal every agent honours, if standard error is not empty
)

// answer makes the agent's form of a verdict complete.
func (a *Adapter) answer(e *Event, reason, notice string) Outcome {
	if reason == "" {
		return Outcome{Stdout: a.pass(e, notice), Stderr: unsaid(a, e, notice), Code: codePass, passed: true}
	}
	return a.refuse(e, clean(reason))
}

// fault is the answer where nothing could be asked or understood.
func (a *Adapter) fault(e *Event, err error) Outcome {
	if e == nil {
		e = &Event{}
	}
	reason := clean("Tidemark: " + cutLine(err.Error()))
	if e.Kind.gates() {
		return a.refuse(e, reason)
	}
	if a.warn != nil {
		if o, ok := a.warn(e, reason); ok {
			return o
		}
	}
	return Outcome{Stdout: a.pass(e, ""), Stderr: reason, Code: codeWarn, passed: true}
}

// clean keeps a reason printable and never empty: some agents let a silent refusal pass.
func clean(reason string) string {
	reason = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(reason, "?"))
	return cmp.Or(strings.TrimSpace(reason), "blocked by security policy")
}

// unsaid is a notice the agent's reply has no place for.
func unsaid(a *Adapter, e *Event, notice string) string {
	if notice == "" || len(a.pass(e, notice)) > len(a.pass(e, "")) {
		return ""
	}
	return clean(notice)
}

// byExit refuses with the exit code alone.
func byExit(_ *Event, reason string) Outcome { return Outcome{Stderr: reason, Code: codeRefuse} }

// silent passes without a word, so that the agent's own permissions stand.
func silent(*Event, string) []byte { return nil }

// object is a reply of one line. Its values are strings and booleans: it cannot fail.
func object(fields map[string]any) []byte {
	raw, err := strictjson.Marshal(fields)
	if err != nil {
		return nil
	}
	return raw
}

// added is the reply that puts a notice beside the user's prompt, for agents of the
// nested dialect.
func added(e *Event, notice string) []byte {
	if e.Kind != Prompt || notice == "" {
		return nil
	}
	return object(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": e.Name, "additionalContext": "Tidemark: " + notice}})
}
