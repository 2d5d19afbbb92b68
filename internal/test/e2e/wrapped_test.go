//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Real MCP servers in an agent's own settings, put behind Tidemark by tidemark mcp wrap, and no hooks at all: the gateway
// alone sees what the agent does with them.

// serving is how an agent is given servers, and how it calls their tools.
type serving struct {
	file   string                         // its settings, below its home
	entry  func(servers obj) obj          // what stands in it; nil: the file is TOML
	tool   func(server, name string) step // a call without arguments
	remote func(url, bearer string) obj   // the settings of a server hub that is reached over HTTP; of TOML, its text
}

func plainServers(servers obj) obj { return obj{"mcpServers": servers} }

// hubAt are settings with a server that is reached over HTTP.
func hubAt(under, key string, more obj) func(url, bearer string) obj {
	return func(url, bearer string) obj {
		entry := obj{key: url, "headers": obj{"Authorization": bearer}}
		for k, v := range more {
			entry[k] = v
		}
		return obj{under: obj{"hub": entry}}
	}
}

func called(before, between string) func(server, name string) step {
	return func(server, name string) step { return step{tool: before + server + between + name} }
}

var servings = map[string]serving{
	"claude": {".claude.json", plainServers, called("mcp__", "__"), hubAt("mcpServers", "url", obj{"type": "http"})},
	"gemini": {".gemini/settings.json", plainServers, called("mcp_", "_"), hubAt("mcpServers", "httpUrl", nil)},
	"codex": {".codex/config.toml", nil, func(server, name string) step {
		return step{space: "mcp__" + server, tool: name}
	}, func(url, bearer string) obj {
		const entry = "\n[mcp_servers.hub]\nurl = %q\nstartup_timeout_sec = 120\ntool_timeout_sec = 660\nrequired = true\nhttp_headers = { Authorization = %q }\n"
		return obj{"": fmt.Sprintf(entry, url, bearer)}
	}},
	"copilot": {".copilot/mcp-config.json", func(servers obj) obj {
		for _, s := range servers {
			one, _ := s.(obj)
			one["type"], one["tools"] = "local", []any{"*"}
		}
		return plainServers(servers)
	}, called("", "-"), hubAt("mcpServers", "url", obj{"type": "http", "tools": []any{"*"}})},
	"opencode": {".config/opencode/opencode.json", func(servers obj) obj {
		out := obj{}
		for name, s := range servers {
			one, _ := s.(obj)
			args, _ := one["args"].([]any)
			entry := obj{"type": "local", "command": append([]any{one["command"]}, args...), "enabled": true}
			if env, ok := one["env"]; ok {
				entry["environment"] = env
			}
			out[name] = entry
		}
		return obj{"mcp": out}
	}, called("", "_"), hubAt("mcp", "url", obj{"type": "remote", "enabled": true})},
}

// serverProgram is a server of npm.
func serverProgram(folder, name string) string {
	return filepath.Join(cache(), folder, "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
}

// own is the file of an owner whose memory is their own. Without a word what servers list is untrusted, and agents list
// resources when they start. Calls of a client that takes progress are held for as long as wait says.
func own(wait string) string {
	return "mcp: {wait: " + wait + "}\ntrustRules:\n  - {name: my-memory, tools: [\"memory__*\"], trust: local}\n"
}

// serve gives the agent two servers, and puts them behind Tidemark.
func (s serving) serve(w *world) {
	w.t.Helper()
	servers := obj{
		"files":  obj{"command": "node", "args": []any{serverProgram("files", "server-filesystem"), w.work}},
		"memory": obj{"command": "node", "args": []any{serverProgram("memory", "server-memory")}, "env": obj{"MEMORY_FILE_PATH": filepath.Join(w.work, "memory.jsonl")}},
	}
	if s.entry != nil {
		s.write(w, s.entry(servers))
	} else {
		text := ""
		for name, v := range servers {
			one, _ := v.(obj)
			args, _ := strictjson.Marshal(one["args"])
			text += fmt.Sprintf("\n[mcp_servers.%s]\ncommand = \"node\"\nstartup_timeout_sec = 120\nrequired = true\nargs = %s\n", name, args)
			if env, ok := one["env"].(obj); ok {
				text += fmt.Sprintf("env = { MEMORY_FILE_PATH = %q }\n", env["MEMORY_FILE_PATH"])
			}
		}
		s.write(w, obj{"": text})
	}
	if out := w.tidemark("mcp", "wrap", w.rig.name); !strings.Contains(out, "wrote ") {
		w.t.Fatalf("wrap: %s", out)
	}
}

// write adds to the agent's settings, or to the text of a file that is no JSON.
func (s serving) write(w *world, more obj) {
	w.t.Helper()
	was, err := os.ReadFile(filepath.Join(w.home, s.file))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	if text, plain := more[""].(string); plain {
		w.write(w.home, s.file, string(was)+text)
		return
	}
	settings := obj{}
	if len(was) > 0 {
		if err := strictjson.Unmarshal(was, &settings); err != nil {
			w.t.Fatal(err)
		}
	}
	for k, v := range more {
		settings[k] = v
	}
	raw, err := strictjson.MarshalIndent(settings)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(w.home, s.file, string(raw))
}

// remembers is a call that stores something, and reads one that brings in the notes.
func (s serving) remembers(name string) step {
	c := s.tool("memory", "create_entities")
	c.args = obj{"entities": []any{obj{"name": name, "entityType": "order", "observations": []any{"4711"}}}}
	return c
}

func (s serving) reads(w *world) step {
	c := s.tool("files", "read_text_file")
	c.args = obj{"path": at(w, "notes.txt")}
	return c
}

// behindGateway: what a server is asked to do before anything was read is done; what it brings is read by the model; what
// another server is asked to do then is refused, the model reads why, and the server never hears of it.
func behindGateway(t *testing.T, r *rig) {
	s := servings[r.name]
	w := open(t, r, with{bare: true, file: own("1ms"), last: s.serve})
	w.model.script(s.remembers("before"), s.reads(w), s.remembers("after"), step{say: done})
	out := w.turn("Remember before, read notes.txt with the server, and remember after.")
	memory := w.file("memory.jsonl")
	if !strings.Contains(memory, `"before"`) || strings.Contains(memory, `"after"`) {
		t.Errorf("the server was asked to remember %q, want before alone; the agent printed\n%s", memory, tail([]byte(out)))
	}
	saw := w.model.saw()
	if !strings.Contains(saw, "open: 4711") {
		t.Error("the model did not read the notes")
	}
	if !strings.Contains(saw, "is blocked by security policy") || !strings.Contains(saw, "Rule: balanced.") {
		t.Errorf("the model was not told why; it saw\n%s", tail([]byte(saw)))
	}
}
