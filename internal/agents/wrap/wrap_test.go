package wrap_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/wrap"
	"github.com/tidemark/tidemark/internal/mcp/upstreams"
)

const token = "agent-token-0123456789"

type rig struct {
	t *testing.T
	install.World
	opts wrap.Options
}

func open(t *testing.T) *rig {
	t.Helper()
	home := t.TempDir()
	return &rig{
		t: t, World: install.World{Home: home, Data: filepath.Join(home, "data"), Getenv: func(string) string { return "" }},
		opts: wrap.Options{Program: "/opt/tidemark", Gateway: "http://127.0.0.1:8417", Token: token},
	}
}

func (r *rig) write(rel, text string) {
	r.t.Helper()
	path := filepath.Join(r.Home, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(rel string) string {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.Home, filepath.FromSlash(rel)))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw)
}

func (r *rig) wrap(client string) []wrap.Server {
	r.t.Helper()
	p, seen, err := wrap.Prepare(r.World, client, r.opts, time.Now())
	if err == nil {
		err = p.Apply(time.Now())
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return seen
}

func (r *rig) unwrap(client string) []wrap.Server {
	r.t.Helper()
	p, seen, err := wrap.Removal(r.World, client)
	if err == nil {
		err = p.Apply(time.Now())
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return seen
}

// settings are files as each agent has them, and what must be in them once they are wrapped.
var settings = []struct {
	client, file, before string
	after                []string
}{
	{
		"claude", ".claude.json", "{\n  \"numStartups\": 9007199254740993,\n  \"mcpServers\": {\n    \"my files\": {\"command\": \"npx\", \"args\": [\"-y\", \"server-files\", \".\"], \"env\": {\"B\": \"2\", \"A\": \"1\"}},\n" +
			"    \"bare\": {\"type\":\"stdio\",\"command\":\"./run\"}\n  },\n  \"projects\": {\"/work/a.b\": {\"mcpServers\": {\"local\": {\"args\": [], \"command\": \"/bin/x\"}}}}\n}",
		[]string{
			`"my files": {"command": "/opt/tidemark", "args": ["mcp", "--name", "my-files", "--env", "B", "--env", "A", "--", "npx", "-y", "server-files", "."], "env": {"B": "2", "A": "1"}}`,
			`"bare": {"type":"stdio","command":"/opt/tidemark", "args": ["mcp", "--name", "bare", "--", "./run"]}`,
			`"local": {"args": ["mcp", "--name", "local", "--", "/bin/x"], "command": "/opt/tidemark"}`,
		},
	},
	{
		"codex", ".codex/config.toml", "model = \"m\" # mine\r\n\r\n[mcp_servers.a]\ncommand = 'C:\\x' # it's\n# a comment\n[mcp_servers.a.env]\nKEY = \"v\"\n\n[mcp_servers.\"b c\"]\nargs = [\n  \"-y\", # yes\n]\ncommand = \"npx\"\nenv_vars = [\"Z\"]\ntool_timeout_sec = 90\n\n\n[tui]\nx = 1",
		[]string{
			"[mcp_servers.a]\ncommand = \"/opt/tidemark\"\ntool_timeout_sec = 660\nargs = [\"mcp\", \"--name\", \"a\", \"--env\", \"KEY\", \"--\", \"C:\\\\x\"] # it's\n# a comment\n[mcp_servers.a.env]",
			"args = [\"mcp\", \"--name\", \"b-c\", \"--env\", \"Z\", \"--\", \"npx\", \"-y\"]\ncommand = \"/opt/tidemark\"\nenv_vars = [\"Z\"]\ntool_timeout_sec = 90\n", // the owner's own word
		},
	},
	{
		"cursor", ".cursor/mcp.json", "{\"mcpServers\":{\"x\":{\"command\":\"uvx\",\"args\":[\"mcp-server-git\"]}}}\n",
		[]string{`{"command":"/opt/tidemark","args":["mcp", "--name", "x", "--", "uvx", "mcp-server-git"]}`},
	},
	{
		"vscode", ".config/Code/User/mcp.json", "{\n\t// mine\n\t\"servers\": {\n\t\t\"x\": { \"command\": \"npx\", /* here */ \"args\": [\"-y\"], },\n\t},\n}\n",
		[]string{`"x": { "command": "/opt/tidemark", /* here */ "args": ["mcp", "--name", "x", "--", "npx", "-y"], },`},
	},
	{
		"gemini", ".gemini/settings.json", "{\"mcpServers\": {\"g\": {\"command\": \"npx\", \"cwd\": \"/x\", \"trust\": true}}, \"ui\": {}}",
		[]string{`"g": {"command": "/opt/tidemark", "args": ["mcp", "--name", "g", "--", "npx"], "cwd": "/x", "trust": true}`},
	},
	{
		"opencode", ".config/opencode/opencode.jsonc", "// hi\n{\"mcp\": {\"o\": {\"type\": \"local\", \"command\": [\"npx\", \"-y\"], \"environment\": {\"A\": \"b\"}, \"enabled\": true}}}",
		[]string{`"command": ["/opt/tidemark", "mcp", "--name", "o", "--env", "A", "--", "npx", "-y"], "environment": {"A": "b"}, "enabled": true}`},
	},
	{
		"copilot", ".copilot/mcp-config.json", "{\"mcpServers\":{\"p\":{\"type\":\"local\",\"command\":\"npx\",\"tools\":[\"*\"],\"args\":[]}}}",
		[]string{`"p":{"type":"local","command":"/opt/tidemark","tools":["*"],"args":["mcp", "--name", "p", "--", "npx"]}`},
	},
}

// MCP-40
func TestWrappingChangesTheEntriesAndUnwrappingGivesEveryByteBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the places of VS Code differ")
	}
	for _, c := range settings {
		t.Run(c.client, func(t *testing.T) {
			r := open(t)
			r.write(c.file, c.before)
			for range 2 { // twice changes nothing more
				for _, s := range r.wrap(c.client) {
					if !s.Behind || s.Why != "" {
						t.Errorf("%s: behind %v, %s", s.Name, s.Behind, s.Why)
					}
				}
				after := r.read(c.file)
				for _, want := range c.after {
					if !strings.Contains(after, want) {
						t.Errorf("got\n%s\nwant in it\n%s", after, want)
					}
				}
			}
			if info, err := os.Stat(filepath.Join(r.Home, c.file)); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v, %v; want it kept", info.Mode(), err)
			}
			r.unwrap(c.client)
			if got := r.read(c.file); got != c.before {
				t.Errorf("got back\n%q\nwant\n%q", got, c.before)
			}
			if left, err := filepath.Glob(filepath.Join(r.Data, "installed", "mcp-*")); err != nil || len(left) > 0 {
				t.Errorf("the record stays: %v, %v", left, err)
			}
		})
	}
}

