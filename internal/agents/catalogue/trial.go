package catalogue

import (
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Words are what an agent is asked to do in a trial; the scripted model does the rest.
const Words = "please run the probe"

// Stage is where the real agent is tried: a home and a working folder of its own, and a
// model that is a script.
type Stage struct {
	Home, Work string
	Model      string // address of the model
	Project    bool   // our hooks are a project's, and Work plays it
	Trusted    bool   // the agent takes hooks from the project
	Data       string // our own folder, for a plugin that is no program of ours
}

// Launch is how an agent is run there: without a terminal, allowed to do everything but what
// a hook forbids, and with its model's address set to ours.
type Launch struct {
	Args  []string
	Env   []string
	With  map[string]any // what stands in the file with our hooks besides
	User  map[string]any // what must stand in the user's settings for it to run
	Files []Aside
	// Fetched is what the agent has fetched for itself already, by the user's own settings: a trial need not wait for it again.
	Fetched []Place
	Ended   string // what it prints where a hook ended its run, if it says no more than that
}

// Aside is another file that the agent needs, as JSON.
type Aside struct {
	Path  string
	Value any
}

// home is a file in the home of the trial.
func (s Stage) home(parts ...string) string {
	return filepath.Join(append([]string{s.Home}, parts...)...)
}

// Printed is what a hook program left behind.
type Printed struct {
	Code     int
	Out, Err string
}

// exitRefused is how agents that look at the exit code take a refusal.
func exitRefused(p Printed) bool { return p.Code == CodeRefuse && strings.TrimSpace(p.Err) != "" }

// answers reports whether what was printed is one object with that member.
func answers(out, name, want string) bool {
	var v map[string]strictjson.Value
	return strictjson.Unmarshal([]byte(out), &v) == nil && string(v[name]) == want
}

// nestedProbe is the question of agents that follow the same naming.
func nestedProbe(event, tool string) func(session, cwd, command string) any {
	return func(session, cwd, command string) any {
		return map[string]any{
			"hook_event_name": event, "session_id": session, "cwd": cwd, "tool_name": tool,
			"tool_input": map[string]any{"command": command}, "tool_use_id": "canary",
		}
	}
}
