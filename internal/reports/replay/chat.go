package replay

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// chat is a conversation as clients send it to a model. The dialects differ in keys that
// no two of them share, so one reader serves them all.
type chat struct {
	ID        string           `json:"id"`
	CustomID  string           `json:"custom_id"`
	Messages  []message        `json:"messages"`
	Tools     strictjson.Value `json:"tools"`
	Functions strictjson.Value `json:"functions"`

	Pipeline      string  `json:"pipeline_name"`
	Suite         string  `json:"suite_name"`
	UserTask      string  `json:"user_task_id"`
	InjectionTask *string `json:"injection_task_id"`
	Attack        *string `json:"attack_type"`
}

type message struct {
	Role         string           `json:"role"`
	Content      strictjson.Value `json:"content"`
	ToolCalls    []toolCall       `json:"tool_calls"`
	FunctionCall *function        `json:"function_call"`
	ToolCallID   string           `json:"tool_call_id"`
	Name         string           `json:"name"`
	Error        strictjson.Value `json:"error"`

	// As session files of OpenClaw write them.
	ResultOf   string           `json:"toolCallId"`
	ToolName   string           `json:"toolName"`
	Failed     bool             `json:"isError"`
	Provenance *inputProvenance `json:"inputProvenance"`
}

type toolCall struct {
	ID       string           `json:"id"`
	Function strictjson.Value `json:"function"` // an object, or the bare name
	Args     strictjson.Value `json:"args"`
	Custom   *struct {
		Name  string           `json:"name"`
		Input strictjson.Value `json:"input"`
	} `json:"custom"`
}

type function struct {
	Name      string           `json:"name"`
	Arguments strictjson.Value `json:"arguments"` // JSON in a string
}

// block is one part of a message's content.
type block struct {
	Type    string           `json:"type"`
	Text    string           `json:"text"`
	ID      string           `json:"id"`
	Name    string           `json:"name"`
	Input   strictjson.Value `json:"input"`
	Args    strictjson.Value `json:"arguments"`
	Of      string           `json:"tool_use_id"`
	Content strictjson.Value `json:"content"`
	Failed  bool             `json:"is_error"`
}

// isCall and isResult know the blocks of tools that run at the client, at the provider
// and on an MCP server alike.
func (b *block) isCall() bool { return strings.HasSuffix(b.Type, "tool_use") || b.Type == "toolCall" }

func (b *block) isResult() bool { return strings.HasSuffix(b.Type, "tool_result") }

// readChats reads a conversation, a list of messages or a list of conversations.
func readChats(data []byte, place string, known *catalogue) ([]Run, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '[' {
		var c chat
		if err := strictjson.Unmarshal(data, &c); err != nil {
			return nil, err
		}
		run, err := c.run(place, known)
		return []Run{run}, err
	}
	var list []strictjson.Value
	if err := strictjson.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	var first message
	if len(list) > 0 && strictjson.Unmarshal(list[0], &first) == nil && first.Role != "" {
		return readChats(fmt.Appendf(nil, `{"messages":%s}`, data), place, known)
	}
	var out []Run
	for i, raw := range list {
		if raw.Kind() != '{' {
			return nil, fmt.Errorf("conversation %d is no object", i+1)
		}
		runs, err := readChats(raw, fmt.Sprintf("%s.%d", place, i+1), known)
		if err != nil {
			return nil, fmt.Errorf("conversation %d: %w", i+1, err)
		}
		out = append(out, runs...)
	}
	return out, nil
}

