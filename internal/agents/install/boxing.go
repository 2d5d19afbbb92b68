package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/tool"
)

// BoxTrial is how the trial of an agent's boxes is watched from outside.
type BoxTrial struct {
	Begin func(folder string) error        // before the agent starts: its commands in this folder, and no others, go to boxes
	Boxed func(folder string) (int, error) // how many commands have run in boxes for this folder
}

// TryBox runs the real agent, without a terminal, and lets a scripted model ask for a harmless command that is to run in a box. Blocked
// says that it ran there and nowhere else.
func TryBox(ctx context.Context, w World, agent string, b BoxTrial) (Trial, error) {
	return onStage(ctx, w, agent, func(r *rig) (Trial, error) {
		if err := b.Begin(r.work); err != nil {
			return Trial{}, err
		}
		beside := filepath.Join(filepath.Dir(r.work), "beside") // no box has it
		m := &model{command: fmt.Sprintf("echo %s > %s; echo outside > %s; exit 0",
			tool.BoxCanary, settings.Word(r.marker), settings.Word(beside))}
		_, printed, late, err := r.play(ctx, m)
		if err != nil {
			return Trial{}, err
		}
		asked, told := m.seen()
		boxed, err := b.Boxed(r.work)
		ran := strings.TrimSpace(first(os.ReadFile(r.marker))) == tool.BoxCanary
		switch {
		case Exists(beside):
			return Trial{Ran: true, How: "the command ran OUTSIDE its box: this version does not run what it is told to"}, nil
		case err != nil:
			return Trial{How: "the boxes could not be counted: " + err.Error()}, nil //nolint:nilerr // the trial says so
		case ran && boxed > 0:
			return Trial{Ran: true, Blocked: true, How: "a command of the scripted model ran in its box, and nowhere else"}, nil
		case late != nil:
			return Trial{How: "the agent did not finish in time: " + lastWords(printed)}, nil //nolint:nilerr // likewise
		case !asked:
			return Trial{How: "the agent did not ask the scripted model for anything: " + lastWords(printed)}, nil
		}
		return Trial{How: "the command did not run: " + lastWords(told+" "+printed)}, nil
	})
}

func first(raw []byte, _ error) string { return string(raw) }

// PrefixTaken is a program of somebody else's that the agent starts its commands with already, by its user's settings; "": none, or the
// agent cannot be told to use one.
func PrefixTaken(w World, agent string) string {
	a, err := find(agent)
	if err != nil || a.Prefix == nil {
		return ""
	}
	own := w.env(a.Prefix.Variable)
	if path, err := a.path(w); err == nil && len(a.Prefix.Setting) > 0 {
		if d, err := a.reader(w).Open(path); err == nil {
			if n := d.Find(a.Prefix.Setting...); n != nil {
				own = strings.Trim(string(d.Raw(n)), `"`)
			}
		}
	}
	if strings.HasPrefix(own, w.Data+string(filepath.Separator)) {
		return ""
	}
	return own
}

// OwnSandbox says that a sandbox of the agent's own is on by its user's settings, in which no command reaches a box; "": none is known
// to be.
func OwnSandbox(w World, agent string) string {
	a, err := find(agent)
	if err != nil || a.Sandbox == nil {
		return ""
	}
	path, err := a.path(w)
	if err != nil {
		return ""
	}
	if (a.reader(w)).Set(path, *a.Sandbox) {
		return fmt.Sprintf("%s: %s is on, and a command in that sandbox reaches no box, so that it does not run",
			path, strings.Join(a.Sandbox.Path, "."))
	}
	return ""
}
