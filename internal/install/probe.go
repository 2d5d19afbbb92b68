package install

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// probe is the agent's own question about a command, and how it takes the answer. Both are
// written from the agents' contracts, not from our adapters.
type probe struct {
	body    func(session, cwd, command string) any
	refused func(done finished) bool
}

// finished is what a program left behind.
type finished struct {
	code     int
	out, err string
}

func byExit(d finished) bool { return d.code == 2 && strings.TrimSpace(d.err) != "" }

func cursorRefused(d finished) bool { return byExit(d) || answers(d.out, "permission", `"deny"`) }

func clineRefused(d finished) bool { return answers(d.out, "cancel", "true") }

func opencodeRefused(d finished) bool { return d.code != 0 || !answers(d.out, "allow", "true") }

// answers reports whether what was printed is one object with that member.
func answers(out, name, want string) bool {
	var v map[string]strictjson.Value
	return strictjson.Unmarshal([]byte(out), &v) == nil && string(v[name]) == want
}

func nestedProbe(event, tool string) func(session, cwd, command string) any {
	return func(session, cwd, command string) any {
		return map[string]any{
			"hook_event_name": event, "session_id": session, "cwd": cwd, "tool_name": tool,
			"tool_input": map[string]any{"command": command}, "tool_use_id": "canary",
		}
	}
}

func copilotProbe(session, cwd, command string) any {
	return map[string]any{"sessionId": session, "timestamp": 1, "cwd": cwd, "toolName": "bash", "toolArgs": map[string]any{"command": command}}
}

func gooseProbe(session, cwd, command string) any {
	return map[string]any{
		"event": "PreToolUse", "session_id": session, "tool_name": "developer__shell", "tool_call_id": "canary",
		"tool_input": map[string]any{"command": command}, "working_dir": cwd,
	}
}

func windsurfProbe(session, cwd, command string) any {
	return map[string]any{
		"agent_action_name": "pre_run_command", "trajectory_id": session, "execution_id": "canary",
		"tool_info": map[string]any{"command_line": command, "cwd": cwd},
	}
}

func clineProbe(session, _, command string) any {
	return map[string]any{
		"hookName": "tool_call", "taskId": session,
		"tool_call": map[string]any{"id": "canary", "name": "execute_command", "input": map[string]any{"command": command}},
	}
}

func opencodeProbe(session, _, command string) any {
	return map[string]any{
		"k": "tool.execute.before", "i": map[string]any{"tool": "bash", "sessionID": session, "callID": "canary"},
		"o": map[string]any{"args": map[string]any{"command": command}},
	}
}

// gateCommand is the command for calls exactly as it stands in the settings.
func (a *agent) gateCommand(w World) ([]string, error) {
	path, err := a.path(w)
	if err != nil {
		return nil, err
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	switch a.name {
	case "opencode":
		return opencodeCommand(src)
	case "cline":
		if !bytes.Contains(src, []byte(hookName)) && !bytes.Contains(src, []byte(filepath.Base(w.Hook))) {
			return nil, errNoHook
		}
		return []string{path}, nil
	case "openclaw":
		return nil, errNoHook
	}
	t, err := openText(path, src, true)
	if err != nil {
		return nil, err
	}
	n := t.find(a.gate.path...)
	if n == nil {
		return nil, errNoHook
	}
	for _, v := range n.values {
		if argv := a.argvOf(w, t.raw(v)); argv != nil {
			return argv, nil
		}
	}
	return nil, errNoHook
}

var errNoHook = errors.New("our hook is not in the settings")

func opencodeCommand(src []byte) ([]string, error) {
	m := opencodeHook.FindSubmatch(src)
	if m == nil {
		return nil, errNoHook
	}
	var argv []string
	if err := strictjson.Unmarshal(m[1], &argv); err != nil || len(argv) == 0 {
		return nil, errNoHook
	}
	return argv, nil
}

// argvOf reads an element; nil where it is not ours.
func (a *agent) argvOf(w World, raw strictjson.Value) []string {
	if a.gate.trigger != "" { // the list is for all events
		var r struct {
			Trigger string  `json:"trigger"`
			Action  handler `json:"action"`
		}
		if strictjson.Unmarshal(raw, &r) != nil || r.Trigger != a.gate.trigger {
			return nil
		}
		raw = value(r.Action)
	}
	if !isOurs(raw, w) {
		return nil
	}
	switch h := flatten(raw); {
	case h.Exec != "":
		return append([]string{h.Exec}, h.Args...)
	case len(h.Args) > 0:
		return append([]string{h.Command}, h.Args...)
	default:
		return []string{"/bin/sh", "-c", h.Command}
	}
}

// hooked reports whether our hook stands where it decides calls.
func (a *agent) hooked(w World) bool {
	if a.name == "openclaw" {
		return openclawHooked(w, a)
	}
	_, err := a.gateCommand(w)
	return err == nil
}

func openclawHooked(w World, a *agent) bool {
	path, err := a.path(w)
	if err != nil {
		return false
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	t, err := openText(path, src, false)
	if err != nil {
		return false
	}
	n := t.find("plugins", "entries", "tidemark", "enabled")
	return n != nil && sameJSON(t.raw(n), value(true))
}

// hookLimit bounds the trial of the hook alone; it answers by itself long before.
const hookLimit = 90 * time.Second

// TryHook starts the hook exactly as the settings say, with the agent's own question about
// a command that must be refused.
func TryHook(ctx context.Context, w World, agent string) (Trial, error) {
	a, err := find(agent)
	if err != nil {
		return Trial{}, err
	}
	if a.probe.body == nil {
		return Trial{How: a.title + "'s plugin runs inside its gateway, so there is no hook to try alone"}, nil
	}
	argv, err := a.gateCommand(w)
	if err != nil {
		return Trial{How: err.Error()}, nil
	}
	folder, err := os.MkdirTemp("", "tidemark-canary-")
	if err != nil {
		return Trial{}, fmt.Errorf("try hook: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is in the system's temporary folder
	body, err := strictjson.Marshal(a.probe.body("canary-"+strings.ToLower(rand.Text()[:10]), folder, "echo "+tool.Canary))
	if err != nil {
		return Trial{}, fmt.Errorf("try hook: %w", err)
	}
	done, err := start(ctx, argv, folder, body)
	if err != nil {
		return Trial{Ran: true, How: fmt.Sprintf("the hook cannot be started: %v", err)}, nil
	}
	if !a.probe.refused(done) {
		return Trial{Ran: true, How: fmt.Sprintf("the hook let it pass (exit code %d): %s", done.code, shorten(done.out+done.err))}, nil
	}
	return Trial{Ran: true, Blocked: true, How: reasonOf(done.out + " " + done.err)}, nil
}

// reasonOf says why a call was refused: by the server, or because there is none.
func reasonOf(text string) string {
	switch {
	case strings.Contains(text, "is a canary"):
		return "refused by the server, rule canary"
	case strings.Contains(text, "no server is running"):
		return "refused, because no server is running (start it: tidemark serve)"
	}
	return "refused: " + shorten(text)
}

func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// start runs a program on one input.
func start(ctx context.Context, argv []string, dir string, in []byte) (finished, error) {
	ctx, cancel := context.WithTimeout(ctx, hookLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the command that stands in the person's own settings
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = dir, bytes.NewReader(in), time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	exit := new(exec.ExitError)
	if err != nil && !errors.As(err, &exit) {
		return finished{}, err
	}
	return finished{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}, nil
}
