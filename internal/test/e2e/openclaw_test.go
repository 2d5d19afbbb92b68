//go:build e2e

package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

const gatewayToken = "token-of-this-test"

// openclaw is OpenClaw: a gateway that a small client speaks to. Its own web fetch is used.
func openclaw() *rig {
	return &rig{
		name: "openclaw", shell: "exec", sessions: "agent:main:", down: "Tidemark could not be asked", alone: "could not be tried",
		api: "/llm/" + greeted, greets: true, settle: settleOpenclaw, start: startGateway,
		env: func(w *world) []string {
			return []string{
				"PATH=" + strings.Join([]string{newerNode(), filepath.Join(cache(), "bin"), os.Getenv("PATH")}, string(filepath.ListSeparator)),
				"OPENCLAW_STATE_DIR=" + filepath.Join(w.home, ".openclaw"), "OPENCLAW_CONFIG_PATH=" + openclawConfig(w),
				"OPENCLAW_GATEWAY_TOKEN=" + gatewayToken, "OPENCLAW_NO_RESPAWN=1",
			}
		},
		command: func(ctx context.Context, w *world, prompt string, _ bool) *exec.Cmd {
			script, err := filepath.Abs("testdata/say.mjs")
			if err != nil {
				w.t.Fatal(err)
			}
			return exec.CommandContext(ctx, filepath.Join(newerNode(), "node"), script, strconv.Itoa(w.port), gatewayToken, "agent:main:story", prompt)
		},
		read: func(_ *world, name string) step { return step{tool: "read", args: obj{"path": name}} },
		write: func(_ *world, name, content string) step {
			return step{tool: "write", args: obj{"path": name, "content": content}}
		},
		run: func(_ *world, command string) step { return step{tool: "exec", args: obj{"command": command}} },
		fetch: func(w *world) step {
			return step{tool: "tool_call", args: obj{"id": "web_fetch", "args": obj{"url": localPage(w)}}}
		},
		page: localPage,
	}
}

// agentExec is its other way to run a turn: alone, without the gateway and without plugins.
func agentExec(ctx context.Context, w *world, prompt string, _ bool) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join(newerNode(), "node"), binary("openclaw"), "agent", "exec", "--config", openclawConfig(w), "--cwd", w.work, "--json", prompt)
}

func newerNode() string { return filepath.Join(cache(), "node24", "node_modules", "node", "bin") }

func openclawConfig(w *world) string { return filepath.Join(w.home, ".openclaw", "openclaw.json") }

// settleOpenclaw writes what any user of the gateway has: a model, a workspace, a port.
func settleOpenclaw(w *world) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.port = l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return err
	}
	raw, err := strictjson.MarshalIndent(obj{
		"agents": obj{"defaults": obj{"model": obj{"primary": "scripted/m"}, "workspace": w.work, "skipBootstrap": true}},
		"models": obj{"mode": "replace", "providers": obj{"scripted": obj{
			"baseUrl": w.api + "/v1", "apiKey": "none", "api": "openai-completions",
			"models": []any{obj{
				"id": "m", "name": "m", "reasoning": false, "input": []any{"text"}, "contextWindow": 128000, "maxTokens": 8192,
				"cost": obj{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			}},
		}}},
		"tools":     obj{"web": obj{"fetch": obj{"ssrfPolicy": obj{"dangerouslyAllowPrivateNetwork": true}}}},
		"gateway":   obj{"mode": "local", "port": w.port, "bind": "loopback", "auth": obj{"mode": "token", "token": gatewayToken}, "controlUi": obj{"enabled": false}},
		"hooks":     obj{"enabled": true, "token": hookToken},
		"discovery": obj{"mdns": obj{"mode": "off"}},
	})
	if err == nil {
		w.write(w.home, ".openclaw/openclaw.json", string(raw))
	}
	return err
}

// gatewayLog is what the gateway prints.
func gatewayLog(w *world) string { return filepath.Join(filepath.Dir(w.home), "gateway.log") }

// startGateway starts the gateway and waits until it is ready.
func startGateway(w *world) error {
	cmd := exec.Command(filepath.Join(newerNode(), "node"), binary("openclaw"), "gateway", "run", "--port", strconv.Itoa(w.port), "--bind", "loopback")
	cmd.Env, cmd.Dir = w.environment(), w.work
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	w.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	log, err := os.Create(gatewayLog(w))
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(io.TeeReader(out, log))
	for lines.Scan() {
		if strings.Contains(lines.Text(), "[gateway] ready") {
			go func() {
				_, _ = io.Copy(log, out)
				_ = log.Close()
			}()
			return nil
		}
	}
	return fmt.Errorf("the gateway ended before it was ready; see %s", log.Name())
}
