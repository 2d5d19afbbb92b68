package harness

import (
	"slices"
	"strings"
	"unicode"
)

// Marker encloses what a harness writes into a user's message. Without End it reaches to
// the end of the text; what is never closed reaches to the end of the message.
type Marker struct {
	Agent      string // only in this harness's messages; "" in all
	Begin, End string
	// Summary says that a model wrote what is enclosed: an earlier conversation in short.
	// Where nobody saw it being written it is untrusted.
	Summary bool
	// Result says that a tool brought what is enclosed; nobody knows which, so it is
	// untrusted. Anything else is the harness's own, or a file of the workspace.
	Result bool
	// File says that it is a file the user referred to: the model has read it, and no call says so.
	File bool
	// Report says that a task of the session's own reports its end, if nothing else is in it.
	Report bool
	// Line says that it begins with the line that Begin stands in.
	Line bool
	// Rest says that the parts of the message after it belong to it too.
	Rest bool

	tag string // Begin is a tag, with or without attributes
}

// tagged is the marker of a tag.
func tagged(tag string) Marker { return Marker{tag: tag, Begin: "<" + tag, End: "</" + tag + ">"} }

// at is where the marker begins in a text, from a place on; -1: nowhere.
func (m *Marker) at(text string, from int) int {
	for {
		n := strings.Index(text[from:], m.Begin)
		if n < 0 {
			return -1
		}
		at := from + n
		from = at + len(m.Begin)
		switch {
		case m.tag != "" && !tagEnds(text[from:]):
			continue // a longer name
		case m.Line:
			at = strings.LastIndexByte(text[:at], '\n') + 1
		}
		return at
	}
}

// lastAt is where it begins for the last time.
func (m *Marker) lastAt(text string) int {
	last := -1
	for at := m.at(text, 0); at >= 0; at = m.at(text, at+len(m.Begin)) {
		last = at
	}
	return last
}

func tagEnds(rest string) bool {
	return rest != "" && (rest[0] == '>' || rest[0] == '/' || unicode.IsSpace(rune(rest[0])))
}

// Split is what a user's text holds, taken apart.
type Split struct {
	Words   string // the user's own
	Added   bool   // a harness added something
	Result  bool   // and something that a tool or somebody else brought
	Report  bool   // and how a task of the session's own ended
	Summary string // and something that a model wrote, with what stands around it
	File    string // and files that the user referred to, likewise

	open *Marker // what is not closed
}

// Divide takes apart one text in the messages of a harness.
func Divide(agent, text string) Split {
	r := Reader{Agent: agent, Markers: Known(), Texts: []string{text}}
	return r.Next(0)
}

// Reader tells the user's words in a message from what a harness put beside them, part by part.
type Reader struct {
	Agent   string
	Markers []Marker
	Texts   []string // of the message's parts

	open  *Marker // what the parts up to until belong to
	until int
}

// Next takes apart the text of part i. Parts are read in their order.
func (r *Reader) Next(i int) Split {
	if r.open != nil && i <= r.until {
		return r.inside(r.Texts[i])
	}
	r.open = nil
	d := r.divide(r.Texts[i])
	if m := d.open; m != nil {
		r.open, r.until = m, len(r.Texts)
		for j := len(r.Texts) - 1; j > i && m.End != "" && !m.Rest; j-- {
			if strings.Contains(r.Texts[j], m.End) { // what is enclosed may hold the end too
				r.until = j
				break
			}
		}
	}
	return d
}

// inside is a text that belongs to what a part before it began.
func (r *Reader) inside(text string) Split {
	out := Split{Added: true, Result: r.open.Result || r.open.Report || fetched(text)}
	if r.open.Summary {
		out.Summary = text
	}
	if r.open.File {
		out.File = text
	}
	return out
}

// fetched reports whether a harness announces something that it fetched from a server in place of a
// file: "Content from @server:uri:".
func fetched(text string) bool {
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(line, "Content from @")
		if name = strings.TrimPrefix(strings.TrimSpace(name), "file:"); ok && strings.HasSuffix(name, ":") && strings.Count(name, ":") > 1 {
			return true
		}
	}
	return false
}

// divide takes apart one text. Tags around the user's own words are taken off; a leading tag
// that a known harness was never seen to write is a stranger's.
func (r *Reader) divide(text string) Split {
	text = unwrapped(text, wrappers(r.Agent))
	markers := r.Markers
	for range maxUnknown {
		d := divide(text, r.Agent, markers)
		tag := leading(d.Words)
		if tag == "" || !known(r.Agent) {
			return d
		}
		m := tagged(tag)
		m.Result = true
		markers = append(slices.Clip(markers), m)
	}
	return Split{Result: true}
}

