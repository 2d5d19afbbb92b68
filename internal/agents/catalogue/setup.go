package catalogue

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Setup is what installing into an agent needs to know of it besides. The zero value of a
// field is an agent that lacks what the field is about.
type Setup struct {
	*Agent
	Title    string   // as people call it
	Programs []string // to look for on PATH, best first

	Place  Places
	Config Place                               // its own settings, where they are another file than the one with our hooks
	Plan   func(path string, c Command) []File // what is written; nil: see install
	Gate   Gate
	Script *Script // of a hook that is a file of its own

	Open          []string          // when it would run a tool without asking us, in words
	OpenInProject []string          // the same, of a project's hooks alone
	OpenUnmanaged []string          // the same, of all but the administrator's
	Bypasses      []Bypass          // ways past our hooks, with what rules them out
	Since         *Since            // a version before which it is laxer
	Locks         []settings.Switch // in the administrator's settings: they lock out a user's hooks
	Shadow        string            // of a project: what it takes in place of our hooks; "": nothing that is known
	Sandbox       *settings.Switch  // switches on a sandbox of its own, from which no box is reached; nil: none that settings switch on
	Trusts        []string          // the list in Config of the folders whose hooks it takes; nil: it takes all
	Holes         []Hole            // what only a proxy before its models closes
	Notes         []string          // for the person who installs
	NoteManaged   string            // the same, of the administrator's settings
	NoteUnmanaged string            // the same, of all others

	// Probe is the agent's own question about a command, and Refused how it takes the answer.
	// Both are written from the agents' contracts, not from our side of them.
	Probe   func(session, cwd, command string) any
	Refused func(p Printed) bool
	Trial   func(s Stage) Launch // nil where the real agent cannot be tried
	// Unboxed says why its commands are asked about and not sent into boxes; "": they can be sent there.
	Unboxed string
}

// Places are the files an agent reads hooks from.
type Places struct {
	User    Place
	Project string // below the project's folder; "": it has no hooks there
	Managed string // the administrator's, in full; "": none that is known well enough
}

// Place is one of the user's files.
type Place struct {
	Whole    string // the variable that names the file itself; "": none does
	Variable string // the variable that names its folder; "": none does
	Home     string // else the folder, below the home
	File     string // in the folder
}

// File is one file to write: all ours, or an edited one.
type File struct {
	Path     string
	Mode     fs.FileMode // what its mode must have at least
	Own      []byte      // the whole file, where it is ours alone
	Edits    []Edit
	Comments bool // JSON with comments
}

// Edit is one value of ours in a JSON file.
type Edit struct {
	Path  []string
	Value strictjson.Value
	List  bool // append to the list at Path, else the member at Path
	Keep  bool // a member that is there stays as it is
	Join  bool // only where the list is there and holds something
}

// Gate says where in the settings the hook for calls is.
type Gate struct {
	Path    []string // of the list; none: see Script
	Trigger string   // of the element, where a list is for all events
	On      string   // of a plugin that runs inside its host: Path is a value, and this is what it must be
}

// Inside reports whether a plugin of ours runs inside the agent: nothing is started at its
// hooks, so there is none to try alone.
func (s *Setup) Inside() bool { return s.Gate.On != "" }

// Script knows a hook that is a file by what we write into it.
type Script struct {
	Command func(src []byte) []string // the command in it; nil where there is none
	Alike   func(src []byte) bool     // ours, be it for another command
}

// Since is the version from which an agent honours something that we write.
type Since struct {
	Version string
	Open    string // how it fails open before, in words
	Note    string // the same for the person who installs
}

// Hole is a case in which a host asks no plugin.
type Hole struct{ Name, Text string }

// What several agents do.
const (
	crash         = "the hook is missing or is killed: any exit code but 2 lets the tool run"
	cannotRewrite = "its hooks cannot put another line in the place of a command, so commands are asked about"
	slow          = "the hook takes longer than the agent's own limit (it answers by itself long before)"
)

// Setups are those of all agents.
func Setups() []*Setup {
	return []*Setup{
		claudeSetup(), codexSetup(), geminiSetup(), copilotSetup(), cursorSetup(), opencodeSetup(), openclawSetup(),
		gooseSetup(), droidSetup(), kiroSetup(), windsurfSetup(), clineSetup(),
	}
}

// SetupNames lists the agents that can be installed into.
func SetupNames() []string {
	var out []string
	for _, s := range Setups() {
		out = append(out, s.Name)
	}
	slices.Sort(out)
	return out
}

// FindSetup returns the one of that name.
func FindSetup(name string) (*Setup, error) {
	for _, s := range Setups() {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("unknown agent %q (want one of %s)", name, strings.Join(SetupNames(), ", "))
}

// hooks makes one edit per event.
func hooks(events []string, hook func(event string) any) []Edit {
	var out []Edit
	for _, e := range events {
		out = append(out, Edit{Path: []string{"hooks", e}, Value: value(hook(e)), List: true})
	}
	return out
}

// version is the member that says which form a file has.
func version(v any) Edit { return Edit{Path: []string{"version"}, Value: value(v), Keep: true} }

func value(v any) strictjson.Value {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return strictjson.Value("null") // our own structs of strings: it cannot fail
	}
	return raw
}

// group is the common form of a hook, with the matcher given.
func group(matcher string, h settings.Handler) settings.Group {
	return settings.Group{Matcher: matcher, Hooks: []settings.Handler{h}}
}

// among is the matcher for events around tools, and none for the others.
func among(event, matcher string, tools ...string) string {
	if slices.Contains(tools, event) {
		return matcher
	}
	return ""
}

// indented is a file that is ours alone.
func indented(v any) []byte {
	raw, err := strictjson.MarshalIndent(v)
	if err != nil {
		return nil // as above; an empty file is none of ours
	}
	return append(raw, '\n')
}