// MCP-40
func TestServersOverHTTPGoThroughTheGateway(t *testing.T) {
	for _, c := range []struct{ client, file, before, after string }{
		{
			"claude", ".claude.json", `{"mcpServers":{"hub":{"type":"http","url":"https://hub.example/mcp","headers":{"Authorization":"Bearer secret"}}}}`,
			`{"mcpServers":{"hub":{"type":"http","url":"http://127.0.0.1:8417/mcp/hub","headers":{"Authorization": "Bearer ` + token + `"}}}}`,
		},
		{
			"codex", ".codex/config.toml", "[mcp_servers.hub]\nurl = \"https://hub.example/mcp\"\nhttp_headers = { Authorization = \"Bearer secret\" }\n",
			"[mcp_servers.hub]\nurl = \"http://127.0.0.1:8417/mcp/hub\"\ntool_timeout_sec = 660\nhttp_headers = { Authorization = \"Bearer " + token + "\" }\n",
		},
		{
			"gemini", ".gemini/settings.json", `{"mcpServers":{"hub":{"httpUrl":"https://hub.example/mcp","headers":{"Authorization":"Bearer secret"}}}}`,
			`{"mcpServers":{"hub":{"httpUrl":"http://127.0.0.1:8417/mcp/hub","headers":{"Authorization": "Bearer ` + token + `"}}}}`,
		},
		{
			"opencode", ".config/opencode/opencode.json", `{"mcp":{"hub":{"type":"remote","url":"https://hub.example/mcp","headers":{"Authorization":"Bearer secret"}}}}`,
			`{"mcp":{"hub":{"type":"remote","url":"http://127.0.0.1:8417/mcp/hub","headers":{"Authorization": "Bearer ` + token + `"}}}}`,
		},
	} {
		t.Run(c.client, func(t *testing.T) {
			r := open(t)
			r.write(c.file, c.before)
			r.wrap(c.client)
			if got := r.read(c.file); got != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
			f, err := upstreams.Read(r.Data)
			want := upstreams.Server{URL: "https://hub.example/mcp", Auth: "none", Headers: map[string]string{"Authorization": "Bearer secret"}}
			if err != nil || !f.Servers["hub"].Same(want) {
				t.Errorf("the gateway knows %+v, %v", f, err)
			}
			if info, err := os.Stat(upstreams.Path(r.Data)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode of the gateway's file: %v, %v", info, err)
			}
			r.unwrap(c.client)
			if got := r.read(c.file); got != c.before {
				t.Errorf("got back %s", got)
			}
			if f, err := upstreams.Read(r.Data); err != nil || len(f.Servers) > 0 {
				t.Errorf("the gateway still knows %+v, %v", f, err)
			}
		})
	}
}

