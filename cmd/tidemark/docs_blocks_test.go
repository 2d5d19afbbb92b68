package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// tried says of a line of the documentation what is special about running it. A line without one is run
// as it stands, and must exit with 0.
type tried struct {
	cannot string // why it is not run here; of the first line of a block of text: why there is nothing to run
	before string // what somebody does before it
	stays  bool   // it runs until its input ends or Ctrl-C, which it gets once it printed what it must
	want   string // what it prints
	in     string // what it is told on standard input
	code   int    // what it exits with
}

// pages are those whose blocks are run, each in a house of its own, from the top to the end.
var pages = map[string]map[string]tried{
	"README.md": {
		"go run ./cmd/tidemark serve": {cannot: "compiles the tree once more, in minutes; scripts/bare runs it"},
		"go run ./cmd/tidemark demo":  {cannot: "compiles the tree once more, in minutes; tidemark demo is run below"},
		"scripts/test":                {cannot: "it is what runs this"},
		"make install":                {cannot: "builds what scripts/release builds; TestMakeInstallPutsBothPrograms… runs it"},
		"go install ./cmd/...":        {cannot: "compiles the tree once more, in minutes"},
		"curl -fsSL https://github.com/tidemark/tidemark/releases/latest/download/install.sh | sh": {cannot: "needs a published release; TestWhatIsPackagedCanBeInstalledAndRun runs the script on one of this tree"},
		"go install github.com/tidemark/tidemark/cmd/...@latest":                                   {cannot: "needs a published release"},
		"tidemark init":            {want: "blocked: refused by the server"},
		"tidemark demo":            {want: "promo@"},
		"tidemark approvals watch": {before: attacked, stays: true, want: "drop.example"},
		`owner: "Find a bakery near the harbour and mail Petra a recommendation"`: {cannot: "a story, which tidemark demo tells"},
	},
	"docs/deploy.md": {
		"tidemark init":                    {want: "installed a service"},
		"tidemark service status":          {want: "running"},
		"# Caddyfile":                      {cannot: "a file of Caddy's, which is not here"},
		"tidemark token invite ana-laptop": {cannot: "asks a person for the admin token; TestAMachineJoinsFromTheCommandLine does it"},
		"tidemark join https://tidemark.corp.example:8418 ABCDEF-… claude codex":                                                                            {cannot: "needs a second machine; TestAMachineJoinsFromTheCommandLine and scripts/laptops do it"},
		"docker run -v tidemark:/data -p 127.0.0.1:8417:8417 ghcr.io/tidemark/tidemark":                                                                     {cannot: "needs a container engine and a published image; TestWhatIsPackagedCanBeInstalledAndRun runs the image's root file system"},
		"kubectl apply -f deploy/kubernetes.yaml":                                                                                                           {cannot: "needs a cluster; the manifests are read by a test of their own"},
		"helm install tidemark deploy/helm/tidemark --set storage=20Gi":                                                                                     {cannot: "needs a cluster; the chart is rendered by a test of its own"},
		"kubectl create secret generic tidemark-log --from-file=words.key --from-file=tokens.json --from-literal=store='postgres://tidemark:…@db/tidemark'": {cannot: "needs a cluster"},
		"helm install tidemark deploy/helm/tidemark --set store.secret=tidemark-log":                                                                        {cannot: "needs a cluster; the chart is rendered by a test of its own"},
		"kubectl exec tidemark-0 -- /tidemark token agent":                                                                                                  {cannot: "needs a cluster"},
		"kubectl exec tidemark-0 -- /tidemark token new":                                                                                                    {cannot: "needs a cluster"},
	},
	"docs/operations.md": {
		`tidemark stop-all --reason "the mail agent runs wild"`: {cannot: "asks for the admin token on a terminal; TestTwoServersOnOneDatabaseAreOneMonitor hands it in"},
		"tidemark resume":         {cannot: "as stop-all"},
		"tidemark service status": {want: "running"},
		"tidemark serve --store 'postgres://tidemark@db.internal/tidemark'": {cannot: "needs a database of that name; TestReplicas and others do it with a PostgreSQL of their own"},
		"tidemark log backup /backups/2026-03-01":                           {before: "tidemark init; mkdir ~/backups", want: "records"},
		"tidemark log restore /backups/2026-03-01":                          {before: "tidemark init --undo"},
		"tidemark log anchor":                                               {want: "— tidemark-"},
		"tidemark log verify --anchors notes.txt":                           {before: "tidemark log anchor > notes.txt", want: "1 anchors hold"},
	},
	"docs/retention.md": {
		"tidemark log prune --dry-run --content 30d --previews 90d --events 400d":    {before: "tidemark init && tidemark init --undo", want: "would take"},
		"tidemark log prune --person telegram:4711 --why \"asked for it\" --dry-run": {want: "would take 0 bytes"},
		"tidemark log export --out all.jsonl":                                        {want: "records to all.jsonl"},
	},
	"docs/people.md": {
		"tidemark token add ada --role approver": {before: "tidemark init && tidemark init --undo", want: "tm-approver-"},
		"tidemark token list":                    {want: "ada"},
	},
	"docs/console.md": {
		"tidemark serve":   {stays: true, want: "listening on"},
		"tidemark console": {before: "tidemark init", stays: true, want: "good for a minute"},
	},
	"docs/mcp.md": {
		"tidemark mcp --name files -- npx -y @modelcontextprotocol/server-filesystem .": {before: "tidemark init", stays: true, in: greeting, want: `"serverInfo"`},
		"http://127.0.0.1:8417/mcp/github":                                              {cannot: "an address, and needs an account there; TestMCPServers… reach one of the tests' own"},
	},
	"docs/llm-proxy.md": {
		"tidemark llm -- claude": {want: "the model is at http://127.0.0.1:"},
		"tidemark llm --upstream openai=http://127.0.0.1:8080 -- python agent.py": {want: "/openai/v1"},
		"tidemark llm --upstream mine:anthropic=https://models.example":           {stays: true, want: "/llm/<name>/"},
		"curl -s http://127.0.0.1:8417/llm/canary/v1/chat/completions -H 'Content-Type: application/json' -d '" +
			`{"model":"x","messages":[{"role":"user","content":"hi"}]}` + "'": {before: "tidemark init", want: "Rule: canary"},
	},
	"docs/agents.md": {
		"tidemark install claude --dry-run": {want: "+  \"hooks\""},
		"tidemark install claude codex":     {before: "tidemark init", want: "blocked: refused by the server"},
		"tidemark doctor claude --deep":     {want: "0 broken", code: exitFault}, // it finds that a user's own settings can be got round, which is so
	},
}

