package catalogue

import "github.com/tidemark/tidemark/internal/base/strictjson"

// Kind says what an event asks of us. The zero Kind is refused.
type Kind uint8

// The kinds of events.
const (
	Unknown Kind = iota
	Ignored      // known, and nothing to us; the end of a turn too, after which some agents go on
	Start        // a session starts, or goes on
	Prompt       // somebody speaks
	Call         // a tool is about to run
	Result       // a tool ran or failed
	Loaded       // instructions came into the context
	Spawn        // a sub-agent starts
	Return       // a sub-agent is done
	End          // the session is over
)

// Gates reports whether refusing the event keeps something from happening. Refusing any
// other would at best be ignored; at the end of a turn it makes some agents go on for ever.
func (k Kind) Gates() bool { return k == Unknown || k == Prompt || k == Call || k == Result }

// Speaker says whose words a prompt is. The zero Speaker is nobody we know.
type Speaker uint8

// The speakers.
const (
	Nobody Speaker = iota // the agent cannot say who speaks
	Itself                // the agent's own timers and notices: as trusted as the session
	Owner                 // the person at the terminal
)

// Event is one event of an agent in our words.
type Event struct {
	Kind    Kind
	Name    string // the agent's name for it
	Session string // as the agent names it
	Turn    string // the agent's name for the turn; "" where it has none
	Branch  string // sub-agent inside the session
	Parent  string // session that spawned this one
	Cwd     string
	Mode    string // in which the agent asks its person, or does not
	Resumed bool   // of Start: the context holds an earlier conversation
	Fresh   bool   // of Start: the agent says that nothing was before

	Speaker Speaker
	Words   string
	Given   string // what a command of somebody's put beside the words
	Ran     bool   // and programs in it may have printed some of that

	Tool   string // canonical
	Named  string // as the agent calls it, where its payload has the name that others use
	CallID string
	Params strictjson.Value // an object, with the names policy looks for
	Input  strictjson.Value // the same as the agent wrote it; nil where its hook cannot change it
	Result strictjson.Value
	Error  string
	Path   string // of instructions
	Record string // where the host keeps the conversation, in a form of which calls can be told; "": nowhere that is known
	Sum    string // what the call says, where no hook has its id and a record tells it (Sum); "": nothing that can be told
	Never  string // why the call may not run, whatever policy says
}

// Input is what the hook's process was given: the event's name from the command line, where
// the agent's payload does not have it, and the payload.
type Input struct {
	Event string
	Body  []byte
}
