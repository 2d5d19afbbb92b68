package hook

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// PromptApart is the system prompt where it is not among the messages as well, "" where it is: in Chat Completions it is the
// system messages that the list starts with. Whoever counts or keeps what is sent takes this one and the messages.
func (e *BeforeLLMCall) PromptApart() string {
	var texts []string
	for _, m := range e.Messages {
		more, ok := promptTexts(m)
		if !ok {
			break
		}
		texts = append(texts, more...)
	}
	if len(texts) > 0 && strings.Join(texts, "\n\n") == e.SystemPrompt {
		return ""
	}
	return e.SystemPrompt
}

// promptTexts are the texts of a message, if it is one of the system's.
func promptTexts(m JSON) ([]string, bool) {
	var head struct {
		Role    string `json:"role"`
		Content JSON   `json:"content"`
	}
	if strictjson.Unmarshal(m, &head) != nil || head.Role != "system" && head.Role != "developer" {
		return nil, false
	}
	var one string
	if strictjson.Unmarshal(head.Content, &one) == nil {
		return []string{one}, true
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if strictjson.Unmarshal(head.Content, &parts) != nil {
		return nil, false
	}
	out := make([]string, len(parts))
	for i := range parts {
		out[i] = parts[i].Text
	}
	return out, true
}
