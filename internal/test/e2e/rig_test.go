//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// rig is how one agent is set up, run without a terminal, and what it calls its tools.
type rig struct {
	name     string // of the agent, and of its folder in the cache
	shell    string // the tool that runs commands
	sessions string // how its sessions' names begin at the server
	down     string // what is said about a call when there is no server
	alone    string // what the installer finds out of its hook alone; "" is blocked
	mute     string // what is said about a prompt then, where it is not the same
	api      string // where the proxy to models has what this agent speaks
	greets   bool   // its plugin shows the proxy that it is alive
	ends     bool   // a refusal ends its run, and neither model nor person reads the reason
	tells    bool   // it names itself to the proxy, which does not know its requests
	own      string // its tools, as the server's file lists them where its requests do not say whose they are
	deaf     bool   // no hook at prompts: what is asked for is not known, so less may follow a page

	lacks map[string]string // stories that its contract makes impossible, and why

	settle  func(w *world) error // writes the settings a user of this agent has, but not ours
	trust   func(w *world) error // tells it to trust the workspace, where its project hooks need that
	start   func(w *world) error // what has to run before the first turn
	env     func(w *world) []string
	command runner

	read  func(w *world, name string) step
	write func(w *world, name, content string) step
	run   func(w *world, command string) step
	fetch func(w *world) step   // reads the page
	page  func(w *world) string // the address the user gives for it

	server   string                    // how it calls the tools of a server named files, before their names; "": not tried
	attach   func(w *world) error      // gives it that server
	patch    func(patch string) step   // where it has a tool for patches; nil: none
	terminal func(command string) step // where it can run a command that is typed into later; nil: it cannot
}

// runner makes the command of one turn.
type runner func(ctx context.Context, w *world, prompt string, again bool) *exec.Cmd

func rigs() []*rig {
	return []*rig{claude(), codex(), gemini(), copilot(), opencode(), openclaw(), goose(), droid(), cline()}
}

// introduced are the headers by which an agent tells the proxy who it is; none where there
// is no proxy.
func (w *world) introduced() (obj, error) {
	if w.api == w.model.url {
		return obj{}, nil
	}
	var tokens struct {
		Agent string `json:"agent"`
	}
	raw, err := os.ReadFile(filepath.Join(w.data, "tokens.json"))
	if err == nil {
		err = strictjson.Unmarshal(raw, &tokens)
	}
	return obj{"X-Tidemark-Token": tokens.Agent, "X-Tidemark-Agent": w.rig.name}, err
}

// attached writes a file that names a server whose tools write files of the workspace.
func attached(w *world, dir, name string) error {
	raw, err := strictjson.Marshal(obj{"mcpServers": obj{"files": obj{"command": "node", "args": []any{filesServer(), w.work}}}})
	w.write(dir, name, string(raw))
	return err
}

// filesServer is its program.
func filesServer() string {
	return filepath.Join(cache(), "files", "node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js")
}

const notRunning = "no server is running"

// at is a file of the workspace as a full path, which most agents want.
func at(w *world, name string) string { return filepath.Join(w.work, name) }

// binary is an agent's program in the cache.
func binary(name string) string { return filepath.Join(cache(), "bin", name) }

// byCurl reads the page in the shell, for agents whose own fetching cannot reach it.
func byCurl(run func(w *world, command string) step) func(w *world) step {
	return func(w *world) step { return run(w, "curl -s "+pageAddress) }
}

func newsPage(*world) string { return pageAddress }

// localPage is the page under the address of the test's own server.
func localPage(w *world) string { return w.outside.url + "/today" }
