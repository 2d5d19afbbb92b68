// Package outfit is what an agent is given when the whole of it runs in a box: the address of its models, something that stands in
// place of a key, and folders of its own in place of those in the user's home. It does no I/O: what the user has there is neither read
// nor copied, since settings and memories of an agent hold keys, and hooks that reach nobody from inside.
package outfit

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/door"
)

// Around is where an agent runs.
type Around struct {
	Base    string   // what the box has in place of the monitor's address
	Sign    string   // what stands in place of every key
	Servers []string // MCP servers behind the monitor, by their names
	Home    string
}

// Outfit is what is given.
type Outfit struct {
	Env   []string          // variables, in place of those of the caller's
	Own   []string          // folders below the home folder that are its own
	Files map[string]string // what stands in those at the beginning
}

// agents are those that need more than variables.
var agents = map[string]func(Around) (Outfit, error){"claude": claude, "codex": codex, "gemini": gemini}

// Names are the agents that are known by the names of their programs.
func Names() []string { return slices.Sorted(maps.Keys(agents)) }

// Known is the agent that a command starts, or none.
func Known(command string) string {
	name := strings.TrimSuffix(filepath.Base(command), filepath.Ext(command))
	if _, known := agents[name]; known {
		return name
	}
	return ""
}

// For is what an agent gets; one that nobody knows gets the variables that most read.
func For(agent string, a Around) (Outfit, error) {
	out := Outfit{}
	if give, known := agents[agent]; known {
		var err error
		if out, err = give(a); err != nil {
			return Outfit{}, err
		}
	}
	out.Env = append([]string{
		"ANTHROPIC_BASE_URL=" + a.Base + "/anthropic", "ANTHROPIC_API_KEY=" + a.Sign,
		"OPENAI_BASE_URL=" + a.Base + "/openai/v1", "OPENAI_API_BASE=" + a.Base + "/openai/v1", "OPENAI_API_KEY=" + a.Sign,
		"GOOGLE_GEMINI_BASE_URL=" + a.Base + "/gemini", "GEMINI_API_KEY=" + a.Sign,
	}, out.Env...)
	return out, nil
}

// Into fits a box.
func (o Outfit) Into(w *box.Want) {
	var names []string
	for _, e := range o.Env {
		name, _, _ := strings.Cut(e, "=")
		names = append(names, name)
	}
	env := slices.DeleteFunc(slices.Clone(w.Env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(names, name)
	})
	w.Env, w.Keep = append(env, o.Env...), append(w.Keep, names...)
	w.Own, w.Files = append(w.Own, o.Own...), o.Files
}

// key is where people keep a provider's key.
type key struct {
	api, variable string
	address       string // what names the server that it is for, if it is not the provider's own
	header, begin string
}

var keys = []key{
	{"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "X-Api-Key", ""},
	{"anthropic", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "Authorization", "Bearer "},
	{"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "Authorization", "Bearer "},
	{"openai", "CODEX_API_KEY", "OPENAI_BASE_URL", "Authorization", "Bearer "},
	{"gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "X-Goog-Api-Key", ""},
	{"gemini", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "X-Goog-Api-Key", ""},
}

// Keys are the user's own, for the door to put in, by API. One that is for a server of the user's choice is not taken: the monitor asks
// another. Those are named.
func Keys(getenv func(string) string) (found map[string]door.Key, spared []string) {
	found = map[string]door.Key{}
	for _, k := range keys {
		value := getenv(k.variable)
		if _, known := found[k.api]; value == "" || known {
			continue
		}
		if getenv(k.address) != "" {
			spared = append(spared, k.api)
			continue
		}
		found[k.api] = door.Key{Header: k.header, Value: k.begin + value}
	}
	return found, slices.Compact(spared)
}

func claude(a Around) (Outfit, error) {
	servers := map[string]any{}
	for _, name := range a.Servers {
		servers[name] = map[string]any{"type": "http", "url": a.Base + "/mcp/" + name}
	}
	settings, err := strictjson.MarshalIndent(map[string]any{
		"hasCompletedOnboarding": true, "customApiKeyResponses": map[string]any{"approved": []string{a.Sign[max(0, len(a.Sign)-20):]}},
		"mcpServers": servers,
	})
	return Outfit{
		Env: []string{
			"CLAUDE_CONFIG_DIR=" + filepath.Join(a.Home, ".claude"), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
			"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		},
		Own: []string{".claude"}, Files: map[string]string{".claude/.claude.json": string(settings)},
	}, err
}

// codex has its own sandbox off: in a box it can make none, and would run nothing.
func codex(a Around) (Outfit, error) {
	var b strings.Builder
	b.WriteString("model_provider = \"monitored\"\nsandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n\n" +
		"[model_providers.monitored]\nname = \"OpenAI\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n")
	b.WriteString("base_url = " + strconv.Quote(a.Base+"/openai/v1") + "\n")
	for _, name := range a.Servers {
		b.WriteString("\n[mcp_servers." + strconv.Quote(name) + "]\nurl = " + strconv.Quote(a.Base+"/mcp/"+name) + "\n")
	}
	return Outfit{
		Env: []string{"CODEX_HOME=" + filepath.Join(a.Home, ".codex")},
		Own: []string{".codex"}, Files: map[string]string{".codex/config.toml": b.String()},
	}, nil
}

func gemini(a Around) (Outfit, error) {
	servers := map[string]any{}
	for _, name := range a.Servers {
		servers[name] = map[string]any{"httpUrl": a.Base + "/mcp/" + name}
	}
	settings, err := strictjson.MarshalIndent(map[string]any{
		"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"privacy":  map[string]any{"usageStatisticsEnabled": false}, "general": map[string]any{"enableAutoUpdate": false},
		"mcpServers": servers,
	})
	return Outfit{
		Env: []string{"GEMINI_TELEMETRY_ENABLED=false"},
		Own: []string{".gemini"}, Files: map[string]string{".gemini/settings.json": string(settings)},
	}, err
}