func TestTwoAgentsShareOneServerOfTheGateway(t *testing.T) {
	r := open(t)
	r.write(".claude.json", `{"mcpServers":{"hub":{"type":"http","url":"https://hub.example/mcp"}}}`)
	r.write(".cursor/mcp.json", `{"mcpServers":{"hub":{"url":"https://hub.example/mcp"}}}`)
	r.write(".gemini/settings.json", `{"mcpServers":{"hub":{"httpUrl":"https://other.example/mcp"}}}`)
	for _, c := range []string{"claude", "cursor", "gemini"} {
		r.wrap(c)
	}
	f, err := upstreams.Read(r.Data)
	if err != nil || strings.Join(f.Names(), " ") != "hub hub-gemini" || f.Servers["hub"].Auth != "oauth" {
		t.Errorf("the gateway knows %+v, %v", f, err)
	}
	r.unwrap("claude")
	if f, err = upstreams.Read(r.Data); err != nil || len(f.Servers) != 2 {
		t.Errorf("what another agent leads to is gone: %+v, %v", f, err)
	}
	r.unwrap("cursor")
	r.unwrap("gemini")
	if f, err = upstreams.Read(r.Data); err != nil || len(f.Servers) != 0 {
		t.Errorf("left: %+v, %v", f, err)
	}
}

// What tidemark.yaml calls hub is the owner's, and may be another server.
func TestAServerGetsNoNameOfTheFile(t *testing.T) {
	r := open(t)
	r.opts.Taken = []string{"hub"}
	r.write(".claude.json", `{"mcpServers":{"hub":{"type":"http","url":"https://hub.example/mcp"}}}`)
	r.wrap("claude")
	if got := r.read(".claude.json"); !strings.Contains(got, "/mcp/hub-claude") {
		t.Errorf("got %s", got)
	}
	if f, err := upstreams.Read(r.Data); err != nil || strings.Join(f.Names(), " ") != "hub-claude" {
		t.Errorf("the gateway knows %+v, %v", f, err)
	}
}

func TestWhatIsNotUnderstoodStaysAndIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ client, file, text, why string }{
		"the older protocol": {"claude", ".claude.json", `{"mcpServers":{"x":{"type":"sse","url":"https://x.example/sse"}}}`, "older protocol"},
		"Gemini's url":       {"gemini", ".gemini/settings.json", `{"mcpServers":{"x":{"url":"https://x.example/sse"}}}`, "older protocol"},
		"variables":          {"claude", ".claude.json", `{"mcpServers":{"x":{"type":"http","url":"https://x.example","headers":{"K":"${T}"}}}}`, "variables"},
		"a helper":           {"claude", ".claude.json", `{"mcpServers":{"x":{"type":"http","url":"https://x.example","headersHelper":"./h"}}}`, "headersHelper"},
		"plain http":         {"claude", ".claude.json", `{"mcpServers":{"x":{"type":"http","url":"http://x.example"}}}`, "plain http"},
		"no command":         {"claude", ".claude.json", `{"mcpServers":{"x":{}}}`, "neither"},
		"no object":          {"claude", ".claude.json", `{"mcpServers":{"x":7}}`, "neither"},
		"both":               {"claude", ".claude.json", `{"mcpServers":{"x":{"command":"a","url":"https://x.example"}}}`, "neither"},
		"odd arguments":      {"claude", ".claude.json", `{"mcpServers":{"x":{"command":"a","args":"b"}}}`, "arguments"},
		"odd command":        {"opencode", ".config/opencode/opencode.json", `{"mcp":{"x":{"command":"a"}}}`, "command"},
		"inline":             {"codex", ".codex/config.toml", "mcp_servers.x = {command = \"a\"}\n", "one line"},
		"a token elsewhere":  {"codex", ".codex/config.toml", "[mcp_servers.x]\nurl = \"https://x.example\"\nbearer_token_env_var = \"T\"\n", "bearer_token_env_var"},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t)
			r.write(c.file, c.text)
			seen := r.wrap(c.client)
			if len(seen) != 1 || seen[0].Behind || !strings.Contains(seen[0].Why, c.why) {
				t.Errorf("got %+v, want it left because of %q", seen, c.why)
			}
			if got := r.read(c.file); got != c.text {
				t.Errorf("the file was changed: %s", got)
			}
		})
	}
	r := open(t)
	for _, text := range []string{`{"mcpServers":`, `{"a":1,"a":2}`, `[]`} {
		r.write(".claude.json", text)
		if _, _, err := wrap.Prepare(r.World, "claude", r.opts, time.Now()); err == nil || r.read(".claude.json") != text {
			t.Errorf("%s: got %v", text, err)
		}
	}
	r.write(".codex/config.toml", "[mcp_servers.x\n")
	if _, _, err := wrap.Prepare(r.World, "codex", r.opts, time.Now()); err == nil {
		t.Error("TOML that cannot be read is rewritten")
	}
	if _, _, err := wrap.Prepare(r.World, "nobody", r.opts, time.Now()); err == nil {
		t.Error("an agent nobody knows")
	}
}