func (c *chat) run(place string, known *catalogue) (Run, error) {
	if c.Messages == nil {
		return Run{}, errors.New("there are no messages")
	}
	tools, err := known.definitions(c.Tools)
	if err == nil && tools == nil {
		tools, err = known.definitions(c.Functions)
	}
	if err != nil {
		return Run{}, err
	}
	t := &transcript{id: c.name(place)}
	for i := range c.Messages {
		if err := c.Messages[i].add(t); err != nil {
			return Run{}, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	run := t.run()
	run.Tools = tools
	return run, nil
}

// name is what the conversation is called: by its own id, by its task, or by its place.
func (c *chat) name(place string) string {
	switch {
	case c.ID != "":
		return c.ID
	case c.CustomID != "":
		return c.CustomID
	case c.UserTask == "":
		return place
	}
	parts := []string{c.Pipeline, c.Suite, c.UserTask}
	for _, p := range []*string{c.Attack, c.InjectionTask} {
		if p != nil {
			parts = append(parts, *p)
		}
	}
	return strings.Trim(strings.Join(parts, "/"), "/")
}

func (m *message) add(t *transcript) error {
	blocks, err := m.blocks()
	if err != nil {
		return err
	}
	switch m.Role {
	case "system", "developer":
	case "user":
		t.user(blocks)
	case "assistant", "model":
		t.answer(blocks)
		return m.addCalls(t)
	case "tool", "function":
		failed := len(m.Error) > 0 && m.Error.Kind() != 'n'
		text := joinText(blocks)
		if failed {
			text = append(append(text, '\n'), textOf(m.Error)...)
		}
		t.result(m.ToolCallID, m.Name, text, failed)
	case "":
		return errors.New("a message has no role")
	default:
		return fmt.Errorf("unknown role %q", m.Role)
	}
	return nil
}

func (m *message) addCalls(t *transcript) error {
	if f := m.FunctionCall; f != nil {
		t.call("", f.Name, textArgs(f.Arguments))
	}
	for _, c := range m.ToolCalls {
		switch {
		case c.Custom != nil:
			t.call(c.ID, c.Custom.Name, argsOf(c.Custom.Input))
		case c.Function.Kind() == '"':
			t.call(c.ID, string(textOf(c.Function)), argsOf(c.Args))
		default:
			var f function
			if err := strictjson.Unmarshal(c.Function, &f); err != nil {
				return fmt.Errorf("tool call %q: %w", c.ID, err)
			}
			t.call(c.ID, f.Name, textArgs(f.Arguments))
		}
	}
	return nil
}

// textArgs are arguments that come as JSON in a string, byte for byte.
func textArgs(v strictjson.Value) []byte {
	if text := textOf(v); len(text) > 0 {
		return text
	}
	return []byte("{}")
}

// blocks are the parts of a message's content; a bare string is one of text.
func (m *message) blocks() ([]block, error) { return blocksOf(m.Content) }

func blocksOf(content strictjson.Value) ([]block, error) {
	switch {
	case len(content) == 0 || content.Kind() == 'n':
		return nil, nil
	case content.Kind() == '"':
		return []block{{Type: "text", Text: string(textOf(content))}}, nil
	case content.Kind() == '{':
		return []block{{Type: "json", Content: content}}, nil
	}
	var list []strictjson.Value
	if err := strictjson.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	out := make([]block, len(list))
	for i, raw := range list {
		if raw.Kind() == '"' {
			out[i] = block{Type: "text", Text: string(textOf(raw))}
			continue
		}
		if err := strictjson.Unmarshal(raw, &out[i]); err != nil {
			return nil, fmt.Errorf("content part %d: %w", i+1, err)
		}
		switch {
		case out[i].Type == "text" && out[i].Text == "":
			out[i].Text = string(textOf(out[i].Content)) // the one dialect that calls it content
		case out[i].Type != "text" && !out[i].isCall() && !out[i].isResult():
			out[i].Content = raw
		}
	}
	return out, nil
}

// joinText is the content as one text. Parts that are no text stay JSON: they entered
// the context too.
func joinText(blocks []block) []byte {
	var out []byte
	for i := range blocks {
		if i > 0 {
			out = append(out, '\n')
		}
		if b := &blocks[i]; b.Type == "text" || b.Type == "input_text" || b.Type == "output_text" {
			out = append(out, b.Text...)
		} else {
			out = append(out, b.Content...)
		}
	}
	return out
}
