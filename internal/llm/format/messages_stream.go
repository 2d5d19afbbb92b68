package format

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// block is one content block of Anthropic's Messages.
type block struct {
	kind   Kind
	call   *call
	name   string
	id     string
	start  []byte // the block as it began
	input  []byte // what came of its input since
	closed bool
	key    int

	toolset string // the set of tools its call is one of
}

// messages reads Anthropic's stream. Blocks begin in the order of their index; once a call
// is open, everything but signs of life waits behind it, so that the order stays.
type messages struct {
	blocks           map[int]*block
	begun, over      bool
	miscounted       bool // indices that clients count differently
	open             int  // calls that are not complete
	allowed, refused int
}

func (m *messages) event(a *Answer, ev *Event) error {
	if string(ev.Data) == "[DONE]" {
		a.pass(ev)
		return nil
	}
	d := &a.doc
	if err := d.read(ev.Data); err != nil {
		return err
	}
	kind := d.get(0, "type")
	if d.Kind(0) != '{' || d.Kind(kind) != '"' || len(ev.Name) > 0 && !d.Is(kind, string(ev.Name)) {
		return ErrAmbiguous
	}
	if a.straysBeside(d, 0, "message", "contentblock", "delta", "usage", "error", bedrockTrace, bedrockMetrics) {
		return errUnknown
	}
	err := m.dispatch(a, ev, d, kind)
	if err == nil && d.ambiguous {
		return ErrAmbiguous
	}
	return err
}

// dispatch is called before it is known whether the event is odd; only texts pass on the
// way, and an error ends the stream before anything is written.
func (m *messages) dispatch(a *Answer, ev *Event, d *doc, kind int) error {
	switch {
	case d.Is(kind, "content_block_delta"):
		return m.delta(a, ev, d)
	case d.Is(kind, "content_block_start"):
		return m.start(a, ev, d)
	case d.Is(kind, "content_block_stop"):
		return m.stop(a, ev, d)
	case d.Is(kind, "message_start"):
		return m.message(a, ev, d)
	case d.Is(kind, "message_delta"):
		return m.ending(a, ev, d)
	case d.Is(kind, "message_stop"):
		if m.open > 0 {
			return errOpen
		}
		m.over = true
		a.result.Complete = true
	case d.Is(kind, "ping"), d.Is(kind, "error"):
	default:
		if a.straysIn(d, d.Text(kind)) {
			return errUnknown
		}
	}
	if d.ambiguous {
		return ErrAmbiguous
	}
	a.pass(ev)
	return nil
}

func (m *messages) ended() bool { return m.over }

// What Amazon puts beside an answer, folded: what its guardrails found, which names inputs, and counts.
const (
	bedrockTrace   = "amazonbedrocktrace"
	bedrockMetrics = "amazonbedrockinvocationmetrics"
)

func (m *messages) end(*Answer) error {
	if m.open > 0 {
		return errOpen
	}
	return nil
}

func (m *messages) message(a *Answer, ev *Event, d *doc) error {
	msg := d.get(0, "message")
	if m.begun || len(m.blocks) > 0 {
		return errOrder
	}
	m.begun = true
	if a.straysBeside(d, msg, "content", "usage", bedrockTrace) {
		return errUnknown
	}
	for b := range d.Each(d.get(msg, "content")) {
		if shown := a.blockKind(d, b); shown == Call || shown == Hosted {
			return errOrder
		}
		if a.strayBlock(d, b) {
			return errUnknown
		}
		m.miscounted = true // some clients count these, some do not
	}
	a.result.ID, a.result.Model = d.str(msg, "id"), d.str(msg, "model")
	m.usage(a, d, d.get(msg, "usage"))
	if d.ambiguous {
		return ErrAmbiguous
	}
	a.pass(ev)
	return nil
}

func (m *messages) usage(a *Answer, d *doc, u int) {
	if n, ok := d.Integer(d.get(u, "input_tokens")); ok {
		a.result.TokensIn = n
		for _, name := range [...]string{"cache_creation_input_tokens", "cache_read_input_tokens"} { // are not among them
			if n, ok := d.Integer(d.get(u, name)); ok && n > 0 {
				a.result.TokensIn += n
			}
		}
	}
	if n, ok := d.Integer(d.get(u, "output_tokens")); ok {
		a.result.TokensOut = n
	}
}

// blockKind says what a content block is. One of a type that is not known is a call:
// whoever knows it may act on it, unless the operator vouches for it.
func (a *Answer) blockKind(d *doc, b int) Kind {
	t := d.str(b, "type")
	switch t {
	case "text":
		return Text
	case "thinking", "redacted_thinking", "compaction":
		return Thinking
	case "server_tool_use", "mcp_tool_use", "mcp_tool_listing":
		return Hosted
	case "image", "document", "container_upload":
		return Media
	case "fallback":
		return Other
	case "tool_use":
		return Call
	}
	switch {
	case strings.HasSuffix(t, "_tool_result"):
		return Hosted
	case t != "" && a.vouched[folded(t)]:
		return Other
	}
	return Call
}

