package conversation

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/llm/format"
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

// split takes apart what a user's text holds.
type split struct {
	words   string  // the user's own
	harness bool    // a harness added something
	result  bool    // and something that a tool brought
	summary string  // and something that a model wrote, with what stands around it
	open    *Marker // what is not closed
}

// reader tells the user's words in a message from what a harness put beside them, part by part.
type reader struct {
	agent   string
	markers []Marker
	parts   []format.Part
	open    *Marker // what the parts up to until belong to
	until   int
}

// next takes apart the text of part i.
func (r *reader) next(i int) split {
	text := r.parts[i].Text
	if r.open != nil && i <= r.until {
		return r.inside(text)
	}
	r.open = nil
	d := r.divide(text)
	if m := d.open; m != nil {
		r.open, r.until = m, len(r.parts)
		for j := len(r.parts) - 1; j > i && m.End != "" && !m.Rest; j-- {
			if strings.Contains(r.parts[j].Text, m.End) { // what is enclosed may hold the end too
				r.until = j
				break
			}
		}
	}
	return d
}

// remote is how a harness announces what it fetched from somewhere in place of a file.
var remote = regexp.MustCompile(`(?m)^Content from @[^\n]*:[^\n]*:[ \t]*$`)

// inside is a text that belongs to what a part before it began.
func (r *reader) inside(text string) split {
	out := split{harness: true, result: r.open.Result || remote.MatchString(text)}
	if r.open.Summary {
		out.summary = text
	}
	return out
}

// divide takes apart one text. Tags around the user's own words are taken off; a leading tag
// that a known harness was never seen to write is a stranger's.
func (r *reader) divide(text string) split {
	text = unwrapped(text, wrappers(r.agent))
	markers := r.markers
	for range maxUnknown {
		d := divide(text, r.agent, markers)
		tag := leading(d.words)
		if tag == "" || !harness(r.agent) {
			return d
		}
		m := tagged(tag)
		m.Result = true
		markers = append(slices.Clip(markers), m)
	}
	return split{result: true}
}

// maxUnknown is how many tags nobody knows are taken out of one text.
const maxUnknown = 16

// divide tells the user's words from what a harness put beside them. What is enclosed may
// hold marks of its own, written by anybody: so the words are what stands before the first
// mark and after the last.
func divide(text, agent string, markers []Marker) split {
	first, last := len(text), 0
	var out split
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
		out.harness = out.harness || !m.Summary && !m.Result
		out.result = out.result || m.Result
		if m.Summary {
			out.summary = "from here"
		}
	}
	if first == len(text) {
		return split{words: trimmed(text)}
	}
	last = max(first, last)
	if out.summary != "" {
		out.summary = text[first:last]
	}
	out.words = trimmed(text[:first] + "\n" + text[last:])
	return out
}

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

// tagName is a tag at the beginning of a text.
var tagName = regexp.MustCompile(`^<([A-Za-z][A-Za-z0-9_:.-]*)(?:[\s/][^<]*)?>`)

// leading is the tag that a text begins with, where it is none that people write: elements of
// web pages and components of programs are the user's own.
func leading(text string) string {
	m := tagName.FindStringSubmatch(text)
	if m == nil || written[m[1]] || component(m[1]) {
		return ""
	}
	return m[1]
}

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

func trimmed(s string) string { return strings.TrimSpace(s) }
