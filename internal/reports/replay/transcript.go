package replay

import "bytes"

// transcript puts a run together from messages. Calls and results find one another by
// id; a result that never came is an empty one, because the model went on without it.
type transcript struct {
	id     string
	events []Event
	byID   map[string]*Call
	open   []openCall // calls whose result has not come
	seen   bool       // a result has come since the last call
}

type openCall struct {
	id   string
	call *Call
}

// user adds a message of role user. Tool results that some dialects put there are what
// they are; text beside them was put there by the host as often as by the user, and does
// not count as the user's words.
func (t *transcript) user(blocks []block) {
	results := false
	for i := range blocks {
		if b := &blocks[i]; b.isResult() {
			results = true
			t.blockResult(b)
		}
	}
	if !results {
		t.say(string(joinText(blocks)))
	}
}

func (t *transcript) say(text string) {
	t.settle()
	t.events = append(t.events, Event{Said: &Said{Text: &text, Sender: Owner()}})
}

// answer adds the calls in a model's message, and the results of tools that ran at the
// provider.
func (t *transcript) answer(blocks []block) {
	for i := range blocks {
		switch b := &blocks[i]; {
		case b.isCall() && b.Type == "toolCall":
			t.call(b.ID, b.Name, argsOf(b.Args))
		case b.isCall():
			t.call(b.ID, b.Name, argsOf(b.Input))
		case b.isResult():
			t.blockResult(b)
		}
	}
}

func (t *transcript) blockResult(b *block) {
	inner, err := blocksOf(b.Content)
	text := []byte(b.Content)
	if err == nil {
		text = joinText(inner)
	}
	t.result(b.Of, "", text, b.Failed)
}

func (t *transcript) call(id, name string, args []byte) {
	if t.seen {
		t.settle()
	}
	c := &Call{Tool: name, Args: args}
	if t.byID == nil {
		t.byID = map[string]*Call{}
	}
	t.byID[id] = c
	t.open = append(t.open, openCall{id, c})
	t.events = append(t.events, Event{Call: c})
}

// result adds what came back. Without an id it belongs to the first open call of that
// name; a result of no known call still entered the context.
func (t *transcript) result(id, name string, content []byte, failed bool) {
	t.seen = true
	r := &Result{Tool: name, Content: bytes.Clone(content), Failed: failed}
	if r.Of = t.byID[id]; id == "" {
		r.Of = t.first(name)
	}
	for i, o := range t.open {
		if o.call == r.Of {
			t.open = append(t.open[:i:i], t.open[i+1:]...)
			break
		}
	}
	t.events = append(t.events, Event{Result: r})
}

func (t *transcript) first(name string) *Call {
	for _, o := range t.open {
		if name == "" || o.call.Tool == name {
			return o.call
		}
	}
	return nil
}

// settle closes the calls whose result the recording does not hold.
func (t *transcript) settle() {
	for _, o := range t.open {
		t.events = append(t.events, Event{Result: &Result{Of: o.call}})
	}
	t.open, t.seen = nil, false
}

func (t *transcript) run() Run {
	t.settle()
	return Run{ID: t.id, Events: t.events}
}
