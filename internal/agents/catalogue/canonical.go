package catalogue

import (
	"errors"
	"slices"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Canonical is what policy calls a tool of an agent and its parameters, for doors that see
// the agent's calls on their way from the model. An agent nobody knows has no names of its
// own. Parameters that cannot be read, or can be in two ways, are made so that nobody can
// read them: the monitor takes those for the worst.
func Canonical(agent, name string, params []byte) (string, []byte) {
	if a := Lookup(agent); a == nil || !a.Proxied {
		return name, params
	}
	return AtHook(agent, name, params)
}

// AtHook is Canonical for calls as an agent's hook tells of them, at whichever door.
func AtHook(agent, name string, params []byte) (string, []byte) {
	a := Lookup(agent)
	if a == nil {
		return name, params
	}
	canonical := a.Tools.canonical(name)
	if !strictjson.Value(params).IsValid() {
		return canonical, params
	}
	renamed, err := a.Tools.params(name, params)
	switch {
	case errors.Is(err, errAmbiguous):
		return canonical, append([]byte(ambiguous), params...) // still one call for each: an approval is for one of them
	case err != nil:
		return canonical, append([]byte(unreadable), params...)
	}
	return canonical, renamed
}

// They stand before parameters that cannot be read in one way, and make them no JSON.
const (
	ambiguous  = "named in two ways: "
	unreadable = "not understood: "
)

// Named reports whether the tools of an agent have our names where Canonical names them, so that
// no tool of a server has one of those.
func Named(agent string) bool {
	a := Lookup(agent)
	return a != nil && (a.Proxied || a.Tools == nil)
}

// HostTools are an agent's own tools that work where it runs, by the names policy knows them
// by; no tool of a server has such a name (see Tools.canonical). It is nil for an agent that
// nobody knows.
func HostTools(agent string) []string {
	if Lookup(agent) == nil {
		return nil
	}
	return slices.Clone(workspace)
}

// ControlTools are the tools by which an agent steers itself (plans, to-dos, sub-agents, asking the user), by the
// names policy knows them by: which of an agent's own names those are its entry says. It is nil for an agent that
// nobody knows.
func ControlTools(agent string) []string {
	if Lookup(agent) == nil {
		return nil
	}
	return slices.Clone(control)
}

// control are the canonical tools that steer the agent itself. What a sub-agent is told and brings back is followed as
// the sub-agent's own session.
var control = []string{own, "sessions_spawn", "sessions_history"}

// workspace are the canonical tools that work on the machine the agent runs on.
var workspace = []string{"exec", "read", "write", "edit", "apply_patch"}
