package shim

import (
	"errors"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Canonical is what policy calls a tool of an agent and its parameters, for doors that see
// the agent's calls on their way from the model. An agent nobody knows has no names of its
// own. Parameters that cannot be read, or can be in two ways, are made so that nobody can
// read them: the monitor takes those for the worst.
func Canonical(agent, name string, params []byte) (string, []byte) {
	t := tableOf(agent)
	if t == nil {
		return name, params
	}
	theirs := name
	name = t.canonical(name)
	if !strictjson.Value(params).IsValid() {
		return name, params
	}
	renamed, err := strictjson.Value(params), error(nil)
	if agent == "cline" {
		renamed, err = clineParams(theirs, renamed)
	}
	if err == nil {
		renamed, err = rename(name, renamed)
	}
	switch {
	case errors.Is(err, errAmbiguous):
		return name, append([]byte(ambiguous), params...) // still one call for each: an approval is for one of them
	case err != nil:
		return name, append([]byte(unreadable), params...)
	}
	return name, renamed
}

// They stand before parameters that cannot be read in one way, and make them no JSON.
const (
	ambiguous  = "named in two ways: "
	unreadable = "not understood: "
)

func tableOf(agent string) *table {
	switch agent {
	case "claude":
		return &table{agent: agent, tools: claudeTools, mcp: doubled}
	case "codex":
		return &table{agent: agent, tools: codexTools, mcp: doubled}
	case "copilot":
		return &table{agent: agent, tools: copilotTools, mcp: doubled}
	case "gemini":
		return &table{agent: agent, tools: geminiTools}
	case "opencode":
		return &table{agent: agent, tools: opencodeTools}
	case "goose":
		return &table{agent: agent, tools: gooseTools, mcp: doubled}
	case "droid":
		return &table{agent: agent, tools: droidTools, mcp: doubled}
	case "cline":
		return &table{agent: agent, tools: clineTools, mcp: doubled}
	}
	return nil
}
