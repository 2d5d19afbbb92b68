package warrant

import (
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/audience"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/page"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/remembered"
	"github.com/tidemark/tidemark/internal/warrant/sayings"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/tool"
)

// Context is what one conversation has said and read. It is not safe for concurrent use.
type Context struct {
	vocabulary  *vocabulary.Table
	user        heard
	said        []string        // the user's messages, in lower case
	spoken      []string        // the same, as they were written
	saidWords   [][]string      // the words of each
	saidNumbers map[string]bool // long numbers in them, ungrouped
	saidParts   map[string]bool // whole parts of the names in them
	index       *valueindex.Index
	shell       *shell.Reader  // made when the first command comes
	station     *shell.Station // where what watches the agent stands; nil: where it usually does

	tools     map[string]*toolinfo.Meaning
	names     map[string]string // tools as their owners spell them
	namings   map[string]*naming
	spelt     map[string][]vocabulary.Word // names of parameters and choices, read
	room      []arguments.Leaf             // where values are read into
	callables map[string]*callable         // what is known of tools by their names
	offered   map[string]bool              // tools the host has told of
	host      host                         // which tools are the host's own
	control   map[string]bool              // tools by which the host's framework steers itself
	others    sayings.Book                 // what definitions of tools say that the host does not own
	servers   *sayings.Book                // what servers of this machine say of themselves, in whatever conversation; nil: nothing

	argued  bool // anybody but the user has said something
	outside bool // something from outside this machine came in

	gone <-chan struct{} // closed when nobody waits for what is judged; nil: somebody does

	wordless bool // the call at hand is judged where nobody can hear the user

	papers  map[uint64]bool         // steps whose result is a text somebody wrote as a whole
	lists   map[uint64]bool         // steps whose result is a text that lists things and says nothing
	needed  map[string]bool         // packages that manifests of the workspace name
	beyond  map[uint64]bool         // steps whose result came from beyond this machine
	author  string                  // who wrote the latest result; "": nobody says
	readers map[uint64]audience.Set // who may read the result of a step; none: the owner alone

	directory audience.Directory          // members of places, as their servers list them
	laid      *laid                       // what of them was put into the workspace; nil: nothing
	fields    map[uint64][]audience.Field // of results that are one record
	guarded   map[uint64]string           // steps whose result is secret: what says so

	extracted map[string]extracted // values of results that no agent has read, as the agent was given them; nil: none

	executed map[uint64]bool // steps that ran something: the agent says what comes of them
	composed map[string]bool // addresses that the agent gave to calls, and that stood nowhere

	unheard  []message              // what was said and not needed yet, oldest first
	proposed string                 // what the agent has just said to the user
	assented *proposal              // what the user has just agreed to; nil: nothing
	foreign  bool                   // somebody who does not speak for the user has spoken last
	lost     bool                   // something came in that nobody remembers: anything may stand there
	refused  map[string]bool        // values of calls the owner turned down
	asked    []asked                // calls of questions, the latest last
	own      own                    // what our own acts gave back, or were given to call things by
	things   map[string]bool        // what our own acts were done to
	actedAt  uint64                 // the step of our last act
	ago      map[string]map[int]int // how often our acts were done, by tool and message

	memory memory // of earlier steps, by hashes
	past   past   // what calls did to files

	secret func(string) []string // the secrets in a text; nil: nobody knows any

	records   *mandate.Later        // what results hold, object by object
	newIDs    map[string]bool       // ids that our own acts gave to what they made: whether the owner said all that it was made of
	blank     *mandate.Blank        // them as the item of the last act may look at them; nil: none yet
	pages     map[string]*page.Page // what browsers showed of pages
	contracts []drawn
	lookedFor map[string]int // servers: the message that was looked up there last
	task
	unread  bool                       // somebody was to read the latest message, and could not
	defined map[string]tool.Definition // as they were told last

	asking   []string          // the messages that count now, as they were typed, the latest last
	worded   *mandate.Mandate  // what the certain reader finds in them; nil: nobody asked
	offers   map[string]*offer // what they offer for the tools that were called
	telling  *bool             // whether their latest messages give a text; nil: nobody asked
	withheld []reader.Withheld // what they want left out of texts; nil: nobody asked
}

// New is a conversation in which nothing was said, heard with the words of a table.
func New(table *vocabulary.Table) *Context { return NewSized(table, 0) }

