package proxy_test

import (
	"net/http"
	"strings"
	"testing"
)

// The headers are those of the agents' real versions. What a sub-agent is told was written
// by a model: as the first words of a conversation that nobody saw being made they are
// not the owner's. BEY-03
func TestSubAgentsAreKnownByWhatTheirHarnessSends(t *testing.T) {
	claude := []string{"User-Agent", "claude-cli/2.1.325 (external, sdk-cli)", "X-Claude-Code-Session-Id", "cc-1"}
	codex := []string{"User-Agent", "codex_exec/0.166.0 (Debian 12.0.0; x86_64)", "Originator", "codex_exec", "Session-Id", "root-1"}
	opencode := []string{"User-Agent", "opencode/1.18.33 ai-sdk/provider-utils/4.0.23", "X-Session-Affinity", "ses_1", "X-Session-Id", "ses_1"}
	copilot := []string{"User-Agent", "OpenAI/JS 5.20.1"}
	for name, c := range map[string]struct {
		header, more []string
		child        bool
	}{
		"Claude Code":             {claude, nil, false},
		"its sub-agent":           {claude, []string{"X-Claude-Code-Agent-Id", "a9d4a5e99823f2062"}, true},
		"Codex":                   {codex, []string{"Thread-Id", "root-1"}, false},
		"Codex's sub-agent":       {codex, []string{"Thread-Id", "thread-2", "X-Codex-Parent-Thread-Id", "root-1", "X-Openai-Subagent", "collab_spawn"}, true},
		"OpenCode":                {opencode, nil, false},
		"OpenCode's sub-agent":    {opencode, []string{"X-Parent-Session-Id", "ses_0"}, true},
		"Copilot CLI":             {copilot, []string{"X-Initiator", "user", "X-Interaction-Type", "conversation-user"}, false},
		"Copilot CLI, at work":    {copilot, []string{"X-Initiator", "agent"}, false},
		"Copilot CLI's sub-agent": {copilot, []string{"X-Initiator", "agent", "X-Interaction-Type", "conversation-subagent"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			header := append(append([]string{"Authorization", "Bearer " + clientKey}, c.header...), c.more...)
			for range 2 {
				w.provider.then(answerJSON(chatCall("call-a", "send_note", `{"to":"petra@lund.example"}`)))
				g := w.do("POST", "/openai/v1/chat/completions", chatRequest(false, user("Send Petra the sum")), header...)
				if g.status != http.StatusOK || strings.Contains(g.body, `"call-a"`) == c.child {
					t.Errorf("got %d %s, want the call held: %v", g.status, g.body, c.child)
				}
			}
		})
	}
}
