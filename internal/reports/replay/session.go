package replay

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// entry is one line of a session file. Hosts add kinds of lines as they like; those
// that are not known to carry messages say nothing about calls.
type entry struct {
	Type    string           `json:"type"`
	ID      string           `json:"id"`
	Message strictjson.Value `json:"message"`

	SessionID      string `json:"sessionId"`
	Sidechain      bool   `json:"isSidechain"`
	Meta           bool   `json:"isMeta"`
	CompactSummary bool   `json:"isCompactSummary"`
}

// inputProvenance says who wrote a message of role user.
type inputProvenance struct {
	Kind string `json:"kind"`
}

func (e *entry) message() (message, []block, error) {
	var m message
	if err := strictjson.Unmarshal(e.Message, &m); err != nil {
		return m, nil, fmt.Errorf("message: %w", err)
	}
	blocks, err := m.blocks()
	return m, blocks, err
}

// hostMarks begin text that a host puts into messages of role user.
var hostMarks = []string{
	"<system-reminder>", "<local-command-", "<bash-stdout>", "<bash-stderr>", "<task-notification>", "<command-message>",
	"[Request interrupted", "Caveat: The messages below", "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
}

// ownWords takes out the text that the host has put beside the user's.
func ownWords(blocks []block) []block {
	var out []block
	for _, b := range blocks {
		text := strings.TrimSpace(b.Text)
		byHost := false
		for _, mark := range hostMarks {
			byHost = byHost || strings.HasPrefix(text, mark)
		}
		if !byHost {
			out = append(out, b)
		}
	}
	return out
}

// readClaudeCode adds one entry of a session. What a sub-agent does counts as done in
// the session itself, so that taint flows both ways; its prompt is the model's text, as
// a summary of a compacted history is.
func readClaudeCode(e *entry, t *transcript) error {
	if t.id == "" {
		t.id = e.SessionID
	}
	if e.Type != "user" && e.Type != "assistant" {
		return nil
	}
	m, blocks, err := e.message()
	switch {
	case err != nil:
		return err
	case e.Type == "assistant":
		t.answer(blocks)
		return m.addCalls(t)
	}
	words := !e.Sidechain && !e.Meta && !e.CompactSummary
	t.hostUser(blocks, words)
	return nil
}

// hostUser adds a message of role user as a host recorded it.
func (t *transcript) hostUser(blocks []block, words bool) {
	for i := range blocks {
		if blocks[i].isResult() {
			t.user(blocks)
			return
		}
	}
	if own := ownWords(blocks); words && len(own) > 0 {
		t.user(own)
	}
}

// readOpenClaw adds one entry of a session. Its branches are read one after another, as
// they were written.
func readOpenClaw(e *entry, t *transcript) error {
	if e.Type == "session" && t.id == "" {
		t.id = e.ID
	}
	if e.Type != "message" {
		return nil
	}
	m, blocks, err := e.message()
	if err != nil {
		return err
	}
	switch m.Role {
	case "user":
		t.hostUser(blocks, m.Provenance == nil || m.Provenance.Kind == "external_user")
	case "assistant":
		t.answer(blocks)
	case "toolResult":
		t.result(m.ResultOf, m.ToolName, joinText(blocks), m.Failed)
	case "":
		return fmt.Errorf("entry %q: the message has no role", e.ID)
	}
	return nil
}