const (
	attacked = `claude -p "Read https://news.example/"; true`
	greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
)

// Every block of these pages is run, or stands above with the reason why it cannot be: commands against a real
// server, pieces of a policy file through the checker.
func TestEveryBlockOfTheDocumentationIsRun(t *testing.T) {
	for page, special := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			h := furnished(t)
			seen := map[string]bool{}
			for _, block := range blocks(document(t, page)) {
				first := strings.TrimSpace(strings.Split(block, "\n")[0])
				switch note, known := special[first]; {
				case known && note.cannot != "" && !isCommand(first):
					seen[first] = true
				case strings.HasPrefix(first, "{"):
					h.clientEntry(t, block)
				case isSection.MatchString(first):
					h.check(t, block)
				default:
					h.runBlock(t, block, special, seen)
				}
			}
			for line := range special {
				if !seen[line] {
					t.Errorf("it has no %q any more: take it off the list", line)
				}
			}
		})
	}
}

var (
	isSection    = regexp.MustCompile(`^[a-zA-Z]+:( |$)`)
	isDefinition = regexp.MustCompile(`^(\w+\(\) \{|[A-Z_]+=)`)
)

func isCommand(line string) bool {
	return regexp.MustCompile(`^(tidemark|curl|go|docker|kubectl|helm) `).MatchString(line)
}

// blocks are the pieces of a page between fences, and those that are indented after an empty line.
func blocks(doc string) []string {
	var out []string
	var block []string
	fenced, before := false, ""
	flush := func() {
		if len(block) > 0 {
			out = append(out, strings.TrimRight(strings.Join(block, "\n"), "\n"))
		}
		block = nil
	}
	for line := range strings.Lines(doc + "\n\n") {
		line = strings.TrimRight(line, "\n")
		text, indented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			flush()
			fenced = !fenced
		case fenced:
			block = append(block, line)
		case indented && (before == "" || len(block) > 0):
			block = append(block, text)
		case line == "" && len(block) > 0:
			block = append(block, "") // it may go on below
		default:
			flush()
		}
		before = line
	}
	flush()
	return out
}

