// Package install puts Tidemark's hooks into the settings of coding agents, takes them out
// again, and finds out whether they hold: it compares the settings with what was written,
// and tries a call that must be blocked, first on the hook alone and then on the real agent
// with a scripted model.
//
// Settings belong to their owner. So:
//   - a file is changed by splicing bytes: other keys, their order and comments stay;
//   - a file that cannot be read for certain is refused with the place, and nothing changes;
//   - all files are planned before the first is written; each is written whole or not at
//     all, after a copy was kept;
//   - installing twice changes nothing, and uninstalling gives the bytes of before;
//   - the trial runs in a folder of its own, with no credentials and no model but ours;
//   - the zero State, the zero Trial and whatever cannot be read count as not hooked, not
//     tried, not intact.
//
// It reads and writes files, starts the agents' programs to ask their version and for the
// trial, and serves the scripted model on loopback.
package install

import (
	"context"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

// World is where agents are looked for and what is put there.
type World struct {
	Home    string // of the person whose agents these are
	Data    string // Tidemark's data folder
	Hook    string // path of tidemark-hook
	Project string // a project's folder; "" is the user's own settings
	Managed bool   // the settings of the machine's administrator, where the agent has them
	Root    string // what comes before /etc; "" outside tests
	Getenv  func(string) string

	earlier string // the hook program of the installation on record
}

// Options are passed on to the hook. The zero Options are its defaults.
type Options struct {
	Timeout time.Duration // 0 is the hook's default
	Wait    time.Duration
	Sender  string // "", "owner" or "unknown"
	Start   bool   // the hook starts the server where none runs; in a user's own settings alone
	Box     bool   // its commands are sent into boxes; in a user's own settings alone
}

// State is how an agent stands.
type State struct {
	Agent     string   `json:"agent"`
	Program   string   `json:"program"` // path; "" where it is not on PATH
	Version   string   `json:"version"`
	Found     bool     `json:"found"`
	Hooked    bool     `json:"hooked"` // our hook is in the settings where it decides calls
	Intact    bool     `json:"intact"` // the settings are as we wrote them, and nothing turns them off
	Files     []string `json:"files"`
	Problems  []string `json:"problems"`
	FailsOpen []Case   `json:"failsOpen"` // when this agent would run a tool without asking us
}

// Inspect looks at an agent and its settings. It starts the agent only to ask its version.
func Inspect(ctx context.Context, w World, agent string) (State, error) {
	a, err := find(agent)
	if err != nil {
		return State{}, err
	}
	s := State{Agent: a.Name}
	s.Program, s.Version = a.locate(ctx, w)
	s.Found = s.Program != ""
	s.FailsOpen = a.failsOpen(w, s.Found, s.Version)
	m, problems := verify(w, a)
	s.Problems = problems
	s.Hooked = a.hooked(w.since(m))
	s.Intact = s.Hooked && m != nil && len(problems) == 0
	if m != nil {
		for _, f := range m.Files {
			s.Files = append(s.Files, f.Path)
		}
	}
	return s, nil
}

// Verify says in words what differs from what was installed. Nothing to say is good news
// only where something is installed.
func Verify(w World, agent string) ([]string, error) {
	a, err := find(agent)
	if err != nil {
		return nil, err
	}
	_, problems := verify(w, a)
	return problems, nil
}

// Trial is what came of a call that must be blocked.
type Trial struct {
	Ran     bool   `json:"ran"`     // it could be tried
	Blocked bool   `json:"blocked"` // the call did not run
	How     string `json:"how"`     // what really happened
}

// file is where a file of the user's is.
func (w World) file(p catalogue.Place) string {
	if whole := w.env(p.Whole); whole != "" {
		return whole
	}
	folder := w.env(p.Variable)
	if folder == "" {
		folder = filepath.Join(w.Home, filepath.FromSlash(p.Home))
	}
	return filepath.Join(folder, filepath.FromSlash(p.File))
}

// env is a variable of the world; no name has no value.
func (w World) env(name string) string {
	if name == "" || w.Getenv == nil {
		return ""
	}
	return w.Getenv(name)
}
