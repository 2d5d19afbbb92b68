package release

// wholeChat reads a completed chat answer. It takes the same way as a stream's chunk: the
// message of a choice is one piece that holds everything.
func wholeChat(g *gate, d *doc) ([]edit, error) {
	if d.kind(0) != '{' {
		return nil, errLines
	}
	c := &chat{}
	if err := c.envelope(g, d); err != nil {
		return nil, err
	}
	list := d.get(0, "choices")
	if k := d.kind(list); k != 0 && k != '[' {
		return nil, errLines
	}
	var edits []edit
	for at := range d.each(list) {
		if d.kind(at) != '{' {
			return nil, errLines
		}
		more, err := c.whole(g, d, at)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more...)
	}
	return edits, nil
}

func (c *chat) whole(g *gate, d *doc, at int) ([]edit, error) {
	e := chatEvent{c: c, g: g, d: d}
	n, _ := d.integer(d.get(at, "index"))
	ch := c.find(int(n))
	ch.whole = true
	if len(ch.calls) > 0 || ch.done {
		return nil, errOrder
	}
	for i := range d.each(at) {
		switch name := d.fold(i); name {
		case "message":
			if err := e.message(ch, i); err != nil {
				return nil, err
			}
		case "index", "finishreason", "logprobs":
		default:
			if d.nested(i) && (callKey(name) || d.callish(i)) {
				return nil, errUnknown
			}
		}
	}
	reason := d.get(at, "finish_reason")
	if err := e.finish(ch, reason); err != nil {
		return nil, err
	}
	if d.odd {
		return nil, errLines
	}
	if err := ch.decide(g); err != nil || ch.refused == 0 {
		return nil, err
	}
	edits := []edit{{d.place(d.get(at, "message")), ch.spoken(d, d.get(at, "message"))}}
	if ch.left() == 0 && (d.is(reason, "tool_calls") || d.is(reason, "function_call")) {
		edits = append(edits, edit{d.place(reason), []byte(`"stop"`)})
		if ch.index == 0 {
			g.result.Stop = "stop"
		}
	}
	return edits, nil
}

// message reads a whole message. Its calls have no index: their place is one.
func (e *chatEvent) message(ch *choice, at int) error {
	d := e.d
	list := d.get(at, "tool_calls")
	for i := range d.each(at) {
		if i == list {
			continue
		}
		if err := e.member(ch, i); err != nil {
			return err
		}
	}
	if k := d.kind(list); k != 0 && k != '[' {
		return errShape
	}
	position := 0
	for i := range d.each(list) {
		if d.kind(i) != '{' {
			return errShape
		}
		if err := e.piece(ch, i, position); err != nil {
			return err
		}
		position++
	}
	return nil
}

// spoken is a message without the refused calls and with our words.
func (ch *choice) spoken(d *doc, at int) []byte {
	message := d.raw(at)
	from := d.nodes[at].start
	for _, e := range ch.without(d, at) {
		message = splice(message, []edit{{span{e.at.start - from, e.at.end - from}, e.with}})
	}
	var again doc
	if err := again.read(message); err != nil {
		return []byte("{}") // it was read before; nothing is the safe thing to say
	}
	content := again.get(0, "content")
	switch again.kind(content) {
	case '"':
		raw := again.raw(content)
		joined := append(append([]byte(nil), raw[:len(raw)-1]...), quote(nil, ch.words())[1:]...)
		return splice(message, []edit{{again.place(content), joined}})
	case 0:
		words := quote(nil, ch.words())
		if content != none {
			return splice(message, []edit{{again.place(content), words}})
		}
		return splice(message, []edit{{span{1, 1}, append(append([]byte(`"content":`), words...), separator(&again)...)}})
	}
	return message
}

// separator is what stands after a member put in first.
func separator(d *doc) string {
	if len(d.nodes) > 1 {
		return ","
	}
	return ""
}
