package pulse

import (
	"bytes"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// call is one that was carried out, as a record tells it.
type call struct {
	id  string
	sum string // what it says; "": hooks have its id
}

// unboxing finds the command that a line of ours has run in a box.
type unboxing func(line string) (command string, ok bool)

// sum is what a call says, by the command that the model wrote.
func (u unboxing) sum(tool string, args strictjson.Value) string {
	var fields map[string]strictjson.Value
	var line string
	if u == nil || strictjson.Unmarshal(args, &fields) != nil || strictjson.Unmarshal(fields["command"], &line) != nil {
		return catalogue.Sum(tool, args)
	}
	command, ok := u(line)
	if !ok {
		return catalogue.Sum(tool, args)
	}
	raw, err := strictjson.Marshal(command)
	if err != nil {
		return ""
	}
	fields["command"] = raw
	if raw, err = strictjson.Marshal(fields); err != nil {
		return ""
	}
	return catalogue.Sum(tool, raw)
}

// names are the calls that a record began and has not ended, of records that say the end apart; "" is a call that is none of the model's.
type names map[string]string

// calls are those that a line says were carried out. Lines of agents are told by what they hold; what is not known holds none.
func (n names) calls(line []byte, unbox unboxing) []call {
	switch {
	case bytes.Contains(line, []byte(`"tool_result"`)):
		return ended(line)
	case bytes.Contains(line, []byte(`"item_completed"`)):
		return completed(line)
	case bytes.Contains(line, []byte(`"toolCalls"`)):
		return listed(line, unbox)
	case bytes.Contains(line, []byte(`"type":"tool.`)):
		return n.executed(line, unbox)
	}
	return nil
}

// ended are the calls whose results a line of Claude Code's record holds, without errors.
func ended(line []byte) []call {
	var l struct {
		Message struct {
			Content strictjson.Value `json:"content"`
		} `json:"message"`
	}
	if strictjson.Unmarshal(line, &l) != nil || l.Message.Content.Kind() != '[' {
		return nil
	}
	var parts []struct {
		Type  string `json:"type"`
		ID    string `json:"tool_use_id"`
		Error bool   `json:"is_error"`
	}
	if strictjson.Unmarshal(l.Message.Content, &parts) != nil {
		return nil
	}
	var out []call
	for _, p := range parts {
		if p.Type == "tool_result" && p.ID != "" && !p.Error {
			out = append(out, call{id: p.ID})
		}
	}
	return out
}

// completed are the calls that a line of Codex's record says were carried out: commands that its model began, and patches. What a
// person typed, and what was typed into a program that runs already, are other sources; those start no hook.
func completed(line []byte) []call {
	var l struct {
		Type    string `json:"type"`
		Payload struct {
			Type string `json:"type"`
			Item struct {
				Type   string `json:"type"`
				ID     string `json:"id"`
				Source string `json:"source"`
				Status string `json:"status"`
			} `json:"item"`
		} `json:"payload"`
	}
	if strictjson.Unmarshal(line, &l) != nil || l.Type != "event_msg" || l.Payload.Type != "item_completed" {
		return nil
	}
	switch item := l.Payload.Item; {
	case item.ID == "" || item.Status != "completed" && item.Status != "failed":
	case item.Type == "FileChange", item.Type == "CommandExecution" && (item.Source == "agent" || item.Source == "unified_exec_startup"):
		return []call{{id: item.ID}}
	}
	return nil
}

// listed are the calls in a message of Gemini CLI's record. A message is written again when it changes; a whole history that is set
// anew is no message.
func listed(line []byte, unbox unboxing) []call {
	var l struct {
		Type  string `json:"type"`
		Calls []struct {
			ID     string           `json:"id"`
			Name   string           `json:"name"`
			Args   strictjson.Value `json:"args"`
			Status string           `json:"status"`
		} `json:"toolCalls"`
	}
	if strictjson.Unmarshal(line, &l) != nil || l.Type != "gemini" {
		return nil
	}
	var out []call
	for _, c := range l.Calls {
		if c.ID != "" && c.Status == "success" && catalogue.Acting(c.Name) {
			out = append(out, call{c.ID, unbox.sum(c.Name, c.Args)})
		}
	}
	return out
}

// executed is a call of Copilot CLI's record: one line says what begins, another that it ended. A call that the person asked for
// themselves, or that a sub-agent makes, starts no hook of this session.
func (n names) executed(line []byte, unbox unboxing) []call {
	var l struct {
		Type string `json:"type"`
		Data struct {
			ID      string           `json:"toolCallId"`
			Name    string           `json:"toolName"`
			Args    strictjson.Value `json:"arguments"`
			Parent  string           `json:"parentToolCallId"`
			Success bool             `json:"success"`
		} `json:"data"`
	}
	if strictjson.Unmarshal(line, &l) != nil || l.Data.ID == "" {
		return nil
	}
	began, known := n[l.Data.ID]
	switch l.Type {
	case "tool.user_requested":
		n.note(l.Data.ID, "")
	case "tool.execution_start":
		if !known && l.Data.Parent == "" && catalogue.Acting(l.Data.Name) {
			n.note(l.Data.ID, unbox.sum(l.Data.Name, l.Data.Args))
		}
	case "tool.execution_complete":
		if delete(n, l.Data.ID); began != "" && l.Data.Success {
			return []call{{l.Data.ID, began}}
		}
	}
	return nil
}

// note keeps what a call says until it ends, of as many as are kept.
func (n names) note(id, sum string) {
	if len(n) < maxCalls {
		n[id] = sum
	}
}
