package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// MCP-40
func TestServersAreWrappedFromTheCommandLine(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	file := filepath.Join(home, ".claude.json")
	const before = "{\n  \"mcpServers\": {\n    \"files\": {\"command\": \"npx\", \"args\": [\"x\"]},\n    \"hub\": {\"type\": \"http\", \"url\": \"https://hub.example/mcp\"}\n  }\n}"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		t.Helper()
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	s := startServer(t, filepath.Join(home, "data"))
	out := s.says(t, "mcp", "wrap", "claude", "--dry-run")
	for _, want := range []string{"-    \"files\": {\"command\": \"npx\"", `"mcp", "--name", "files", "--data", "` + s.data + `", "--", "npx", "x"]`, s.client.base + "/mcp/hub"} {
		if !strings.Contains(out, want) {
			t.Errorf("dry run: got %s\nwant %q in it", out, want)
		}
	}
	if read() != before {
		t.Error("a dry run changed the file")
	}
	if out := s.says(t, "mcp", "wrap", "claude"); !strings.Contains(out, "wrote "+file) {
		t.Errorf("wrap: %s", out)
	}
	if got := read(); !strings.Contains(got, s.tokens.Agent) || strings.Contains(got, "hub.example") {
		t.Errorf("wrapped: %s", got)
	}
	t.Setenv("TIDEMARK_TEST_MAIN", "1") // what the agent would start is this program
	if out, _, _ := command(t, "doctor", "claude", "--data", s.data); !strings.Contains(out, "behind Tidemark: files, hub") ||
		!regexp.MustCompile(`good +claude, files +the canary was blocked: `).MatchString(out) {
		t.Errorf("doctor: %s", out)
	}
	if out := s.says(t, "mcp", "wrap", "claude", "--json"); !strings.Contains(out, `"changed": []`) || !strings.Contains(out, `"agent": "claude"`) {
		t.Errorf("wrapped twice: %s", out)
	}
	s.says(t, "mcp", "unwrap", "claude")
	if got := read(); got != before {
		t.Errorf("got back %s", got)
	}
	if out, _, _ := command(t, "doctor", "claude", "--data", s.data); !strings.Contains(out, "tidemark mcp wrap claude") {
		t.Errorf("doctor: %s", out)
	}
	if out := s.says(t, "install", "claude", "--dry-run", "--hook", os.Args[0]); !strings.Contains(out, "tidemark mcp wrap claude") {
		t.Errorf("install does not offer it: %s", out)
	}
	if _, errOut, code := command(t, "mcp", "wrap", "nobody", "--data", s.data); code == exitOK || !strings.Contains(errOut, "claude, codex, cursor, vscode") {
		t.Errorf("an unknown agent: exit %d, %q", code, errOut)
	}
}

// Agents share the file of the gateway's servers.
// MCP-40
func TestTwoAgentsAreWrappedAtOnce(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	files := map[string]string{
		".claude.json":          `{"mcpServers":{"hub":{"type":"http","url":"https://hub.example/mcp","headers":{"Authorization":"Bearer secret"}}}}`,
		".gemini/settings.json": `{"mcpServers":{"hub":{"httpUrl":"https://hub.example/mcp","headers":{"Authorization":"Bearer secret"}}}}`,
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startServer(t, filepath.Join(home, "data"))
	s.says(t, "mcp", "wrap", "claude", "gemini")
	for name := range files {
		if raw, err := os.ReadFile(filepath.Join(home, name)); err != nil || !strings.Contains(string(raw), "/mcp/hub\"") {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
	s.says(t, "mcp", "unwrap", "claude", "gemini")
	for name, want := range files {
		if raw, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(raw) != want {
			t.Errorf("%s came back as %s, %v", name, raw, err)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(home, "data", "mcp-servers.json")); err == nil && strings.Contains(string(raw), "secret") {
		t.Errorf("the gateway keeps what nobody leads to: %s", raw)
	}
}

func TestLoginAndProbeSayWhatIsWrong(t *testing.T) {
	data := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"mcp", "login", "hub"}, `no MCP server that is reached over HTTP is called "hub" (none is known)`},
		{[]string{"mcp", "probe", "http://hub.example/mcp"}, "plain http to hub.example: use https"},
		{[]string{"mcp", "probe", "file:///etc/passwd"}, "url is not http or https"},
		{[]string{"mcp", "login", "hub", "--url", "https://me:secret@hub.example"}, "url holds credentials"},
		{[]string{"mcp", "probe", "http://127.0.0.1:1/mcp", "--no-browser"}, "connection refused"},
	} {
		if _, errOut, code := command(t, append(c.args, "--data", data)...); code == exitOK || !strings.Contains(errOut, c.want) || strings.Contains(errOut, "secret") {
			t.Errorf("%v: exit %d, %q, want %q", c.args, code, errOut, c.want)
		}
	}
}

// MCP-31
func TestLogoutForgetsWhatOneServerGave(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(data, "mcp-tokens.json")
	const kept = `{"issuers":{"https://login.example":{` +
		`"https://hub.example/mcp":{"client":"c","tokenUrl":"https://login.example/token","access":"hub-access","refresh":"hub-refresh"},` +
		`"https://crm.example/mcp":{"client":"c","tokenUrl":"https://login.example/token","access":"crm-access"}}}}`
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, kept)
	write(filepath.Join(data, "tidemark.yaml"), "mcp: {servers: {hub: {url: \"https://hub.example/mcp\", auth: oauth}}}\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"nobody"}, exitUsage, `is called "nobody"`},
		{[]string{"other", "--url", "https://other.example/mcp"}, exitOK, "nothing is kept for other"},
		{[]string{"hub"}, exitOK, "what hub gave is forgotten here; the server may still take it"},
		{[]string{"hub", "--json"}, exitOK, `"forgotten": false`},
	} {
		out, errOut, code := command(t, append([]string{"mcp", "logout", "--data", data}, c.args...)...)
		if code != c.code || !strings.Contains(out+errOut, c.want) {
			t.Errorf("%v: exit %d, %q, %q, want %q", c.args, code, out, errOut, c.want)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(raw), "hub") || !strings.Contains(string(raw), "crm-access") {
		t.Errorf("kept: %s, %v; want what the other server gave and no more", raw, err)
	}
}

// Agents pass few variables on to the servers they start: a folder that one names is written into the entries.
// MCP-40
func TestWrapWritesTheDataFolderThatAVariableNames(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	usual := filepath.Join(home, ".local", "share", "tidemark")
	for name, tt := range map[string]struct{ variable, want string }{
		"another folder":   {filepath.Join(home, "data"), filepath.Join(home, "data")},
		"the usual folder": {usual, usual},
		"no folder":        {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TIDEMARK_DATA", tt.variable)
			entry := `{"mcpServers":{"files":{"command":"npx","args":["x"]}}}`
			if err := os.WriteFile(filepath.Join(home, ".claude.json"), []byte(entry), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errOut, code := command(t, "mcp", "wrap", "claude", "--dry-run")
			if code != exitOK {
				t.Fatalf("exit %d, %s", code, errOut)
			}
			want := `"--name","files","--`
			if tt.want != "" {
				want = `"--data","` + tt.want + `"`
			}
			if got := strings.ReplaceAll(out, ", ", ","); !strings.Contains(got, want) || tt.want == "" && strings.Contains(got, "--data") {
				t.Errorf("got %s\nwant %s in it", out, want)
			}
		})
	}
}
