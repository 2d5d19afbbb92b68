package format

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
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

// systemMember changes the system prompt where it is a member of the request.
func (e *editor) systemMember(edit Edit) {
	key := e.r.dialect.system
	var texts []string
	if edit.System != nil && *edit.System != "" {
		texts = append(texts, *edit.System)
	}
	if edit.Notice != "" {
		texts = append(texts, marked(edit.Notice))
	}
	f, ok := e.field(key)
	ok = ok && !e.p.isNull(f.span)
	switch {
	case edit.System == nil && edit.Notice == "":
	case len(texts) == 0:
		e.gone[key] = true
	case edit.System != nil || !ok:
		e.set(key, e.r.dialect.newSystem(texts))
	case e.starts(f, '"'):
		e.noticeInText(f.span, edit.Notice)
	case e.r.dialect.noticeIn != nil:
		e.r.dialect.noticeIn(e, f.span, edit.Notice)
	default:
		e.noticeInList(f.span, edit.Notice)
	}
}

// joinedText is texts as one.
func joinedText(texts []string) []byte { return quoted(strings.Join(texts, gap)) }

// typedText is a text as a block that says what it is.
func typedText(text string) []byte {
	return append(append([]byte(`{"type":"text","text":`), quoted(text)...), '}')
}

// noticeInText puts a notice at the end of a text, and takes older ones out.
func (e *editor) noticeInText(at span, notice string) {
	text := string(jsonspan.Text(e.p.b[at.Start:at.End]))
	raw, done, left := at.Start+1, 0, len(text)
	for {
		from, to := findNotice(text[done:])
		if from < 0 {
			break
		}
		start := jsonspan.Advance(e.p.b, raw, from)
		raw = jsonspan.Advance(e.p.b, start, to-from)
		e.put(span{Start: start, End: raw}, nil)
		done, left = done+to, left-(to-from)
	}
	added := marked(notice)
	if left > 0 {
		added = gap + added
	}
	lit := quoted(added)
	e.put(span{Start: at.End - 1, End: at.End - 1}, lit[1:len(lit)-1])
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
	all := e.p.list(e.p.load(at), "system")
	old, spans := make([]bool, len(all)), make([]span, len(all))
	left := 0
	for i, b := range all {
		spans[i] = e.p.doc.Span(b)
		if text, ok := e.p.object(b, "system block").get("text"); ok && e.p.is(text, '"') {
			old[i] = isNotice(e.p.str(text, "text"))
		}
		if !old[i] {
			left++
		}
	}
	e.siblings(spans, func(i int) bool { return old[i] })
	text := e.r.dialect.block(marked(notice))
	if left > 0 {
		text = append([]byte{','}, text...)
	}
	e.put(span{Start: at.End - 1, End: at.End - 1}, text)
}

// Prompt is the system prompt: what Edit.System takes the place of. In Chat Completions it is the
// system messages that the list starts with, elsewhere what stands outside of it.
func (r *Request) Prompt() (string, error) {
	var texts []string
	add := func(m *Message) {
		for i := range m.Parts {
			texts = append(texts, m.Parts[i].Text)
		}
	}
	for i := range r.Head {
		add(&r.Head[i])
	}
	if r.API == Chat {
		list, err := r.All()
		if err != nil {
			return "", err
		}
		for _, entry := range list {
			m, err := newParser(entry, r.dialect).outsideEntry()
			if err != nil || m.Role != System {
				break
			}
			add(&m)
		}
	}
	return strings.Join(texts, "\n\n"), nil //nolint:nilerr // what is no prompt of the system ends it
}
