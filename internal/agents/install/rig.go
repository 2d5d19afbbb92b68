package install

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	cut "github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/tool"
)

// rig is a place where the real agent runs for one question: a home and a working folder of
// its own, with nothing in them but our hooks as they stand in the real settings, and a
// model that is a script on loopback. No credentials and no settings of the model get in.
type rig struct {
	w       World
	record  *settings.Record // nil where there is none
	agent   *agent
	program string
	home    string
	work    string
	marker  string // the file that must not appear
	url     string // of the scripted model
}

// How long a trial of a real agent may take: in all, and without a sign of it, which is something that it prints or asks the model. On a
// machine with much to do an agent needs minutes to start.
const (
	agentLimit = 10 * time.Minute
	quietLimit = 4 * time.Minute
)

// TryAgent runs the real agent, without a terminal, and lets a scripted model ask for a
// command that must not run.
func TryAgent(ctx context.Context, w World, agent string) (Trial, error) {
	return onStage(ctx, w, agent, func(r *rig) (Trial, error) { return r.run(ctx) })
}

// onStage makes the place of a trial, for an agent that can be tried.
func onStage(ctx context.Context, w World, agent string, try func(r *rig) (Trial, error)) (Trial, error) {
	a, err := find(agent)
	if err != nil {
		return Trial{}, err
	}
	m, err := readRecord(w, a.Name)
	if err != nil {
		m = nil // said by Inspect; our program is known without it
	}
	program, _ := a.locate(ctx, w)
	switch {
	case a.Trial == nil:
		return Trial{How: a.Title + " cannot be run by a script with a model of ours"}, nil
	case program == "":
		return Trial{How: a.Title + " was not found on PATH"}, nil
	case !a.hooked(w.since(m)):
		return Trial{How: errNoHook.Error()}, nil
	}
	folder, err := os.MkdirTemp("", "tidemark-trial-")
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder) // as the agent names it
	}
	if err != nil {
		return Trial{}, fmt.Errorf("try agent: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is in the system's temporary folder
	r := &rig{w: w.since(m), record: m, agent: a, program: program, home: filepath.Join(folder, "home"),
		work: filepath.Join(folder, "work")}
	r.marker = filepath.Join(r.work, "ran")
	if err := errors.Join(os.Mkdir(r.home, 0o700), os.Mkdir(r.work, 0o700)); err != nil {
		return Trial{}, fmt.Errorf("try agent: %w", err)
	}
	return try(r)
}

func (r *rig) run(ctx context.Context) (Trial, error) {
	m := &model{command: "echo " + tool.Canary + " > " + settings.Word(r.marker)}
	l, printed, late, err := r.play(ctx, m)
	if err != nil {
		return Trial{}, err
	}
	return r.judge(m, l, printed, late), nil
}

// play runs the agent once with the model.
func (r *rig) play(ctx context.Context, m *model) (l catalogue.Launch, printed string, late, err error) {
	stop, err := r.serve(m)
	if err != nil {
		return l, "", nil, err
	}
	defer stop()
	if l, err = r.prepare(); err != nil {
		return l, "", nil, fmt.Errorf("try agent: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, agentLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.program, l.Args...) //nolint:gosec // the agent that was found
	cmd.Dir, cmd.WaitDelay = r.work, 2*time.Second
	cmd.Env = append([]string{
		"HOME=" + r.home, "PATH=" + r.path(), "TERM=dumb", "LANG=C.UTF-8", "NO_COLOR=1", "TMPDIR=" + filepath.Dir(r.home),
	}, l.Env...)
	said := &lively{signs: m.signs}
	cmd.Stdout, cmd.Stderr = said, said
	ended := said.watch(quietLimit, cancel)
	_ = cmd.Run() // what happened is told by the file and the model
	ended()
	return l, said.String(), ctx.Err(), nil
}

// judge says what happened from what can be seen: the file, what the model was told, and
// what the agent printed.
func (r *rig) judge(m *model, l catalogue.Launch, printed string, late error) Trial {
	asked, told := m.seen()
	if _, err := os.Stat(r.marker); err == nil {
		return Trial{Ran: true, How: "the command RAN: the agent did not ask, or did not heed the answer"}
	}
	all := told + " " + printed
	switch {
	case strings.Contains(all, "is a canary"):
		return Trial{Ran: true, Blocked: true, How: "refused by the server, rule canary"}
	case strings.Contains(all, "no server is running"):
		return Trial{Ran: true, Blocked: true, How: "refused, because no server is running (start it: tidemark serve)"}
	case strings.Contains(all, "Tidemark: "):
		return Trial{Ran: true, Blocked: true, How: "refused: " + shorten(all[strings.Index(all, "Tidemark: "):])}
	case l.Ended != "" && asked && strings.Contains(printed, l.Ended): // no other hook is there
		return Trial{Ran: true, Blocked: true, How: "refused: the hook ended the run"}
	case late != nil:
		return Trial{How: "the agent did not finish in time: " + lastWords(printed)}
	case !asked:
		return Trial{How: "the agent did not ask the scripted model for anything: " + lastWords(printed)}
	}
	return Trial{How: "the command did not run, but not because of us: " + lastWords(all)}
}

func lastWords(s string) string {
	s = printable(s)
	if len(s) > 300 {
		s = cut.Ellipsis + cut.Tail(s, 300)
	}
	return s
}

func (r *rig) path() string {
	if r.w.Getenv != nil {
		return r.w.Getenv("PATH")
	}
	return os.Getenv("PATH")
}

// serve starts the model.
func (r *rig) serve(m *model) (stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start scripted model: %w", err)
	}
	r.url = "http://" + listener.Addr().String()
	srv := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(listener) // ends when it is closed
	}()
	return func() {
		_ = srv.Close()
		<-done
	}, nil
}
