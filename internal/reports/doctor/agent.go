package doctor

import (
	"context"
	"strings"
)

// State is how an agent stands.
type State struct {
	Version   string
	Found     bool // its program is on this machine
	Hooked    bool // our hook is where it decides calls
	Intact    bool // the settings are as they were written
	Files     []string
	Problems  []string
	FailsOpen []Case // when it would run a tool without asking
}

// Case is when an agent would run a tool without asking, and what rules it out.
type Case struct{ Name, Text, Fix string }

// Agent is one agent and how to examine it.
type Agent struct {
	Name    string
	Asked   bool // somebody named it: its absence is a fault
	Inspect func(ctx context.Context) (State, error)
	Hook    *Door                      // the hook as the settings have it; nil: it has none that can be tried alone
	Real    *Door                      // the agent itself with a scripted model; nil: not now
	Holes   []Hole                     // of a host that does not ask its plugin about everything; they close in the path of its models
	Models  *Models                    // where those come from
	Server  string                     // where ours is
	Boxes   func(version string) Boxes // how its commands and boxes stand; nil: nothing is said of them
}

// Boxes is how an agent's commands and boxes stand. The zero value is that they are asked about.
type Boxes struct {
	On   bool   // commands run in boxes
	Off  bool   // nobody has asked for that
	Text string // why, or since when
	Fix  string
}

// CheckAgent looks at an agent's program, settings and hook.
func CheckAgent(a Agent) Check {
	return Check{Name: a.Name, Run: func(ctx context.Context) []Finding {
		f := found{about: a.Name}
		s, err := a.Inspect(ctx)
		switch {
		case err != nil:
			f.add(Broken, "settings", err.Error(), "")
		case !s.Hooked:
			f.unhooked(a, s)
		default:
			f.hooked(a, s)
			if a.Boxes != nil {
				f.boxes(a.Boxes(s.Version))
			}
			if a.Hook != nil {
				f.try(ctx, *a.Hook, Broken)
			}
			if a.Real != nil {
				f.try(ctx, *a.Real, Limit)
			}
		}
		return f.list
	}}
}

// boxes is one row. Commands that are not boxed are asked about, which is no fault.
func (f *found) boxes(b Boxes) {
	switch {
	case b.On:
		f.add(Good, "boxes", "boxed: "+b.Text, b.Fix)
	case b.Off:
		f.add(Off, "boxes", "not boxed: "+b.Text, b.Fix)
	default:
		f.add(Limit, "boxes", "not boxed, and asked about: "+b.Text, b.Fix)
	}
}

// absent is an agent that is not here at all.
const absent = "not on this machine"

// unhooked is an agent that nobody guards. That is a fault where somebody believes
// otherwise: it was asked for, or its hooks were there once.
func (f *found) unhooked(a Agent, s State) {
	grade := Off
	if a.Asked || len(s.Problems) > 0 {
		grade = Broken
	}
	if s.Found {
		f.add(grade, "hooks", strings.TrimSpace("found "+s.Version)+"; it runs without Tidemark", "tidemark install "+a.Name)
	} else {
		f.add(grade, "program", absent, "")
	}
	for _, p := range s.Problems {
		f.add(Broken, "settings", p, "tidemark install "+a.Name)
	}
}

// mend is what helps against a problem. A setting that somebody else wrote into a file of
// theirs is nothing that install would touch.
func mend(agent, problem string) string {
	if strings.Contains(problem, "turns the hooks off") {
		return "take it out of that file; sudo tidemark install " + agent + " --managed rules it out where the agent has such settings"
	}
	if strings.Contains(problem, "in place of our hooks") {
		return "look at it, and remove it"
	}
	return "tidemark install " + agent
}

func (f *found) hooked(a Agent, s State) {
	switch {
	case s.Version != "":
		f.add(Good, "program", s.Version, "")
	case s.Found:
		f.add(Limit, "program", "its version could not be found; the settings are for the newest one known", "")
	default:
		f.add(Limit, "program", "not on this machine's PATH; hooks are in its settings all the same, and what its version does "+
			"with them is not known until it is there", "")
	}
	if s.Intact {
		f.add(Good, "hooks", "active, as installed: "+strings.Join(s.Files, ", "), "")
	}
	for _, p := range s.Problems {
		f.add(Broken, "settings", p, mend(a.Name, p))
	}
	if !s.Intact && len(s.Problems) == 0 {
		f.add(Broken, "settings", "not as installed", "tidemark install "+a.Name)
	}
	if len(a.Holes) > 0 {
		f.addHoles(a)
		return
	}
	for _, c := range s.FailsOpen {
		if s.Found || a.Asked {
			f.add(Open, c.Name, c.Text, c.Fix)
		} else { // no program, no call: nothing runs past us today
			f.add(Limit, c.Name, "once its program is here: "+c.Text, c.Fix)
		}
	}
	if len(s.FailsOpen) == 0 {
		f.add(Good, "fails closed", "every known way past its hooks is ruled out here (the list: docs/dev/agents.md)", "")
	}
}

// Limits says what no check can find.
func Limits() Check {
	return Check{Name: "limits", Run: func(context.Context) []Finding {
		f := found{about: "limits"}
		f.add(Limit, "same user",
			"an agent with a shell of the same user can edit its own settings, read the tokens and speak to the server in an owner's name",
			"settings managed by the administrator (tidemark install --managed), and the server under another user")
		f.add(Limit, "data as code",
			"a file that an agent wrote is judged by its text when it runs: code that takes names or more code out of a data file, "+
				"unpickles, or computes what it loads is not understood, and runs unasked",
			"tidemark install AGENT --box: it then runs without network and secrets")
		f.add(Limit, "files that run later",
			"files that usual tools run by themselves (eslint.config.mjs, vitest.config.ts, conf.py, noxfile.py, tasks.py, __init__.py) "+
				"are written unasked after something from outside was read; they are labelled, and running them is judged as the line above says",
			"tidemark install AGENT --box; tidemark trust labels shows what was written so")
		f.add(Limit, "signs of life",
			"heartbeats and hook events are not verified: whoever has the agent token can send them", "")
		return f.list
	}}
}
