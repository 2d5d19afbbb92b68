package replay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Format is the way a transcript is written. The zero Format is found out by looking.
type Format string

// The formats that are read from files. The log of an installation is read by FromLog.
const (
	Trace      Format = "trace"       // one run per line: id, tools, events
	OpenAI     Format = "openai"      // chat.completions messages
	Anthropic  Format = "anthropic"   // messages with tool_use and tool_result blocks
	AgentDojo  Format = "agentdojo"   // messages whose tool calls have function and args
	ClaudeCode Format = "claude-code" // a session file, one entry per line
	OpenClaw   Format = "openclaw"    // a session file, one entry per line
)

// Formats are all of them.
func Formats() []Format { return []Format{Trace, OpenAI, Anthropic, AgentDojo, ClaudeCode, OpenClaw} }

// ParseFormat reads a format's name.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("unknown format %q (there are %v)", name, Formats())
}

// perLine reports whether every line is a run of its own; of the other formats a whole
// file is one, or is one JSON document.
func (f Format) perLine() bool { return f != ClaudeCode && f != OpenClaw }

// errFormat says that nobody can tell how a transcript is written.
var errFormat = errors.New("the format cannot be told from its content; give --format")

// Detect finds out how a transcript is written from its first entry: a line of a file,
// or a whole document.
func Detect(first []byte) (Format, error) {
	first = bytes.TrimSpace(first)
	if len(first) > 0 && first[0] == '[' {
		var list []strictjson.Value
		if err := strictjson.Unmarshal(first, &list); err != nil {
			return "", err
		}
		if len(list) == 0 {
			return OpenAI, nil
		}
		if f, err := Detect(list[0]); err == nil && f.perLine() && f != Trace {
			return f, nil
		}
		return Detect(fmt.Appendf(nil, `{"messages":%s}`, first))
	}
	var keys map[string]strictjson.Value
	if err := strictjson.Unmarshal(first, &keys); err != nil {
		return "", err
	}
	_, events := keys["events"]
	_, messages := keys["messages"]
	_, message := keys["message"]
	kind := strings.Trim(string(keys["type"]), `"`)
	switch {
	case events:
		return Trace, nil
	case messages:
		return detectChat(keys), nil
	case kind == "session" || message && kind == "message":
		return OpenClaw, nil
	case hasAny(keys, "sessionId", "parentUuid", "leafUuid", "isSidechain") || message && (kind == "user" || kind == "assistant"):
		return ClaudeCode, nil
	}
	return "", errFormat
}

func hasAny(keys map[string]strictjson.Value, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := keys[n]; return ok })
}

// detectChat tells the three dialects of messages apart. One that calls no tool is the
// same in all of them.
func detectChat(keys map[string]strictjson.Value) Format {
	if hasAny(keys, "suite_name", "user_task_id", "pipeline_name") {
		return AgentDojo
	}
	var list []message
	if err := strictjson.Unmarshal(keys["messages"], &list); err != nil {
		return OpenAI // its reader will say what is wrong
	}
	for i := range list {
		for _, c := range list[i].ToolCalls {
			if c.Function.Kind() == '"' {
				return AgentDojo
			}
			return OpenAI
		}
		if blocks, _ := list[i].blocks(); slices.ContainsFunc(blocks, func(b block) bool { return b.isCall() || b.isResult() }) {
			return Anthropic
		}
	}
	return OpenAI
}
