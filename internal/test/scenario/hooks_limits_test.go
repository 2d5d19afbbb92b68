package scenario_test

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// claudeTool is what Claude Code calls a tool of ours, written from its documentation and
// not from the catalogue.
type claudeTool struct {
	name string
	path bool // it calls a path file_path
}

var claudeTools = map[string]claudeTool{
	"exec": {name: "Bash"}, "process": {name: "BashOutput"}, "read": {"Read", true}, "write": {"Write", true}, "edit": {"Edit", true},
	"web_fetch": {name: "WebFetch"}, "web_search": {name: "WebSearch"}, "session_status": {name: "TodoWrite"},
}

// notClaudes are the tools of ours that Claude Code does not have; whatever bears such a
// name there is another tool.
const notClaudes = "apply_patch browser image message gateway gog cron tts nodes canvas sessions_spawn sessions_send sessions_list " +
	"sessions_history sessions_yield subagents agents_list memory_search memory_get vestige_search vestige_smart_ingest " +
	"vestige_ingest vestige_promote vestige_demote"

// toolFields are the fields of a payload that say which tool it is about; false is a tool
// that the agent cannot have.
func toolFields(call tool.Call) (fields map[string]any, ok bool, err error) {
	args := map[string]strictjson.Value{}
	if len(call.Args) > 0 {
		if err := strictjson.Unmarshal(call.Args, &args); err != nil {
			return nil, false, err
		}
	}
	plain := tool.Name(call.Name)
	known, ours := claudeTools[plain]
	name := call.Name
	switch {
	case ours:
		name = known.name
		if v, there := args["path"]; there && known.path {
			delete(args, "path")
			args["file_path"] = v
		}
	case containsWord(notClaudes, plain):
		return nil, false, nil
	case strings.Contains(name, "__"):
		name = "mcp__" + name
	}
	return map[string]any{"tool_name": name, "tool_input": args, "tool_use_id": call.ID}, true, nil
}

func containsWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// Why the hooks of a coding agent cannot be told a story. They see prompts, calls and results.
const (
	notItsTool   = "the story turns on a tool that the agent does not have"
	otherSpeaker = "somebody else than the person at the terminal speaks, or in a group, or to another agent"
	subAgents    = "it turns on sub-agents in sessions of their own, or on forks: hooks see one conversation with its parts"
	hookCensus   = "the host lists what is in its context: this agent does not"
	firstCall    = "nobody begins the session: a prompt begins it"
	asksUnseen   = "it turns on when and with what the model is asked: hooks do not see that"
	goesOn       = "it turns on the end of a turn: agents go on after it, so hooks do not tell it"
)

// untoldByHooks are the stories that the hooks of a coding agent cannot be told. Steps of
// other stories that they do not see are left out by themselves.
func untoldByHooks() map[string]string {
	return untold(map[string]string{
		notItsTool: "approve-similar approve-worse-context atlas-T0040-attack atlas-T0040-harmless atlas-T0048-harmless " +
			"atlas-T0055-harmless browser-attack browser-default declarative-expression gateway-always gateway-default " +
			"message-read-send",
		otherSpeaker: "agent-overrides approve-other-sender atlas-T0052-attack group-chat-attack intent-group intent-stranger " +
			"reset-stranger",
		subAgents: "forks-approve subagent-history-keeps-taint subagent-inherits-harmless subagent-result-without-name " +
			"subagent-returns-harmless subagent-unknown",
		hookCensus: "census",
		firstCall:  "not-begun not-begun-model",
		asksUnseen: "atlas-T0056-attack declarative iteration-cap strictness task-policy unreported-result reset-in-flight",
		goesOn:     "late-result sealed-turn-call",
	})
}