// NewSized is one of which about limit bytes are known exactly; 0 means 16 MiB. Of what is
// older only the words are known, and those as free text.
func NewSized(table *vocabulary.Table, limit int) *Context {
	c := &Context{
		vocabulary: table, user: heard{vocabulary: table, stems: map[string]bool{}}, index: valueindex.New(limit),
		refused: map[string]bool{},
		tools:   map[string]*toolinfo.Meaning{}, names: map[string]string{}, namings: map[string]*naming{},
		spelt: map[string][]vocabulary.Word{}, offered: map[string]bool{}, callables: map[string]*callable{},
		papers: map[uint64]bool{}, lists: map[uint64]bool{}, beyond: map[uint64]bool{}, readers: map[uint64]audience.Set{},
		guarded: map[uint64]string{}, fields: map[uint64][]audience.Field{},
		executed: map[uint64]bool{}, composed: map[string]bool{},
		needed: map[string]bool{}, pages: map[string]*page.Page{},
		records: mandate.NewLater(), newIDs: map[string]bool{}, own: own{}, things: map[string]bool{},
		task: task{done: map[string]*tally{}},
		ago:  map[string]map[int]int{}, defined: map[string]tool.Definition{},
	}
	c.past.sum = c.index.Sum
	return c
}

// leastSize is what a conversation takes in which hardly anything was said.
const leastSize = 12 << 10

// Size is about how many bytes of memory the conversation takes.
func (c *Context) Size() int {
	n := leastSize + c.index.Size() + c.records.Size() + c.others.Size()
	for i := range c.unheard {
		n += len(c.unheard[i].text)
	}
	for _, s := range c.said {
		n += 5 * len(s) // as it was written, and its words
	}
	for _, p := range c.pages {
		n += p.Size()
	}
	for _, s := range c.asking {
		n += len(s)
	}
	return n
}

// gluedStop is the full stop after an address that a new sentence was written on to:
// "mail x@y.example.Then …".
var gluedStop = regexp.MustCompile(`(\.[a-z]{2,6})\.([A-Z])`)

// OwnWords are a message without what the user pasted into it.
func OwnWords(message string) string { return reader.Utter(message).Words }

// User adds a message of the user's own. It is heard when something else comes, or is asked:
// most messages are followed by no call at all.
func (c *Context) User(text string) { c.unheard = append(c.unheard, message{text, byOwner}) }

// speaker is who said something. Only what the door says that the owner typed is theirs; the agent's words count only
// where the owner agrees to them, and everybody else's are content. The zero speaker is somebody else.
type speaker uint8

const (
	bySomebody speaker = iota
	byAgent
	byOwner
)

// message is something that was said and not heard yet.
type message struct {
	text string
	by   speaker
}

// listen hears the messages that nobody needed yet.
func (c *Context) listen() {
	later := c.unheard
	c.unheard = nil
	for _, m := range later {
		switch m.by {
		case byAgent:
			c.proposed = m.text
		case byOwner:
			c.hear(m.text)
		case bySomebody: // it is told as content, and never waits to be heard
			c.content(m.text)
		}
	}
}

func (c *Context) hear(text string) {
	c.foreign, c.unread = false, false
	c.end()
	c.agree(text)
	for v := range c.refused {
		if strings.Contains(valueindex.Normal(text), v) {
			delete(c.refused, v) // now they name it themselves
		}
	}
	c.reconsider(text)
	text = gluedStop.ReplaceAllString(text, "$1. $2")
	u := reader.Utter(text)
	c.note(u.Words)
	c.user.hear(&u)
	c.ask(text)
	c.index.User(u.Words)
	if parted := c.vocabulary.Parted(u.Words); parted != "" {
		c.index.User(parted)
	}
	for _, p := range u.Pasted {
		c.pasted(p)
	}
}

// pasted adds what others wrote and the user put into a message: content they named.
func (c *Context) pasted(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	c.argued, c.papers[0] = true, true
	content := []byte(text)
	c.index.Result(valueindex.Result{Named: true, External: true, Free: true, Content: content})
}

// System adds words of the operator.
func (c *Context) System(text string) { c.index.System(text) }

// Heard adds words of somebody who does not speak for the user: a turn of their own, for
// which nothing that the user said before counts as a request. It returns their trace.
func (c *Context) Heard(text string) []byte {
	c.listen()
	c.foreign, c.proposed, c.assented = true, "", nil
	c.Outside()
	trace := c.content(text)
	if c.memory.exact {
		return c.journal(toldHeard, 0, 0, text)
	}
	return trace
}