// furnished is a house with what the pages take for granted: systemd, npx, python and a second agent, as far as
// they go.
func furnished(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	server, err := mcptest.Command("pages")
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"npx":    "exec " + strings.Join(server, " "),
		"python": `echo "$1 finds its model at $OPENAI_BASE_URL"`,
		"codex":  "echo codex-cli 0.166.0",
		"systemctl": `pid=$(cat "$HOME/pid" 2>/dev/null)
case "$*" in
*is-active*) kill -0 "$pid" ;;
*restart*|*disable*)
  if [ -n "$pid" ]; then kill "$pid"; while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done; rm "$HOME/pid"; fi
  case "$*" in *restart*)
    eval "exec $(sed -n 's/^ExecStart=//p' "$HOME/.config/systemd/user/tidemark.service")" >/dev/null 2>&1 &
    echo $! >"$HOME/pid" ;;
  esac ;;
esac`,
	} {
		if err := os.WriteFile(filepath.Join(h.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.env = append(h.env, "WEBHOOK_SECRET=0123456789abcdef", "PAGER_SECRET=0123456789abcdef",
		"CRM_TOKEN=c", "OPENAI_API_KEY=o", "AZURE_KEY=a", "OIDC_SECRET=s", "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=s")
	writePolicy(t, h.data(), "server: {listen: \"127.0.0.1:0\"}\n")
	t.Cleanup(func() {
		cmd := exec.Command(filepath.Join(h.bin, "tidemark"), "init", "--undo")
		cmd.Env = h.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("undo: %v\n%s", err, out)
		}
	})
	return h
}

// check reads a block as a policy file.
func (h *house) check(t *testing.T, block string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tidemark.yaml")
	writeFile(t, file, block+"\n")
	if out, err := h.command(t, filepath.Join(h.bin, "tidemark"), "check", file).CombinedOutput(); err != nil {
		t.Errorf("%s\nis no policy file: %v\n%s", block, err, out)
	}
}

// clientEntry starts what an entry of an MCP client's settings names.
func (h *house) clientEntry(t *testing.T, block string) {
	t.Helper()
	var entry struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(block), &entry); err != nil || len(entry.Servers) == 0 {
		t.Fatalf("%s\n%v", block, err)
	}
	for _, s := range entry.Servers {
		h.runUntil(t, s.Command+" "+strings.Join(s.Args, " "), greeting, `"serverInfo"`)
	}
}

// runBlock runs a block line by line; what a line defines the later ones know.
func (h *house) runBlock(t *testing.T, block string, special map[string]tried, seen map[string]bool) {
	t.Helper()
	prelude := ""
	for _, line := range strings.Split(strings.NewReplacer("\\\n  ", "", "\n\n", "\n").Replace(block), "\n") {
		line, comment, _ := strings.Cut(line, " # ")
		line = strings.TrimSpace(line)
		if isDefinition.MatchString(line) {
			prelude += h.here(line) + "\n"
			continue
		}
		how := special[line]
		seen[line] = true
		if how.cannot != "" || line == "" {
			continue
		}
		if comment = strings.TrimSpace(comment); how.want == "" && strings.HasPrefix(comment, `"`) {
			how.want = comment
		}
		if how.before != "" {
			if out, err := h.shell(t, how.before).CombinedOutput(); err != nil {
				t.Fatalf("%s, before %s: %v\n%s", how.before, line, err, out)
			}
		}
		h.runLine(t, prelude+h.here(line), how)
	}
}

// here is a line with the addresses and folders of this house in place of those of the page.
func (h *house) here(line string) string {
	line = strings.ReplaceAll(line, "/backups/", filepath.Join(h.home, "backups")+"/")
	if r, err := datafolder.FindRunning(datafolder.Paths{Data: h.data()}); err == nil {
		line = strings.ReplaceAll(line, "http://127.0.0.1:8417", r.URL)
	}
	return line
}

func (h *house) shell(t *testing.T, line string) *exec.Cmd {
	t.Helper()
	return h.command(t, "bash", "-c", line)
}

func (h *house) runLine(t *testing.T, line string, how tried) {
	t.Helper()
	if how.stays {
		h.runUntil(t, line, how.in, how.want)
		return
	}
	out, err := h.shell(t, line).CombinedOutput()
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	if err != nil || code != how.code || !strings.Contains(string(out), how.want) {
		t.Errorf("$ %s\ngot exit %d, %v, want %d and %q:\n%s", line, code, err, how.code, how.want, out)
	}
}

// runUntil runs a line until it has printed something, and then stops it as whoever started it does.
func (h *house) runUntil(t *testing.T, line, in, want string) {
	t.Helper()
	cmd := h.shell(t, "exec "+line)
	told, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // what it exits with is looked at below
		_ = w.Close()
	}()
	stop := told.Close
	if in == "" {
		stop = func() error { return cmd.Process.Signal(os.Interrupt) }
	}
	_, err = io.WriteString(told, in)
	var said bytes.Buffer
	stopped := false
	for piece := make([]byte, 4096); err == nil; {
		var n int
		n, err = out.Read(piece)
		said.Write(piece[:n])
		if !stopped && strings.Contains(said.String(), want) {
			stopped, err = true, errors.Join(err, stop())
		}
	}
	if code := cmd.ProcessState.ExitCode(); !errors.Is(err, io.EOF) || !stopped || code != exitOK && code != exitStopped {
		t.Errorf("$ %s\nexit %d, %v; want %q and then to be stopped:\n%s", line, code, err, want, said.String())
	}
}

// What is no block of a page is not taken for one.
func TestBlocksOfAPageAreFound(t *testing.T) {
	got := blocks("text\n\n    tidemark a\n    tidemark b\n\n```yaml\nkey: 1\n\nother: 2\n```\n* item\n    goes on\n\n    a:\n\n    b:\ntext\n")
	if want := []string{"tidemark a\ntidemark b", "key: 1\n\nother: 2", "a:\n\nb:"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
