package catalogue

import "github.com/tidemark/tidemark/internal/agents/settings"

// OpenClaw: its gateway loads a plugin of ours that speaks to the server itself, so no
// program is started at its hooks.

func openclaw() *Agent {
	return &Agent{
		Name: "openclaw", Title: "OpenClaw",
		Switches: []settings.Switch{
			{Path: []string{"plugins", "enabled"}, Value: "false"},
			{Path: []string{"plugins", "deny"}, Value: `["tidemark"]`},
			{Path: []string{"plugins", "allow"}, Value: `["tidemark"]`, Lacks: true},
			{Path: []string{"plugins", "entries", "tidemark", "enabled"}, Value: "false"},
			{Path: []string{"plugins", "entries", "tidemark", "config", "failClosed"}, Value: "false"},
		},
	}
}
