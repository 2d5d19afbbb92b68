// Package shim is the door of coding agents that run a program at their hooks: it reads
// what the agent writes to the program's standard input, asks the running server over its
// HTTP hook API, and answers in the one form that this agent honours. How an agent speaks is
// in its entry of the catalogue; what is done about it is the same for all.
//
// Nothing but the verdict goes to standard output.
//
// Invariants:
//   - the zero Kind, the zero Outcome and an event nobody knows refuse;
//   - input that is cut short, too large, repeats a key or has a wrong type refuses;
//   - a call passes only on an answer of the server that says "allow" in so many words;
//   - whatever goes wrong is answered before the shim's own deadline, with a reason.
//
// The package reads the server's announcement and token, dials loopback, and keeps no
// state besides notes on a session: results that could not be reported, sub-agents that
// are not known to be done, and whose sub-agent it is. It links little, because a hook is
// started for every call: the programs import it, the server does not.
package shim

import "github.com/tidemark/tidemark/internal/agents/catalogue"

// Outcome is what the process leaves behind. The zero Outcome is completed to a refusal.
type Outcome struct {
	Stdout []byte
	Stderr string
	Code   int
	passed bool
}

// Refused reports whether the agent is told not to go on.
func (o Outcome) Refused() bool { return !o.passed }

func refused(r catalogue.Reply) Outcome {
	return Outcome{Stdout: r.Stdout, Stderr: r.Stderr, Code: r.Code}
}

func passed(r catalogue.Reply) Outcome {
	o := refused(r)
	o.passed = true
	return o
}

// adapter is one agent at its hook.
type adapter struct{ *catalogue.Agent }

// spawns are the canonical tools whose results hold what a sub-agent brought.
func spawns(name string) bool {
	return name == "sessions_spawn" || name == "sessions_send" || name == "sessions_history"
}
