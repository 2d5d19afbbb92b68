package shell

import (
	"path"
	"strings"
)

// watched are the files, by the folder they are in, that say who watches an agent and how:
// agents' settings, hooks and extensions, and our own data.
var watched = map[string][]string{
	".claude":     {"settings.json", "settings.*.json", "hooks", "plugins"},
	".codex":      {"config.toml", "hooks", "hooks.json", "requirements.toml", "managed_config.toml", "rules", "plugins"},
	".gemini":     {"settings.json", "hooks", "extensions", "policies", "trustedfolders.json"},
	".copilot":    {"hooks", "config.json", "settings.json", "mcp-config.json"},
	".github":     {"hooks"},
	".cursor":     {"hooks", "hooks.json", "mcp.json", "cli.json", "cli-config.json"},
	".opencode":   {"plugin", "plugins", "opencode.json", "opencode.jsonc"},
	"opencode":    {"plugin", "plugins", "opencode.json", "opencode.jsonc", "config.json"},
	".openclaw":   {"openclaw.json", "extensions", "hooks", "plugins"},
	".kiro":       {"hooks", "settings", "agents"},
	".factory":    {"settings.json", "settings.*.json", "hooks", "hooks.json", "mcp.json"},
	"goose":       {"config.yaml", "permission.yaml"},
	".clinerules": {"hooks"},
	"cline":       {"hooks"},
	"tidemark":    ourFiles,
	".tidemark":   ourFiles,
}

var ourFiles = []string{"tokens.json", "server.json", "installed", "agents", "hook.sock", "tidemark.db", "tidemark.db-*", "tidemark.yaml"}

// watchedNames are such files wherever they are.
var watchedNames = []string{
	".mcp.json", ".claude.json", "opencode.json", "opencode.jsonc", "openclaw.json", "managed-settings.json",
	"tidemark-hook", "tidemark-hook.exe",
}

// agentFolders hold nothing but what belongs to one agent.
var agentFolders = set(".claude .codex .gemini .copilot .opencode .openclaw .kiro .factory .tidemark")

// scratch are the folders in them in which an agent does its work.
var scratch = set("worktrees plans todos projects")

// Overseen reports whether a file is part of what watches an agent. A pattern is, if it may
// stand for one.
func Overseen(file string) bool {
	file = strings.ToLower(work(cleaned(file)))
	parts := strings.Split(file, "/")
	for i, p := range parts {
		for folder, names := range around(p) {
			if i+1 < len(parts) && fits(parts[i+1], names) && folder != "" {
				return true
			}
		}
	}
	last := parts[len(parts)-1]
	if len(strings.Trim(last, "*?.[]")) > 3 && fits(last, watchedNames) {
		return true
	}
	return last == "tidemark" && len(parts) > 1 && parts[len(parts)-2] == "bin"
}

// around are the watched folders that a part of a path may be.
func around(part string) map[string][]string {
	if !strings.ContainsAny(part, "*?[") {
		if names := watched[part]; names != nil {
			return map[string][]string{part: names}
		}
		return nil
	}
	out := map[string][]string{}
	for folder, names := range watched {
		if fits(part, []string{folder}) && len(strings.Trim(part, "*?.[]")) > 0 {
			out[folder] = names
		}
	}
	return out
}

// fits reports whether a name, or a shell's pattern, may be one of the names.
func fits(have string, names []string) bool {
	for _, n := range names {
		if have == n {
			return true
		}
		if ok, err := path.Match(n, have); ok && err == nil {
			return true
		}
		if strings.ContainsAny(have, "*?[") && (n[0] != '.' || have[0] == '.') {
			if ok, err := path.Match(have, n); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// overseenFolder reports whether a folder holds such files and little else.
func overseenFolder(file string) bool {
	file = strings.ToLower(work(cleaned(file)))
	dir, base := path.Split(file)
	for _, home := range []string{".local/share/", ".config/", "application support/", "appdata/local/"} {
		if base == "tidemark" && strings.HasSuffix(dir, home) {
			return true
		}
	}
	if strings.ContainsAny(base, "*?[") && len(base) > 2 && base[0] == '.' {
		for f := range agentFolders {
			if fits(base, []string{f}) {
				return true
			}
		}
	}
	return agentFolders[base]
}

// work is a path without the folders above the place where an agent works, if that is in
// a folder of its own.
func work(file string) string {
	parts := strings.Split(file, "/")
	for i, p := range parts {
		if agentFolders[p] && i+1 < len(parts) && scratch[parts[i+1]] {
			return strings.Join(parts[min(len(parts)-1, i+3):], "/")
		}
	}
	return file
}
