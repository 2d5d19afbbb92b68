package catalogue

import (
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// OpenClaw: its gateway loads a plugin of ours that speaks to the server itself, so no
// program is started at its hooks.

func openclaw() *Agent {
	return &Agent{
		Name: "openclaw", Rewrite: openclawRewrite(),
		Switches: []settings.Switch{
			{Path: []string{"plugins", "enabled"}, Value: "false"},
			{Path: []string{"plugins", "deny"}, Value: `["tidemark"]`},
			{Path: []string{"plugins", "allow"}, Value: `["tidemark"]`, Lacks: true},
			{Path: []string{"plugins", "entries", "tidemark", "enabled"}, Value: "false"},
			{Path: []string{"plugins", "entries", "tidemark", "config", "failClosed"}, Value: "false"},
		},
	}
}

// openclawRewrite was seen obeyed by OpenClaw 2026.9.6. The plugin in the gateway puts the line in itself, after the rules of every other
// plugin; it reads the note and OpenClaw's own rules, which would be compared with the line that was put in.
func openclawRewrite() *Rewrite {
	return &Rewrite{
		Param: "command",
		When: "where no rule of OpenClaw's about commands is set (tools.exec, a sandbox, approvals, a session's permissions); " +
			"else commands are asked about",
	}
}

// openclawSetup tells the gateway to load the plugin from the data folder; the plugin's own
// files are added by install.
func openclawSetup() *Setup {
	return &Setup{
		Agent: Lookup("openclaw"), Title: "OpenClaw", Programs: []string{"openclaw"},
		Place: Places{
			User: Place{Whole: "OPENCLAW_CONFIG_PATH", Variable: "OPENCLAW_STATE_DIR", Home: ".openclaw", File: "openclaw.json"},
		},
		Plan: openclawPlan,
		Gate: Gate{Path: openclawEntry("enabled"), On: "true"},
		Open: []string{
			"the gateway cannot load the plugin: it then runs without it", "\"openclaw agent exec\" fires no hooks",
			"tools of other harnesses (claude-cli, Codex) that the gateway does not relay",
		},
		Holes: []Hole{
			{"plugin not loaded", "a gateway that cannot load the plugin (wrong path, disabled entry, error) runs tools without it"},
			{"agent exec", "openclaw agent exec fires no plugin hooks: its tools run unasked"},
			{"other harnesses", "tools of MCP servers under claude-cli and Codex's own tools do not all reach the plugin"},
			{"model calls", "single model calls are not seen: tools are narrowed per turn only, and text to WebChat is not filtered"},
		},
		Trial: openclawTrial,
		Notes: []string{
			"restart the gateway, then look: openclaw plugins inspect tidemark --runtime",
			"where the data folder is not the usual one, start the gateway with TIDEMARK_DATA set to it",
		},
	}
}

// openclawTrial runs one turn without a gateway: it loads plugins as the gateway does, and ends.
func openclawTrial(s Stage) Launch {
	model := map[string]any{
		"id": "m", "name": "m", "reasoning": false, "input": []string{"text"}, "contextWindow": 128000, "maxTokens": 8192,
		"cost": map[string]any{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
	}
	provider := map[string]any{
		"baseUrl": s.Model + "/v1", "apiKey": "no-key", "api": "openai-completions", "models": []any{model},
	}
	return Launch{
		With: map[string]any{
			"agents": map[string]any{"defaults": map[string]any{
				"model": map[string]any{"primary": "canary/m"}, "workspace": s.Work, "skipBootstrap": true,
			}},
			"models":    map[string]any{"mode": "replace", "providers": map[string]any{"canary": provider}},
			"gateway":   map[string]any{"mode": "local"},
			"discovery": map[string]any{"mdns": map[string]any{"mode": "off"}},
		},
		Args: []string{"agent", "--local", "--agent", "main", "--json", "--message", Words},
		Env: []string{
			"OPENCLAW_STATE_DIR=" + s.home(".openclaw"), "OPENCLAW_CONFIG_PATH=" + s.home(".openclaw", "openclaw.json"),
			"OPENCLAW_NO_RESPAWN=1", "TIDEMARK_DATA=" + s.Data,
		},
	}
}

// OpenClawFolder is where the plugin's files are.
func OpenClawFolder(data string) string { return filepath.Join(data, "plugins", "openclaw") }

func openclawEntry(names ...string) []string {
	return append([]string{"plugins", "entries", "tidemark"}, names...)
}

func openclawPlan(path string, c Command) []File {
	edits := []Edit{
		{Path: []string{"plugins", "load", "paths"}, Value: value(OpenClawFolder(c.Data)), List: true},
		{Path: []string{"plugins", "allow"}, Value: value("tidemark"), List: true, Join: true},
		{Path: openclawEntry("enabled"), Value: value(true)},
		{Path: openclawEntry("hooks", "allowConversationAccess"), Value: value(true)},
	}
	if c.Timeout > 0 {
		edits = append(edits, Edit{Path: openclawEntry("config", "timeoutMs"), Value: value(c.Timeout.Milliseconds())})
	}
	if c.Wait > 0 {
		edits = append(edits, Edit{Path: openclawEntry("config", "approvalWaitSeconds"), Value: value(int(c.Wait.Seconds()))})
	}
	return []File{{Path: path, Edits: edits, Comments: true}}
}
