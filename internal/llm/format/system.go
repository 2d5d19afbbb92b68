package format

import (
	"bytes"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// A notice stands between marks, so that the next one can take its place. They are
// plain ASCII: no encoder writes them differently.
const (
	noticeOpen  = "[tidemark notice]\n"
	noticeClose = "\n[end of tidemark notice]"
	gap         = "\n\n"
)

// marked puts a notice between the marks. Marks in it would end it early.
func marked(notice string) string {
	inner := strings.NewReplacer(strings.TrimSpace(noticeOpen), "", strings.TrimSpace(noticeClose), "")
	return noticeOpen + inner.Replace(notice) + noticeClose
}

func isNotice(text string) bool {
	return strings.HasPrefix(text, noticeOpen) && strings.HasSuffix(text, noticeClose)
}

// system carries out what concerns the system prompt.
func (e *editor) system(edit Edit) {
	if e.r.API == Chat {
		e.chatSystem(edit)
		return
	}
	key := map[API]string{Responses: "instructions", Messages: "system", Gemini: "systemInstruction"}[e.r.API]
	var texts []string
	if edit.System != nil && *edit.System != "" {
		texts = append(texts, *edit.System)
	}
	if edit.Notice != "" {
		texts = append(texts, marked(edit.Notice))
	}
	f, ok := e.field(key)
	ok = ok && !e.p.is(f.span, 'n')
	switch {
	case edit.System == nil && edit.Notice == "":
	case len(texts) == 0:
		e.gone[key] = true
	case edit.System != nil || !ok:
		e.set(key, e.systemValue(texts))
	case e.p.is(f.span, '"'):
		e.noticeInText(f.span, edit.Notice)
	case e.r.API == Gemini:
		e.noticeInContent(f.span, edit.Notice)
	default:
		e.noticeInList(f.span, edit.Notice)
	}
}

// systemValue is texts as the value of the member that holds the system prompt.
func (e *editor) systemValue(texts []string) []byte {
	switch {
	case e.r.API == Gemini:
		parts := make([][]byte, 0, len(texts))
		for _, t := range texts {
			parts = append(parts, e.block(t))
		}
		return append(append([]byte(`{"parts":[`), bytes.Join(parts, []byte{','})...), "]}"...)
	case e.r.API == Messages && len(texts) > 1:
		parts := make([][]byte, 0, len(texts))
		for _, t := range texts {
			parts = append(parts, e.block(t))
		}
		return append(append([]byte{'['}, bytes.Join(parts, []byte{','})...), ']')
	}
	return quoted(strings.Join(texts, gap))
}

// block is a text as a block of the system prompt.
func (e *editor) block(text string) []byte {
	start := `{"type":"text","text":`
	if e.r.API == Gemini {
		start = `{"text":`
	}
	return append(append([]byte(start), quoted(text)...), '}')
}

// noticeInText puts a notice at the end of a text, and takes older ones out.
func (e *editor) noticeInText(at span, notice string) {
	text := string(plainText(e.p.raw(at)))
	raw, done, left := at.start+1, 0, len(text)
	for {
		from, to := findNotice(text[done:])
		if from < 0 {
			break
		}
		start := advance(e.p.b, raw, from)
		raw = advance(e.p.b, start, to-from)
		e.put(span{start, raw}, nil)
		done, left = done+to, left-(to-from)
	}
	added := marked(notice)
	if left > 0 {
		added = gap + added
	}
	lit := quoted(added)
	e.put(span{at.end - 1, at.end - 1}, lit[1:len(lit)-1])
}

// findNotice finds the first notice of ours, with the gap before it. A mark that opens
// and is not closed is somebody's text.
func findNotice(text string) (from, to int) {
	for {
		n := strings.Index(text[to:], noticeClose)
		if n < 0 {
			return -1, 0
		}
		start := to
		end := to + n
		to = end + len(noticeClose)
		if open := strings.LastIndex(text[start:end], noticeOpen); open >= 0 {
			return len(strings.TrimSuffix(text[:start+open], gap)), to
		}
	}
}

// noticeInList puts a notice after the other blocks, and takes older ones out.
func (e *editor) noticeInList(at span, notice string) {
	all := e.p.list(at, "system")
	old := make([]bool, len(all))
	left := 0
	for i, b := range all {
		if text, ok := e.p.object(b, "system block").get("text"); ok && e.p.is(text, '"') {
			old[i] = isNotice(e.p.str(text, "text"))
		}
		if !old[i] {
			left++
		}
	}
	e.siblings(all, func(i int) bool { return old[i] })
	text := e.block(marked(notice))
	if left > 0 {
		text = append([]byte{','}, text...)
	}
	e.put(span{at.end - 1, at.end - 1}, text)
}

// noticeInContent is noticeInList for Gemini, where the list is a member and may be a
// single part.
func (e *editor) noticeInContent(at span, notice string) {
	o := e.p.object(at, "systemInstruction")
	parts, ok := o.get("parts")
	switch {
	case ok && e.p.is(parts, '['):
		e.noticeInList(parts, notice)
	case ok:
		e.put(span{parts.start, parts.start}, []byte{'['})
		e.put(span{parts.end, parts.end}, append(append([]byte{','}, e.block(marked(notice))...), ']'))
	default:
		e.put(at, e.systemValue([]string{marked(notice)}))
	}
}

// chatSystem is for Chat Completions, where the system prompt is the messages the list
// starts with.
func (e *editor) chatSystem(edit Edit) {
	if edit.System == nil && edit.Notice == "" {
		if edit.Messages != nil {
			e.setList(edit.Messages)
		}
		return
	}
	if edit.Messages != nil {
		e.setList(newPrompt(edit.Messages, e.p.api, edit))
		return
	}
	run, next := e.prompt()
	name := "system"
	if len(run) > 0 {
		name = e.p.object(run[len(run)-1], "message").str("role")
	}
	if edit.System == nil {
		e.noticeInRun(run, next, promptMessage(name, marked(edit.Notice)))
		return
	}
	text := bytes.Join(promptMessages(name, edit), []byte{','})
	switch {
	case len(run) == 0 && len(text) == 0:
	case len(run) == 0:
		e.insertFirst(text, next)
	case len(text) > 0:
		e.put(span{run[0].start, run[len(run)-1].end}, text)
	case next.end > 0:
		e.put(span{run[0].start, next.start}, nil)
	default:
		e.put(span{run[0].start, run[len(run)-1].end}, nil)
	}
}

// insertFirst puts messages before all others.
func (e *editor) insertFirst(text []byte, next span) {
	at := e.r.list.start + 1
	if next.end > 0 {
		at = next.start
		text = append(text, ',')
	}
	e.put(span{at, at}, text)
}

// noticeInRun puts a notice after the messages the list starts with.
func (e *editor) noticeInRun(run []span, next span, message []byte) {
	all := run
	if next.end > 0 {
		all = append(run[:len(run):len(run)], next)
	}
	old := make([]bool, len(all))
	last := -1
	for i, at := range run {
		parts := e.p.chatMessage(at).Parts
		if old[i] = len(parts) == 1 && isNotice(parts[0].Text); !old[i] {
			last = i
		}
	}
	if last < 0 && len(run) > 0 { // nothing but old notices: the new one takes their place
		e.put(span{run[0].start, run[len(run)-1].end}, message)
		return
	}
	e.siblings(all, func(i int) bool { return old[i] })
	if last < 0 {
		e.insertFirst(message, next)
		return
	}
	e.put(span{run[last].end, run[last].end}, append([]byte{','}, message...))
}

// prompt is the system messages the list starts with, and the one after them.
func (e *editor) prompt() (run []span, next span) {
	i := skipSpace(e.p.b, e.r.list.start+1)
	for e.p.b[i] != ']' {
		at := span{i, skip(e.p.b, i)}
		if role(e.p.object(at, "message").str("role")) != System {
			return run, at
		}
		run = append(run, at)
		if i = skipSpace(e.p.b, at.end); e.p.b[i] == ',' {
			i = skipSpace(e.p.b, i+1)
		}
	}
	return run, span{}
}

func promptMessage(role, text string) []byte {
	out := append([]byte(`{"role":`), quoted(role)...)
	return append(append(append(out, `,"content":`...), quoted(text)...), '}')
}

func promptMessages(role string, edit Edit) [][]byte {
	var out [][]byte
	if edit.System != nil && *edit.System != "" {
		out = append(out, promptMessage(role, *edit.System))
	}
	if edit.Notice != "" {
		out = append(out, promptMessage(role, marked(edit.Notice)))
	}
	return out
}

// newPrompt is a list from outside with its system prompt changed.
func newPrompt(list []strictjson.Value, api API, edit Edit) []strictjson.Value {
	name := "system"
	var kept []strictjson.Value
	for len(list) > 0 {
		m, roleName, ok := entryOf(list[0], api)
		if !ok || m.Role != System {
			break
		}
		name = roleName
		if edit.System == nil && (len(m.Parts) != 1 || !isNotice(m.Parts[0].Text)) {
			kept = append(kept, list[0])
		}
		list = list[1:]
	}
	for _, text := range promptMessages(name, edit) {
		kept = append(kept, text)
	}
	return append(kept, list...)
}

// entryOf reads an entry that was not checked yet.
func entryOf(v strictjson.Value, api API) (Message, string, bool) {
	s := &scanner{b: v, depth: 2}
	at, err := s.span()
	if err != nil || v[at.start] != '{' {
		return Message{}, "", false
	}
	p := &parser{b: v, api: api}
	m := p.entry()(at)
	return m, p.object(at, "message").str("role"), p.err == nil
}
