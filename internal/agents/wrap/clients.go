package wrap

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/install"
)

// client is how an agent writes down its servers.
type client struct {
	name, title string
	files       func(w install.World) []place
	shape
}

// shape is the form of an entry.
type shape struct {
	list    bool     // the command and its arguments are one list
	env     string   // the member with its variables
	url     string   // the member with the address of a server that is reached over HTTP
	sse     string   // the member with the address of one that speaks the older protocol; "": type says so
	headers string   // the member with its headers
	foreign []string // members by which the agent finds credentials itself
}

// place is a file and where in it the servers are.
type place struct {
	path string
	in   [][]string // "*" is any name
}

// places are the files of an agent in this world.
func (c *client) places(w install.World) []place {
	return slices.DeleteFunc(c.files(w), func(p place) bool { return p.path == "" })
}

// scope is for whom an entry counts.
func (p place) scope(where []string) string {
	if len(where) == 4 && where[0] == "projects" {
		return where[1]
	}
	return ""
}

func at(path string, in ...string) place {
	p := place{path: path}
	for _, i := range in {
		p.in = append(p.in, strings.Fields(i))
	}
	return p
}

// clients are the agents whose servers can be wrapped. A project's files are looked at where one
// is given, in place of the user's.
func clients() []client {
	plain := shape{env: "env", url: "url", headers: "headers", foreign: []string{"headersHelper", "oauth", "auth"}}
	gemini, opencode, codex := plain, plain, plain
	gemini.url, gemini.sse = "httpUrl", "url"
	gemini.foreign = []string{"oauth", "authProviderType"}
	opencode.list, opencode.env = true, "environment"
	codex.headers, codex.foreign = "http_headers", []string{"bearer_token_env_var", "env_http_headers", "http_headers_helper"}
	return []client{
		{"claude", "Claude Code", claudeFiles, plain},
		{"codex", "Codex", both(catalogue.Place{Variable: "CODEX_HOME", Home: ".codex", File: "config.toml"}, "mcp_servers *"), codex},
		{"cursor", "Cursor", both(catalogue.Place{Home: ".cursor", File: "mcp.json"}, "mcpServers *"), plain},
		{"vscode", "VS Code", codeFiles, plain},
		{"gemini", "Gemini CLI", both(catalogue.Place{Home: ".gemini", File: "settings.json"}, "mcpServers *"), gemini},
		{"opencode", "OpenCode", opencodeFiles, opencode},
		{"copilot", "Copilot CLI", copilotFiles, plain},
	}
}

// both are the user's file, or the one of the same name in a project.
func both(user catalogue.Place, in string) func(install.World) []place {
	return func(w install.World) []place {
		if w.Project != "" {
			return []place{at(filepath.Join(w.Project, user.Home, user.File), in)}
		}
		return []place{at(w.File(user), in)}
	}
}

// claudeFiles: its own state holds the user's servers and, by folder, those of one project for
// this user alone; a project's are in a file of their own.
func claudeFiles(w install.World) []place {
	if w.Project != "" {
		return []place{at(filepath.Join(w.Project, ".mcp.json"), "mcpServers *")}
	}
	own := w.File(catalogue.Place{Variable: "CLAUDE_CONFIG_DIR", File: ".claude.json"})
	return []place{at(own, "mcpServers *", "projects * mcpServers *")}
}

func copilotFiles(w install.World) []place {
	if w.Project != "" {
		return []place{
			at(filepath.Join(w.Project, ".mcp.json"), "mcpServers *"), at(filepath.Join(w.Project, ".github", "mcp.json"), "mcpServers *"),
		}
	}
	return []place{at(w.File(catalogue.Place{Variable: "COPILOT_HOME", Home: ".copilot", File: "mcp-config.json"}), "mcpServers *")}
}

// codeFiles: the user's file, that of each profile, and settings of before there was one.
func codeFiles(w install.World) []place {
	if w.Project != "" {
		return []place{
			at(filepath.Join(w.Project, ".vscode", "mcp.json"), "servers *"),
			at(filepath.Join(w.Project, ".vscode", "settings.json"), "mcp servers *"),
		}
	}
	folder := w.InHome(".config", "Code", "User")
	if runtime.GOOS == "darwin" {
		folder = w.InHome("Library", "Application Support", "Code", "User")
	}
	out := []place{at(filepath.Join(folder, "mcp.json"), "servers *"), at(filepath.Join(folder, "settings.json"), "mcp servers *")}
	profiles, err := filepath.Glob(filepath.Join(folder, "profiles", "*", "mcp.json"))
	if err != nil {
		return out // the pattern is ours
	}
	for _, p := range profiles {
		out = append(out, at(p, "servers *"))
	}
	return out
}

// opencodeFiles: it reads both spellings.
func opencodeFiles(w install.World) []place {
	folder := w.Project
	if folder == "" {
		folder = filepath.Dir(w.File(catalogue.Place{Variable: "XDG_CONFIG_HOME", Home: ".config", File: "opencode/opencode.json"}))
	}
	return []place{at(filepath.Join(folder, "opencode.json"), "mcp *"), at(filepath.Join(folder, "opencode.jsonc"), "mcp *")}
}

// nameOf is what Tidemark calls a server: tools are NAME__tool, so that two underscores would be
// read in two ways.
func nameOf(name string) string {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	out := strings.Map(func(r rune) rune {
		if strings.ContainsRune(allowed, r) {
			return r
		}
		return '-'
	}, name)
	for strings.Contains(out, "__") {
		out = strings.ReplaceAll(out, "__", "_")
	}
	out = strings.Trim(out[:min(len(out), 64)], "._-")
	if out == "" {
		return "server"
	}
	return out
}