// Content adds a text that somebody else wrote and no call brought back, and returns its
// trace.
func (c *Context) Content(text string) []byte {
	trace := c.content(text)
	if c.memory.exact {
		return c.journal(toldContent, 0, 0, text)
	}
	return trace
}

func (c *Context) content(text string) []byte {
	var t trace
	if strings.TrimSpace(text) != "" {
		c.listen()
		c.argued = true
		t.index = c.index.Result(valueindex.Result{Content: []byte(text), External: true, Free: true})
	}
	return c.traced(t)
}

// Outside notes that something from beyond this machine came in.
func (c *Context) Outside() { c.argued, c.outside = true, true }

// Lost notes that something came in that nobody remembers. Then a value that is neither the
// user's nor our own has nothing behind it.
func (c *Context) Lost() { c.argued, c.lost = true, true }

// Within judges a call for a part of the conversation that has seen less than the whole: one
// that nobody has argued in, or that nothing came into from outside.
func (c *Context) Within(argued, outside bool, judge func()) {
	c.listen()
	was, beyond := c.argued, c.outside
	c.argued, c.outside = was && argued, beyond && outside
	judge()
	c.argued, c.outside = was, beyond
}

// Led judges a call that runs what was written after others had spoken, in whatever session that was: it is judged as there.
func (c *Context) Led(judge func()) {
	c.listen()
	was, beyond := c.argued, c.outside
	c.argued, c.outside = true, true
	judge()
	c.argued, c.outside = was, beyond
}

// Labelled tells which files of the folder that is worked in earlier sessions wrote after others had spoken.
func (c *Context) Labelled(files remembered.Files) { c.past.labelled = files }

// Wordless judges a call where nobody can hear the user, and where nothing came in but from this machine:
// what nobody else can have named counts as theirs.
func (c *Context) Wordless(judge func()) {
	c.wordless = true
	c.Within(false, false, judge)
	c.wordless = false
}

// Tools tells what the host offers. What others say of their tools is kept: it may argue
// like any content.
func (c *Context) Tools(list []tool.Definition) {
	clear(c.callables) // what most of them share may be something else now
	c.worded, c.offers = nil, nil
	for _, d := range list {
		name := tool.Name(d.Name)
		if len(c.tools) < maxTools { // more than any agent is offered; of the rest only what they say counts
			m := toolinfo.Of(d)
			c.tools[m.Tool], c.names[m.Tool], c.offered[m.Tool], c.defined[m.Tool] = m, d.Name, true, d
		}
		if c.host.declare(name, d.Host); !c.host.owns(name) {
			c.others.Add(serverOf(name), d.Description)
			c.others.AddJSON(serverOf(name), d.Schema)
		}
	}
	said := map[string]string{}
	for name := range c.defined {
		said[name] = c.defined[name].Description
	}
	c.records.Says(said)
}

// Servers tells what servers say of themselves, to whomever they said it: it may argue in any conversation of their agent's, and nobody
// here knows which those are.
func (c *Context) Servers(said *sayings.Book) { c.servers = said }

// serverOf is the server that a tool is named after; "": none.
func serverOf(name string) string {
	server, _, ok := strings.Cut(name, "__")
	if !ok {
		return ""
	}
	return server
}

// maxTools bounds how many tools are understood.
const maxTools = 4096

// Meaning is what is understood of a tool.
func (c *Context) Meaning(name string) *toolinfo.Meaning { return c.meaning(name) }

// meaning is what is understood of a tool.
func (c *Context) meaning(name string) *toolinfo.Meaning {
	key := tool.Name(name)
	m := c.tools[key]
	if m == nil {
		m = toolinfo.Of(tool.Definition{Name: name})
		if len(c.tools) < maxTools {
			c.tools[key], c.names[key] = m, name
		}
	}
	return m
}

// says reports whether the user used one of some words.
func (c *Context) says(words map[string]bool) bool {
	for w := range words {
		if c.user.stems[w] {
			return true
		}
	}
	return false
}

// keep holds what a value looks like to the index, within bounds.
func keep(set map[string]bool, value string, shortest int) {
	if n := valueindex.Normal(value); len(n) >= shortest && len(n) <= 4096 && len(set) < 4096 {
		set[n] = true
	}
}

func startsURL(s string) bool {
	return strings.HasPrefix(strings.ToLower(s), "www.") || strings.Contains(s, "://")
}
