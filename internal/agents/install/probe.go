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

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	cut "github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/tool"
)

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
	switch {
	case a.Inside():
		return nil, errNoHook
	case a.script != nil:
		if w.Project != "" && !a.script.Alike(src) { // the agent would run whatever else is in it
			return nil, errNoHook
		}
		return a.mayStart(w, a.script.Command(src))
	}
	d, err := settings.Parse(src, true)
	if err != nil {
		return nil, fmt.Errorf("read settings %s: %w", path, err)
	}
	n := d.Find(a.Gate.Path...)
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

// startFlag is the one of them without a value.
const startFlag = "--start"

// mayStart returns the command if it is our program, for this agent and this data folder.
func (a *agent) mayStart(w World, argv []string) ([]string, error) {
	if len(argv) == 0 || !slices.Contains(w.programs(), argv[0]) {
		return nil, errNoHook
	}
	words := slices.Clone(argv[1:])
	if i := slices.Index(words, startFlag); i%2 == 0 { // the one argument without a value
		words = slices.Delete(words, i, i+1)
	}
	if len(words)%2 != 0 {
		return nil, errNoHook
	}
	given := map[string]string{}
	for pair := range slices.Chunk(words, 2) {
		if _, twice := given[pair[0]]; twice || !slices.Contains(startable, pair[0]) {
			return nil, errNoHook
		}
		given[pair[0]] = pair[1]
	}
	if given["--agent"] != a.Name || given["--data"] != w.Data {
		return nil, errNoHook
	}
	return argv, nil
}

var errNoHook = errors.New("our hook is not in the settings")

// argvOf reads an element; nil where it is not ours.
func (a *agent) argvOf(w World, raw strictjson.Value) []string {
	if a.Gate.Trigger != "" { // the list is for all events
		var r struct {
			Trigger string `json:"trigger"`
		}
		if strictjson.Unmarshal(raw, &r) != nil || r.Trigger != a.Gate.Trigger {
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
	if a.Inside() {
		return a.turnedOn(w)
	}
	_, err := a.gateCommand(w)
	return err == nil
}

// turnedOn reports whether the settings of a host say that our plugin is on.
func (a *agent) turnedOn(w World) bool {
	path, err := a.path(w)
	if err != nil {
		return false
	}
	d, err := a.reader(w).Open(path)
	if err != nil {
		return false
	}
	n := d.Find(a.Gate.Path...)
	return n != nil && settings.Same(d.Raw(n), strictjson.Value(a.Gate.On))
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
	if a.Probe == nil {
		return Trial{How: a.Title + "'s plugin runs inside its gateway, so there is no hook to try alone"}, nil
	}
	m, err := readRecord(w, a.Name)
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
	body, err := strictjson.Marshal(a.Probe("canary-"+strings.ToLower(rand.Text()[:10]), folder, "echo "+tool.Canary))
	if err != nil {
		return Trial{}, fmt.Errorf("try hook: %w", err)
	}
	done, err := start(ctx, argv, folder, body)
	if err != nil {
		return Trial{Ran: true, How: fmt.Sprintf("the hook could not be started: %v", err)}, nil
	}
	if !a.Refused(done) {
		return Trial{Ran: true, How: fmt.Sprintf("the hook let it pass (exit code %d): %s", done.Code, shorten(done.Out+done.Err))}, nil
	}
	return Trial{Ran: true, Blocked: true, How: reasonOf(done.Out + " " + done.Err)}, nil
}

// cannotStart says why the agent cannot start a hook that is a program of its own.
func (a *agent) cannotStart(w World) string {
	files, err := a.files(w, Options{})
	if err != nil || files[0].Mode&0o111 == 0 {
		return ""
	}
	if info, err := os.Stat(files[0].Path); err == nil && info.Mode().Perm()&0o111 == 0 {
		return files[0].Path + " is not marked as a program"
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
		s = cut.Head(s, 300) + cut.Ellipsis
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
func start(ctx context.Context, argv []string, dir string, in []byte) (catalogue.Printed, error) {
	ctx, cancel := context.WithTimeout(ctx, hookLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // our own program: see mayStart
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = dir, bytes.NewReader(in), time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	exit := new(exec.ExitError)
	if err != nil && !errors.As(err, &exit) {
		return catalogue.Printed{}, err
	}
	return catalogue.Printed{Code: cmd.ProcessState.ExitCode(), Out: out.String(), Err: errOut.String()}, nil
}