func (m *messages) start(a *Answer, ev *Event, d *doc) error {
	n, ok := d.Integer(d.get(0, "index"))
	at := d.get(0, "content_block")
	index := int(n)
	if !ok || m.over || m.blocks[index] != nil || d.Kind(at) != '{' {
		return errOrder
	}
	if a.strayBlock(d, at) {
		return errUnknown
	}
	m.miscounted = m.miscounted || index != len(m.blocks)
	b := &block{kind: a.blockKind(d, at), key: len(m.blocks)}
	m.blocks[index] = b
	switch b.kind {
	case Call:
		return m.startCall(a, ev, d, at, b)
	case Hosted:
		var content []byte
		b.name, b.id, content = hostedBlock(d, at)
		b.start = append(b.start, content...)
		if !a.queue.Reserve(len(b.start)) {
			return Refused("a block is too large to be held")
		}
	case Text:
		m.text(a, d, b, d.get(at, "text"))
	case Thinking:
		m.thoughts(a, d, b, at)
	}
	if d.ambiguous {
		return ErrAmbiguous
	}
	return m.passOrHold(a, ev, nil)
}

// hostedBlock is what a tool of the provider's is called, and what it was given or brought.
func hostedBlock(d *doc, at int) (name, id string, content []byte) {
	name, id, content = d.str(at, "name"), d.str(at, "id"), d.Raw(at)
	field := "input"
	if kind, ok := strings.CutSuffix(d.str(at, "type"), "_tool_result"); ok {
		name, id, field = kind, d.str(at, "tool_use_id"), "content"
	}
	if i := d.get(at, field); i != jsonspan.None {
		content = d.Raw(i)
	}
	return name, id, content
}

func (m *messages) text(a *Answer, d *doc, b *block, at int) {
	if d.Kind(at) == '"' {
		a.say(b.kind, b.key, d.Raw(at))
	}
}

// thoughts are what a model keeps for itself: its reasoning, sealed or not, and its own
// summary of what was said before.
func (m *messages) thoughts(a *Answer, d *doc, b *block, at int) {
	for _, name := range [...]string{"thinking", "data", "content"} {
		m.text(a, d, b, d.get(at, name))
	}
}

// passOrHold lets an event pass, or wait behind an open call.
func (m *messages) passOrHold(a *Answer, ev *Event, c *call) error {
	if m.open == 0 && c == nil {
		a.pass(ev)
		return nil
	}
	ev.call = c
	return a.queue.Hold(ev)
}

func (m *messages) at(d *doc) *block {
	n, ok := d.Integer(d.get(0, "index"))
	if !ok {
		return nil
	}
	return m.blocks[int(n)]
}

func (m *messages) delta(a *Answer, ev *Event, d *doc) error {
	b, at := m.at(d), d.get(0, "delta")
	if b == nil || b.closed || m.over || d.Kind(at) != '{' {
		return errOrder
	}
	partial := d.get(at, "partial_json")
	if b.kind != Call && b.kind != Hosted && d.Kind(partial) != 0 {
		return errOrder
	}
	if b.kind != Call && b.kind != Hosted && a.strays(d, at) {
		return errUnknown
	}
	switch b.kind {
	case Call, Hosted:
		if err := m.more(a, d, b, at, partial); err != nil {
			return err
		}
	case Text:
		m.text(a, d, b, d.get(at, "text"))
	case Thinking:
		m.thoughts(a, d, b, at)
	}
	if d.ambiguous {
		return ErrAmbiguous
	}
	return m.passOrHold(a, ev, b.call)
}

func (m *messages) stop(a *Answer, ev *Event, d *doc) error {
	b := m.at(d)
	if b == nil || b.closed || m.over || d.ambiguous {
		return errOrder
	}
	b.closed = true
	if b.kind == Hosted {
		content := b.start
		a.queue.Reserve(-len(b.start) - len(b.input))
		if len(b.input) > 0 {
			content = b.input
		}
		if err := a.observe(b.name, b.id, content); err != nil {
			return err
		}
		b.start, b.input = nil, nil
	}
	if err := m.passOrHold(a, ev, b.call); err != nil || b.call == nil {
		return err
	}
	if err := b.complete(); err != nil {
		return err
	}
	if b.call.name, b.call.args = inToolset(b.toolset, b.call.name, b.call.args); b.call.name == "" {
		return errCallShape
	}
	a.note(b.call)
	if err := a.decide(b.call); err != nil {
		return err
	}
	if m.open--; b.call.allowed {
		m.allowed++
	} else {
		m.refused++
	}
	if m.open == 0 {
		a.queue.Release(func(ev *Event) bool { return m.writeHeld(a, ev) })
	}
	return nil
}
