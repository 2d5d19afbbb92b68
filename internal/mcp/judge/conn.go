package judge

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/internal/mcp/wire"
	"github.com/tidemark/tidemark/tool"
)

// The methods the gate knows. All others pass, and what comes back of them counts.
const (
	callMethod     = "tools/call"
	listMethod     = "tools/list"
	readMethod     = "resources/read"
	promptMethod   = "prompts/get"
	completeMethod = "completion/complete"
	samplingMethod = "sampling/createMessage"
	elicitMethod   = "elicitation/create"
	rootsMethod    = "roots/list"
	updateMethod   = "tasks/update"
	cancelMethod   = "notifications/cancelled"
	progressMethod = "notifications/progress"
	logMethod      = "notifications/message"
	versionKey     = "io.modelcontextprotocol/protocolVersion"
	capabilityKey  = "io.modelcontextprotocol/clientCapabilities"
	clientKey      = "io.modelcontextprotocol/clientInfo"
)

// pseudo are the tools that requests besides tools/call are judged as.
var pseudo = map[string]string{
	readMethod: "resources_read", promptMethod: "prompts_get", completeMethod: "completion_complete",
	updateMethod: "tasks_update",
}

// OwnNames are what policies call the ways into a server that are no tools. No tool of a server has
// such a name: what it says of itself would count for them.
func OwnNames() []string {
	return []string{
		"resources_read", "prompts_get", "completion_complete", "tasks_update", "input_answers", "sampling_answer", "elicitation_answer",
		handles.ExtractTool, handles.ShowTool,
	}
}

// looks are those of them by which a server is only asked, or by which its question to the model is answered: what leaves with them is
// judged as what leaves with any question.
var looks = []string{"resources_read", "prompts_get", "completion_complete", "sampling_answer"}

// isOwn reports whether a tool is named like one of those.
func isOwn(name string) bool { return slices.Contains(OwnNames(), tool.Name(name)) }

// Options are what the gate of one connection needs. Server, Port, Pins and Logger are required.
type Options struct {
	Server Server
	Port   Port
	Pins   Pins
	Origin Origin
	// Patience is how long a held call waits where progress keeps its client waiting; without it
	// a client gives up after a minute, so it waits less.
	Patience time.Duration
	// Elicit says that questions may be put to the client itself; Local that this is the server's own word.
	Elicit bool
	Local  bool
	// Memory is shared by the connections of one server; nil: it is the connection's own.
	Memory *Memory
	Now    func() time.Time // nil is time.Now
	Logger *slog.Logger
}

// The times of a held call.
const (
	defaultPatience = 10 * time.Minute
	blindPatience   = 50 * time.Second
	progressEvery   = 10 * time.Second
	progressStart   = -1_000_000
)

// maxOpen bounds the requests that are open at once, in each direction.
const maxOpen = 4096

// Conn is the gate of one connection: what is open on it in both directions. It is safe for
// concurrent use.
type Conn struct {
	o Options

	mu       sync.Mutex
	open     map[string]*request    // guarded by mu; the client's requests, by id
	asked    map[string]*question   // guarded by mu; the server's requests, by id; nil: there was none
	ours     map[string]chan answer // guarded by mu; what the gate itself asks the client; nil: nothing yet
	declared []byte                 // guarded by mu; the client's capabilities, where it said them once
	client   string                 // guarded by mu; what the client calls itself, where it said so once
	last     *Place                 // guarded by mu; where the latest call was judged
	tells    bool                   // guarded by mu; the server tells of changes of its tools
	ready    bool                   // guarded by mu; the client has been greeted, or listens
	begun    chan struct{}          // guarded by mu; closed once ready; nil: nobody waits for that
}

// request is one of the client's that is under way.
type request struct {
	id       []byte
	key      string
	method   string
	call     tool.Call // with a name where it is judged
	place    Place
	leaves   []byte // the arguments that it leaves with, where they are others than came; nil: as they came
	hostID   string // the id its agent knows the call by; "": none was told
	cursor   string
	task     string // the task whose result is asked for
	modern   bool
	token    []byte // of progress; nil: none
	cancel   context.CancelFunc
	declared []byte // the client's capabilities, where each request says them
	elicited bool   // its question was put to the client before
	approved bool   // a person has let it through
	gated    bool   // a person has let all of it through, under another name
	news     []byte // how it is told of changes, where it listens for them
	gone     bool   // the client does not want the answer any more
	sent     bool   // it has left
	client   string // what the client calls itself; "": it does not say
	came     time.Time
	ends     Ends
	revision map[string]strictjson.Value // what a request of the newer revisions says of itself; nil: of the older ones
}

// question is a request of the server's.
type question struct {
	method string
	places []Place
}

// New checks the options and makes the gate of a connection.
func New(o Options) (*Conn, error) {
	if o.Server.Name == "" || o.Port == nil || o.Pins == nil || o.Logger == nil {
		return nil, errors.New("new gate: something is missing")
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Memory == nil {
		var err error
		if o.Memory, err = NewMemory(); err != nil {
			return nil, err
		}
	}
	return &Conn{o: o, open: map[string]*request{}}, nil
}

// Passage is what becomes of a message: what goes on to the other side, and what goes back. Both
// may be nothing.
type Passage struct {
	Forward []byte
	Reply   []byte
}

// name is the name by which policy knows what a request does.
func (c *Conn) name(of string) string { return ToolName(c.o.Server.Name, of) }

// observe records what came in, in each of some places.
func (c *Conn) observe(ctx context.Context, places []Place, r tool.Result) error {
	return c.hear(ctx, places, "", r)
}

// hear is observe, for what only argues where it names a server.
func (c *Conn) hear(ctx context.Context, places []Place, argues string, r tool.Result) error {
	for _, p := range places {
		if _, err := c.o.Port.Observe(ctx, Came{Place: p, Result: r, Argues: argues}); err != nil {
			return err
		}
	}
	return nil
}

// places are where something counts that belongs to no request: every conversation with one open,
// or the one of the latest call.
func (c *Conn) places() []Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Place
	seen := map[Place]bool{}
	for _, r := range c.open {
		if r.call.Name != "" && r.place.Session != "" && !seen[r.place] {
			seen[r.place] = true
			out = append(out, r.place)
		}
	}
	if len(out) == 0 && c.last != nil {
		out = append(out, *c.last)
	}
	if len(out) == 0 {
		out = append(out, c.o.Origin.place(nil))
	}
	return out
}

// modern reports whether a request is one of the stateless revisions.
func modern(meta wire.Object) bool { return meta.Text(versionKey) != "" }
