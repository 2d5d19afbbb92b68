package catalogue

import "runtime"

// Bypass is a way by which an agent runs something past our hooks, or starts without them.
// Doctor names each that nothing rules out.
type Bypass struct {
	Name    string // in a word or two
	Text    string
	Managed bool   // an installation into the administrator's settings rules it out
	Pin     *Pin   // by this setting there, which is enough by itself; nil: by the hooks
	Fix     string // what to do besides
}

// Pin is a setting of the machine's administrator that a project and flags cannot change.
type Pin struct {
	File  string   // in full
	Path  []string // of the value
	Value string   // what it must be, as JSON
}

// untried is said of agents of which nobody has looked.
func untried(what string) Bypass {
	return Bypass{Name: "switches", Text: "it was not tried whether " + what + " start it without our hooks"}
}

// servers is what agents have in common that start the servers a repository names.
func servers(where string) Bypass {
	return Bypass{
		Name: "project servers",
		Text: "a repository starts programs by itself (" + where + "), once its folder is trusted or where nobody is there to be asked: " +
			"what they do is not seen",
		Fix: "look into the file before you start the agent in somebody's folder",
	}
}

// inlined is what agents have in common that run commands in texts of a repository's.
func inlined(where string) Bypass {
	return Bypass{
		Name: "project commands",
		Text: "a command of a repository's runs programs in its text (" + where + ") once somebody types its name: no hook is asked",
		Fix:  "look into the file before you use a command of somebody's folder",
	}
}

// loaded is what agents have in common that take settings from a repository: our hook tells of them and refuses to go on, but the
// agent has read them by then.
func loaded(what, managed string) Bypass {
	return Bypass{
		Name: "settings that run",
		Text: "a repository's settings run programs or send the conversation elsewhere (" + what + "): whatever is not known to be " +
			"harmless is told at the start of a session, and prompts and calls are refused there; what the agent ran before its first " +
			"hook has run. " + managed,
		Fix: "look into the folder before you start the agent there; what you have looked at: tidemark trust settings",
	}
}

// spoken is what session tickets leave open where hooks are known by their process: what the host would have to give.
func spoken(how, held string) Bypass {
	return Bypass{
		Name: "who speaks",
		Text: "words count only from its own process, and a command that turns itself into tidemark-hook (" + how + ") is as much " +
			"its child as a hook is: it would have to give hooks a secret, or an open descriptor, that commands do not get",
		Fix: held,
	}
}

const unboxed = "run what you do not trust in a box: tidemark run"

func claudeBypasses() []Bypass {
	return []Bypass{
		spoken("exec in a script that its shell sources", unboxed),
		loaded("env, apiKeyHelper, base addresses, statusLine; hooks of settings and skills",
			"--managed rules out the hooks, and not the rest"),
		{
			Name: "project settings", Managed: true,
			Text: "a repository turns hooks off: disableAllHooks in its .claude/settings.json, once its folder is trusted, " +
				"without a terminal at once",
		},
		{
			Name: "flags", Managed: true,
			Text: "it is started with --bare, --safe-mode, --setting-sources without user, --settings that turn hooks off, " +
				"or another CLAUDE_CONFIG_DIR",
		},
		{
			Name: "project hooks", Managed: true,
			Text: "hooks in a repository's own .claude/settings.json run commands unasked, once its folder is trusted, " +
				"without a terminal at once",
		},
		servers("mcpServers in .mcp.json"),
	}
}

func codexBypasses() []Bypass {
	return []Bypass{
		spoken("exec, since it starts commands without a shell of its own",
			"tidemark install codex --box: in a box neither socket nor token is reached"),
		loaded("shell_environment_policy, model_providers, notify, in a folder that Codex trusts",
			"--managed rules out features.hooks = false, and not the rest"),
		{
			Name: "project settings", Managed: true, Pin: CodexPin(),
			Text: "a repository turns hooks off: features.hooks = false in its .codex/config.toml, in a folder that Codex trusts",
		},
		{Name: "flags", Managed: true, Pin: CodexPin(), Text: "it is started with --disable hooks, or -c features.hooks=false"},
		{
			Name: "user settings", Managed: true,
			Text: "it is started with --ignore-user-config or another CODEX_HOME: our hooks stand in the user's settings",
		},
		servers("mcp_servers in .codex/config.toml"),
	}
}

