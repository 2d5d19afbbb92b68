package wrap_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program finds a real agent where make e2e installed it.
func program(t *testing.T, name string) string {
	t.Helper()
	if os.Getenv("MCP_REAL") == "" {
		t.Skip("it starts real agents: make mcp sets MCP_REAL")
	}
	cache := os.Getenv("E2E_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Skip("no home")
		}
		cache = filepath.Join(home, ".cache", "tidemark-e2e")
	}
	path := filepath.Join(cache, "bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed (make e2e does that)", name)
	}
	return path
}

// tells runs a real agent in the rig's home and returns what it printed.
func (r *rig) tells(path string, args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = r.Home
	cmd.Env = []string{
		"HOME=" + r.Home, "PATH=" + filepath.Dir(path) + ":" + os.Getenv("PATH"), "CODEX_HOME=" + filepath.Join(r.Home, ".codex"),
		"XDG_CONFIG_HOME=" + filepath.Join(r.Home, ".config"), "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "NO_COLOR=1",
	}
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		r.t.Fatalf("%s %v does not end: %s", path, args, out)
	}
	if err != nil {
		r.t.Logf("%s %v: %v", path, args, err) // some count a server that does not answer as a failure
	}
	return string(bytes.ReplaceAll(out, []byte("\r"), nil))
}

// MCP-40
// The rewritten entries are put to the real programs: each must name the server with our command.
func TestRealAgentsUnderstandWrappedEntries(t *testing.T) {
	const command = "mcp --name files"
	for _, c := range []struct {
		client, file, before string
		list                 []string
		want                 string
	}{
		{
			"claude", ".claude.json", `{"mcpServers":{"files":{"type":"stdio","command":"npx","args":["-y","server-files"]}}}`,
			[]string{"mcp", "list"}, command + " -- npx -y server-files",
		},
		{
			"codex", ".codex/config.toml", "[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\"]\n\n[mcp_servers.files.env]\nA = \"b\"\n",
			[]string{"mcp", "list"}, command + " --env A -- npx -y",
		},
		{
			"gemini", ".gemini/settings.json", `{"mcpServers":{"files":{"command":"npx","args":["-y"]}}}`,
			[]string{"mcp", "list"}, command + " -- npx -y",
		},
		{
			"opencode", ".config/opencode/opencode.json", `{"mcp":{"files":{"type":"local","command":["npx","-y"]}}}`,
			[]string{"mcp", "list"}, command + " -- npx -y",
		},
		{
			"copilot", ".copilot/mcp-config.json", `{"mcpServers":{"files":{"type":"local","command":"npx","args":["-y"],"tools":["*"]}}}`,
			[]string{"mcp", "get", "files"}, command + " -- npx -y",
		},
	} {
		t.Run(c.client, func(t *testing.T) {
			path := program(t, c.client)
			r := open(t)
			r.opts.Program = "/bin/false" // it need not answer, only be understood
			r.write(c.file, c.before)
			if out := r.tells(path, c.list...); !strings.Contains(out, "npx") || strings.Contains(out, command) {
				t.Fatalf("before: %s", out)
			}
			before := r.read(c.file)
			r.wrap(c.client)
			out := r.tells(path, c.list...)
			if flat := strings.Join(strings.Fields(out), " "); !strings.Contains(flat, c.want) {
				t.Errorf("%s does not understand what was written:\n%s", c.client, out)
			}
			r.unwrap(c.client)
			if got := r.read(c.file); c.client != "claude" && got != before { // Claude Code writes its file at every start
				t.Errorf("got back %s\nwant %s", got, before)
			} else if !strings.Contains(got, `"server-files"`) && c.client == "claude" {
				t.Errorf("got back %s", got)
			}
		})
	}
}