// maxUnknown is how many tags nobody knows are taken out of one text.
const maxUnknown = 16

// divide tells the user's words from what a harness put beside them. What is enclosed may
// hold marks of its own, written by anybody: so the words are what stands before the first
// mark and after the last.
func divide(text, agent string, markers []Marker) Split {
	first, last := len(text), 0
	var out Split
	for i := range markers {
		m := &markers[i]
		if m.Agent != "" && m.Agent != agent {
			continue
		}
		at := m.at(text, 0)
		if at < 0 {
			continue
		}
		first = min(first, at)
		end := -1
		if m.End != "" {
			end = strings.LastIndex(text, m.End)
		}
		if end < m.lastAt(text) { // it reaches to the end of the text
			last = len(text)
			if m.End != "" || m.Rest { // and into the parts after it
				out.open = m
			}
		}
		last = max(last, end+len(m.End))
		out.note(m)
	}
	if first == len(text) {
		return Split{Words: strings.TrimSpace(text)}
	}
	last = max(first, last)
	out.Result = out.Result || fetched(text[first:last]) || out.Report && (out.open != nil || !reports(text[first:last]))
	if out.Summary != "" {
		out.Summary = text[first:last]
	}
	if out.File != "" {
		out.File = text[first:last]
	}
	out.Words = strings.TrimSpace(text[:first] + "\n" + text[last:])
	return out
}

// note adds what a marker says of what it encloses.
func (s *Split) note(m *Marker) {
	s.Added = s.Added || !m.Summary && !m.Result && !m.Report
	s.Report = s.Report || m.Report
	s.Result = s.Result || m.Result
	if m.Summary {
		s.Summary = "from here"
	}
	if m.File {
		s.File = "from here"
	}
}

// reports reports whether a text has no other tags than those in which tasks tell how they ended. Programs whose
// lines come in one by one have others.
func reports(text string) bool {
	for i := range len(text) {
		if text[i] != '<' {
			continue
		}
		rest := strings.TrimPrefix(text[i+1:], "/")
		n := 0
		for n < len(rest) && (letter(rest[n]) || strings.IndexByte("0123456789_-", rest[n]) >= 0) {
			n++
		}
		if n > 0 && tagEnds(rest[n:]) && !ending[rest[:n]] {
			return false
		}
	}
	return true
}

// ending are those tags.
var ending = func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(`task-notification subagent_notification task-id tool-use-id output-file status summary result usage
		total_tokens tool_uses duration_ms`) {
		out[name] = true
	}
	return out
}()

// unwrapped is a text without the tags around the user's own words: the first that opens and
// the one that closes it.
func unwrapped(text string, tags []string) string {
	for _, tag := range tags {
		m := tagged(tag)
		at := m.at(text, 0)
		if at < 0 {
			continue
		}
		_, inside, opened := strings.Cut(text[at:], ">")
		own, after, closed := strings.Cut(inside, "</"+tag+">")
		if opened && closed {
			text = text[:at] + "\n" + own + "\n" + after
		}
	}
	return text
}

// leading is the tag that a text begins with, where it is none that people write: elements of
// web pages and components of programs are the user's own.
func leading(text string) string {
	tag := tagAt(text)
	if tag == "" || written[tag] || component(tag) {
		return ""
	}
	return tag
}

// tagAt is the name of the tag that a text begins with.
func tagAt(text string) string {
	if !strings.HasPrefix(text, "<") {
		return ""
	}
	n := 1
	for n < len(text) && (letter(text[n]) || n > 1 && strings.IndexByte("0123456789_:.-", text[n]) >= 0) {
		n++
	}
	if n == 1 || !tagEnds(text[n:]) {
		return ""
	}
	inside, _, closed := strings.Cut(text[n:], ">")
	if !closed || strings.Contains(inside, "<") {
		return ""
	}
	return text[1:n]
}

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// component reports whether a name is one of a program's: TitleCase.
func component(name string) bool {
	return len(name) > 1 && unicode.IsUpper(rune(name[0])) && unicode.IsLower(rune(name[1]))
}

// written are the elements that people write about and no harness was seen to use.
var written = func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(`html head body title meta link script style div span p a ul ol li dl dt dd
		table thead tbody tr td th h1 h2 h3 h4 h5 h6 br hr pre code b i em strong u small sub sup
		img svg g path video audio canvas iframe nav header footer main
		section article aside figure form input button select option textarea label fieldset template slot`) {
		out[name] = true
	}
	return out
}()