func geminiBypasses() []Bypass {
	return []Bypass{
		spoken("exec in a script that its shell sources", unboxed),
		loaded("tools.discoveryCommand, tools.callCommand, telemetry, .gemini/.env, in a folder that Gemini trusts; "+
			"a plain .env is not looked at",
			"--managed rules out hooksConfig.enabled = false, and not the rest"),
		{
			Name: "project settings", Managed: true,
			Pin:  &Pin{File: geminiManaged(), Path: []string{"hooksConfig", "enabled"}, Value: "true"},
			Text: "a repository turns hooks off: hooksConfig.enabled = false in its .gemini/settings.json, in a folder that Gemini trusts",
		},
		{
			Name: "one hook",
			Text: "a repository names ours among hooksConfig.disabled in its .gemini/settings.json, in a folder that Gemini trusts: " +
				"the administrator's hooks too are off then",
			Fix: "look into the file before you trust somebody's folder",
		},
		inlined(".gemini/commands, !{…}; with --yolo, or where it is allowed, without a question"),
		servers("mcpServers in .gemini/settings.json"),
	}
}

func copilotBypasses() []Bypass {
	return []Bypass{
		spoken("exec in a script that its shell sources", unboxed),
		{Name: "user settings", Managed: true, Text: "it is started with another COPILOT_HOME: our hooks stand in the user's settings"},
		servers("its MCP settings"),
	}
}

func opencodeBypasses() []Bypass {
	return []Bypass{
		spoken("exec in a script that its shell sources", unboxed),
		loaded("formatter, lsp, provider, mcp and plugin in opencode.json, files in .opencode/plugin and .opencode/tool",
			"Nothing rules it out"),
		{Name: "flags", Text: "it is started with --pure, which loads no plugin, or with another XDG_CONFIG_HOME"},
		{
			Name: "project plugins",
			Text: "a repository's .opencode/plugins run inside OpenCode as soon as it starts there: they can do anything, " +
				"to our plugin too",
			Fix: "look into the folder before you start OpenCode in somebody's repository",
		},
		inlined(".opencode/command and command in opencode.json, !`…`"),
		servers("mcp in opencode.json"),
	}
}

func droidBypasses() []Bypass {
	home := elsewhere("another home")
	home.Managed = true
	return []Bypass{home, inlined("a file with #! in .factory/commands; by its documentation, not tried"), servers(".factory/mcp.json")}
}

func gooseBypasses() []Bypass {
	return []Bypass{
		{
			Name: "project plugin",
			Text: "a repository has a plugin of the name of ours (.agents/plugins/tidemark): Goose takes it in place of ours",
			Fix:  "look into the folder before you start Goose in somebody's repository",
		},
		elsewhere("another home"),
	}
}

func clineBypasses() []Bypass {
	return []Bypass{elsewhere("--config, --data-dir or another home (by its help; not tried)")}
}

// elsewhere is what agents have in common whose hooks stand in the user's settings alone.
func elsewhere(how string) Bypass {
	return Bypass{Name: "user settings", Text: "it is started with " + how + ": our hooks stand in the user's settings"}
}

// cursorBypasses: of what a repository can write, nothing turned our hooks off in the executor of its SDK.
func cursorBypasses() []Bypass {
	home := elsewhere("another home")
	home.Managed = true
	return []Bypass{
		home,
		{
			Name: "SDK",
			Text: "a program that uses Cursor's SDK says which settings count (settingSources): where it does not name the user's " +
				"or the administrator's, there are no hooks",
			Fix: "name user and mdm among settingSources in programs of your own",
		},
		untried("flags and settings of the whole program"), servers(".cursor/mcp.json"),
	}
}

func cursorManaged() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/Cursor/hooks.json"
	}
	return "/etc/cursor/hooks.json"
}

func droidManaged() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/Factory/settings.json"
	}
	return "/etc/factory/settings.json"
}

func geminiManaged() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/GeminiCli/settings.json"
	}
	return "/etc/gemini-cli/settings.json"
}