// An agent writes its own file anew all the time, in its own layout.
func TestUnwrappingKeepsWhatOthersChangedSince(t *testing.T) {
	r := open(t)
	r.write(".claude.json", `{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}`)
	r.wrap("claude")
	r.write(".claude.json", `{
  "new": 1,
  "mcpServers": {
    "a": {
      "args": ["mcp", "--name", "a", "--", "x"],
      "command": "/opt/tidemark"
    },
    "b": {"command": "/opt/tidemark", "args": ["mcp", "--name", "b", "--", "other"]},
    "c": {"command": "z"}
  }
}`)
	seen := r.unwrap("claude")
	got := r.read(".claude.json")
	if !strings.Contains(got, `"a": {"command":"x"},`) || !strings.Contains(got, `"new": 1`) || !strings.Contains(got, `"c": {"command": "z"}`) {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(got, `"other"`) || len(seen) != 2 || !strings.Contains(seen[1].Why, "changed it since") {
		t.Errorf("what somebody changed: got %s, %+v", got, seen)
	}
}

func TestAProjectsFileGetsNoToken(t *testing.T) {
	r := open(t)
	r.Project = filepath.Join(r.Home, "project")
	const text = `{"mcpServers":{"a":{"command":"x"},"h":{"type":"http","url":"https://x.example/mcp"}}}`
	r.write("project/.mcp.json", text)
	seen := r.wrap("claude")
	got := r.read("project/.mcp.json")
	if len(seen) != 2 || !seen[0].Behind || seen[1].Behind || !strings.Contains(seen[1].Why, "must not hold a token") || strings.Contains(got, token) {
		t.Errorf("got %s, %+v", got, seen)
	}
	r.unwrap("claude")
	if got := r.read("project/.mcp.json"); got != text {
		t.Errorf("got back %s", got)
	}
}

func TestLookNamesServersThatAreNotBehindTidemark(t *testing.T) {
	r := open(t)
	r.write(".claude.json", `{"mcpServers":{"a":{"command":"x"}},"projects":{"/p":{"mcpServers":{"b":{"command":"y"}}}}}`)
	for _, behind := range []bool{false, true} {
		seen, err := wrap.Look(r.World, "claude")
		if err != nil || len(seen) != 2 || seen[0].Behind != behind || seen[1].Behind != behind || seen[1].Scope != "/p" {
			t.Errorf("got %+v, %v; want both behind: %v", seen, err, behind)
		}
		r.wrap("claude")
	}
}

// What calls itself tidemark in a file may be anything: only what was put there by us is started by others.
func TestOnlyWhatWeWroteIsStarted(t *testing.T) {
	r := open(t)
	r.write(".claude.json", `{"mcpServers":{"a":{"command":"/repo/tools/tidemark","args":["mcp","--name","a","--","true"]},"b":{"command":"y"}}}`)
	r.wrap("claude")
	seen, err := wrap.Look(r.World, "claude")
	if err != nil || len(seen) != 2 || seen[0].Relay != nil || seen[1].Relay == nil {
		t.Errorf("got %+v, %v; want a relay of b alone", seen, err)
	}
}

// An entry that somebody changed stays behind Tidemark, and so does what it leads to, with its credential.
func TestWhatStaysKeepsItsServer(t *testing.T) {
	r := open(t)
	r.write(".claude.json", `{"mcpServers":{"hub":{"type":"http","url":"https://other.example/mcp"}}}`)
	r.wrap("claude")
	r.write(".gemini/settings.json", `{"mcpServers":{"hub":{"httpUrl":"https://hub.example/mcp","headers":{"Authorization":"Bearer secret"}}}}`)
	r.wrap("gemini")
	changed := strings.Replace(r.read(".gemini/settings.json"), `"headers"`, `"timeout":5,"headers"`, 1)
	r.write(".gemini/settings.json", changed)
	for range 2 {
		r.unwrap("gemini")
		if got := r.read(".gemini/settings.json"); got != changed {
			t.Errorf("it was changed: %s", got)
		}
		f, err := upstreams.Read(r.Data)
		if err != nil || f.Servers["hub-gemini"].Headers["Authorization"] != "Bearer secret" {
			t.Errorf("the gateway knows %+v, %v", f, err)
		}
	}
}
