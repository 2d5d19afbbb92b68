package install

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
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
		"event": "PreToolUse", "session_id": session, "tool_name": "shell", "tool_call_id": "canary",
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
		"tool_call": map[string]any{"id": "canary", "name": "run_commands", "input": map[string]any{"commands": []string{command}}},
	}
}

func opencodeProbe(session, _, command string) any {
	return map[string]any{
		"k": "tool.execute.before", "i": map[string]any{"tool": "bash", "sessionID": session, "callID": "canary"},
		"o": map[string]any{"args": map[string]any{"command": command}},
	}
}

// gateCommand is the command for calls as it stands in the settings, if it is ours. Any
// other is not even read further: in a project anybody could have written it.
func (a *agent) gateCommand(w World) ([]string, error) {
	path, err := a.path(w)
	if err != nil {
		return nil, err
	}
	src, err := w.readFile(path)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	switch a.name {
	case "opencode":
		if w.Project != "" && !opencodeAlike(src) { // the agent would run whatever else is in it
			return nil, errNoHook
		}
		return a.mayStart(w, opencodeCommand(src))
	case "cline":
		return a.mayStart(w, clineCommand(src))
	case "openclaw":
		return nil, errNoHook
	}
	d, err := settings.Parse(src, true)
	if err != nil {
		return nil, fmt.Errorf("read settings %s: %w", path, err)
	}
	n := d.Find(a.gate.path...)
	if n == nil {
		return nil, errNoHook
	}
	for _, v := range n.Values {
		if argv := a.argvOf(w, d.Raw(v)); argv != nil {
			return argv, nil
		}
	}
	return nil, errNoHook
}

// startable are the arguments that our hooks have in settings.
var startable = []string{"--agent", "--event", "--data", "--timeout", "--wait", "--sender", "--installed"}

// mayStart returns the command if it is our program, for this agent and this data folder.
func (a *agent) mayStart(w World, argv []string) ([]string, error) {
	if len(argv) == 0 || !slices.Contains(w.programs(), argv[0]) || len(argv)%2 == 0 {
		return nil, errNoHook
	}
	given := map[string]string{}
	for pair := range slices.Chunk(argv[1:], 2) {
		if _, twice := given[pair[0]]; twice || !slices.Contains(startable, pair[0]) {
			return nil, errNoHook
		}
		given[pair[0]] = pair[1]
	}
	if given["--agent"] != a.name || given["--data"] != w.Data {
		return nil, errNoHook
	}
	return argv, nil
}

var errNoHook = errors.New("our hook is not in the settings")

func opencodeCommand(src []byte) []string {
	m := opencodeHook.FindSubmatch(src)
	if m == nil {
		return nil
	}
	var argv []string
	if strictjson.Unmarshal(m[1], &argv) != nil {
		return nil
	}
	return argv
}

// argvOf reads an element; nil where it is not ours.
func (a *agent) argvOf(w World, raw strictjson.Value) []string {
	if a.gate.trigger != "" { // the list is for all events
		var r struct {
			Trigger string `json:"trigger"`
		}
		if strictjson.Unmarshal(raw, &r) != nil || r.Trigger != a.gate.trigger {
			return nil
		}
	}
	for _, h := range settings.Handlers(raw) {
		if argv, err := a.mayStart(w, h.Argv()); err == nil {
			return argv
		}
	}
	return nil
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
	d, err := a.reader(w).Open(path)
	if err != nil {
		return false
	}
	n := d.Find("plugins", "entries", "tidemark", "enabled")
	return n != nil && settings.Same(d.Raw(n), value(true))
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
	m, err := readRecord(w, a.name)
	if err != nil {
		m = nil // said by Inspect; our program is known without it
	}
	argv, err := a.gateCommand(w.since(m))
	if err != nil {
		return Trial{How: err.Error()}, nil
	}
	if why := a.cannotStart(w); why != "" {
		return Trial{Ran: true, How: "the hook could not be started: " + why}, nil
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
		return Trial{Ran: true, How: fmt.Sprintf("the hook could not be started: %v", err)}, nil
	}
	if !a.probe.refused(done) {
		return Trial{Ran: true, How: fmt.Sprintf("the hook let it pass (exit code %d): %s", done.code, shorten(done.out+done.err))}, nil
	}
	return Trial{Ran: true, Blocked: true, How: reasonOf(done.out + " " + done.err)}, nil
}

// cannotStart says why the agent cannot start a hook that is a file of its own.
func (a *agent) cannotStart(w World) string {
	path, err := a.path(w)
	if err != nil || a.name != "cline" {
		return ""
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o111 == 0 {
		return path + " is not marked as a program"
	}
	return ""
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
	s = printable(s)
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// printable is text of others on one line, without what a terminal would obey.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.Join(strings.Fields(s), " ")
}

// start runs a program on one input.
func start(ctx context.Context, argv []string, dir string, in []byte) (finished, error) {
	ctx, cancel := context.WithTimeout(ctx, hookLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // our own program: see mayStart
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
