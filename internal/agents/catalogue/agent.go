// Package catalogue knows the agents: one file for each holds all that is particular to it.
// Everything that is the same for all of them is elsewhere and takes an entry: shim asks the
// server at an agent's hook, install writes hooks into its settings, settings compares them.
//
// An entry has two halves. Agent is what the hook program needs: the agent's names and those
// of its tools, how its payloads are read and answered, what turns its hooks off, what its
// contract cannot do. Setup is what the installer needs besides: where its settings are, what
// is written into them, how it is tried. The hook program is started for every call and asks
// for no Setup, so the linker leaves that half out of it; for the same reason this package
// imports next to nothing, and the little that needs more (TOML, plugin files) is in install.
//
// Agents fail open in different ways, and the same reply means different things to them. So
// the agent is named, never guessed, and an agent's own "ask" is used only where it is known that
// a person answers it: in most places a project's settings can. Nothing here touches the world.
//
// Invariants:
//   - the zero Kind, and an event nobody knows, are errors;
//   - input that is cut short, repeats a key or has a wrong type is an error;
//   - a tool gets the name of one of ours only from its agent's table;
//   - where an explicit allow would remove the agent's own question, passing is silence.
package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// Agent is what there is to know of an agent at its hooks. Read, Pass and Refuse are nil for
// one that starts no program there.
type Agent struct {
	Name string // on the command line, in records, before the names of its sessions

	Read   func(in Input, t *Tools) (*Event, error)
	Pass   func(e *Event, notice string) []byte
	Refuse func(e *Event, reason string) Reply
	Hold   func(e *Event, h Held) Reply                // a refusal that shows the person more; nil: like any other
	Alone  func() (file string, s settings.Switch)     // where the administrator says that there are no other hooks; nil: nowhere
	Dialog func(e *Event, s Setting) bool              // its dialog would ask about e, and only the person can answer; nil: never
	Ask    func(e *Event, question string) Reply       // makes that dialog ask
	Warn   func(e *Event, reason string) (Reply, bool) // its own form of a warning; nil, or false: exit code 1
	Change string                                      // its event before changed settings take effect; "": it has none
	Limits Limits
	// Kept is where its host keeps the record of a session, where no payload names it; nil: nowhere that calls can be told from.
	Kept func(env func(string) string, session string) string
	// Rewrite is how its commands are sent into a box; nil: they cannot be, and are asked about.
	Rewrite *Rewrite
	// Prefix is how they are sent there by a program that starts them all; nil: it cannot be told to use one.
	Prefix *Prefix

	Tools   *Tools // its own tools; nil: its events say which tool of ours it is
	Proxied bool   // its calls come by the LLM proxy too, under the same names
	// Answers are tools of its own by which it gives an answer in a form, and which do nothing: a program that reads has these alone.
	Answers []string

	Switches []settings.Switch // the settings that turn its hooks off
	// Reopens are settings by which a project gives texts of its own a shell that ours took from
	// them. Where one is set no prompt is taken, and no text loaded.
	Reopens []settings.Switch
	// Commands is a project's folder of texts that stand for a command's name in prompts; "": prompts hold the name.
	Commands string
	Starts   []Starter // what a project starts by itself when a session does
	Root     string    // the variable that names the project's folder; "": the working folder is all there is
	Watched  []string  // the files besides ours where they can stand, at home and in projects
}

// Setting is where a hook runs, besides what the agent says of the event.
type Setting struct {
	Alone bool // there are no hooks but the administrator's, and ours are among them
	Env   func(string) string
}

// Limits are what an agent's contract cannot do. The zero Limits are those of one that tells
// all.
type Limits struct {
	// Forgets says that not every result is reported. What a call can bring then counts
	// from the moment it may run.
	Forgets bool
	Apart   bool // its sub-agents are sessions of their own, and not parts of one
	Kin     bool // whose sub-agent a session is is said only when it starts
	Deaf    bool // started in some ways it runs no hook that hears what its user says
}

// Starter is a place where a project names programs that run unasked.
type Starter struct {
	File string   // below the project's folder
	Path []string // of an object that names them
	What string
}

// agents are all that are known. They are made once: the LLM proxy asks for names at every call.
var agents = []*Agent{
	claude(), codex(), gemini(), copilot(), cursor(), opencode(), openclaw(), goose(), droid(), kiro(), windsurf(), cline(),
}

// Names lists the agents that start a program at their hooks.
func Names() []string {
	var out []string
	for _, a := range agents {
		if a.Read != nil {
			out = append(out, a.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Find returns the agent of that name, if it starts a program at its hooks.
func Find(name string) (*Agent, error) {
	if a := Lookup(name); a != nil && a.Read != nil {
		return a, nil
	}
	return nil, fmt.Errorf("unknown agent %q (want one of %s)", name, strings.Join(Names(), ", "))
}

// Lookup returns the agent of that name; nil where there is none.
func Lookup(name string) *Agent {
	for _, a := range agents {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Decode reads a payload. The event's name on the command line is needed only for agents
// that do not send it; where both are there they must agree.
func (a *Agent) Decode(event string, body []byte) (*Event, error) {
	e, err := a.Read(Input{event, body}, a.Tools)
	if err != nil {
		return nil, fmt.Errorf("read %s event: %w", a.Name, err)
	}
	if e.Kind != Ignored && e.Session == "" {
		return nil, fmt.Errorf("read %s event: no session is named", a.Name)
	}
	return e, nil
}
