package wording

import (
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

var (
	// slash is a line that begins with the name of a command, and no path.
	slash = regexp.MustCompile(`(?m)^[ \t>*-]*/[A-Za-z][\w-]*(?:[ \t].*)?$`)
	// calls is somebody, or everybody, who is called in by a sign before their name.
	calls = regexp.MustCompile(`(?:^|[\s(,;:"'])([@＠][\pL\pN_][\pL\pN_./-]*)`)
	// marked is what stands in the brackets by which chats and trackers write people, places and what they do.
	marked = regexp.MustCompile(`<[!@#&][^<>\n]{1,80}>|\[[~@!][^\[\]\n]{1,80}\]`)
	// tagged are words in brackets that are no link, no box to tick and no number: [skip ci].
	tagged = regexp.MustCompile(`\[(\pL[\pL\pN _:/.-]{1,40})\](?:[^(\[]|$)`)
	// linked is an entry of a tracker.
	linked = regexp.MustCompile(`(?:[\w.-]+/[\w.-]+)?[#!]\d+\b|\b[A-Z][A-Z0-9]{1,9}-\d+\b|\bGH-\d+\b` +
		`|https?://\S+/(?:issues|pull|merge_requests|-/\w+|browse)/\S*\d`)
	// smart is an order to a tracker behind one of its entries: RE-7 #close.
	smart = regexp.MustCompile(`\b[A-Z][A-Z0-9]{1,9}-\d+\b[^\n]*?[ \t](#[a-z][a-z-]+)`)
	// trailer is a line that says something of the text for programs: Reviewed-by.
	trailer = regexp.MustCompile(`(?m)^[A-Z][a-z]+(?:-[A-Za-z]+)+:[ \t]*\S.*$`)
	// formula is what a sheet reckons out, with the functions in it.
	formula  = regexp.MustCompile(`^\s*(?:=|[+@-]\s*\(?[A-Za-z]+[0-9A-Za-z.]*\s*[(!])`)
	function = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_.]*)\s*\(`)
	reckoned = lists.Set("reckons")
	starred  = regexp.MustCompile(`\*{3}[A-Z_]{3,}\*{3}|(?m)^#![a-z]+.*$|<(?:script|iframe|form|object|embed)\b`)
)

// Command is the first part of a text that a machine obeys and that the owner has not said; empty: none. What people only read is
// written otherwise. said tells whether the owner said something, in whatever letters; of whether they speak of what a word does.
func Command(text string, table *vocabulary.Table, said func(part string) bool, of func(w *vocabulary.Word) bool) string {
	text = text[:min(len(text), maxText)]
	for _, r := range []*regexp.Regexp{slash, marked, smart, trailer, starred} {
		for _, m := range r.FindAllStringSubmatch(text, -1) {
			if part := strings.TrimSpace(m[len(m)-1]); !said(part) {
				return part
			}
		}
	}
	for _, m := range calls.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimRight(m[1], "./-"); !said(name) && !said(strings.TrimLeft(name, "@＠")) {
			return name
		}
	}
	for _, m := range tagged.FindAllStringSubmatch(text, -1) {
		if !said(m[1]) && len(strings.Fields(m[1])) <= 3 {
			return "[" + m[1] + "]"
		}
	}
	if part := closes(text, table, said, of); part != "" {
		return part
	}
	return shouted(text, table, said)
}

// closes finds a word for an act right before an entry of a tracker, which does it: Closes #41.
func closes(text string, table *vocabulary.Table, said func(string) bool, of func(w *vocabulary.Word) bool) string {
	for _, at := range linked.FindAllStringIndex(text, -1) {
		before := text[max(0, at[0]-40):at[0]]
		if i := strings.LastIndexAny(before, "\n.;"); i >= 0 {
			before = before[i+1:]
		}
		words := table.Words(before)
		if len(words) == 0 {
			continue
		}
		last := len(words) - 1
		if strings.ContainsAny(before[words[last].End:], ",;()[]\"") {
			continue
		}
		for last > 0 && words[last].Gram.Has(vocabulary.Function) { // a duplicate of it
			last--
		}
		w := &words[last]
		part := strings.TrimSpace(text[at[0]-len(before)+w.Start : at[1]])
		acts := len(w.Acts) > 0 && table.ClassesOf(*w).Any(^vocabulary.Read) || trackers[w.Text] || trackers[w.Stem]
		if acts && !said(part) && !(of(w) && said(text[at[0]:at[1]])) {
			return part
		}
	}
	return ""
}

var trackers = lists.Set("trackers")

// shouted finds a word in capitals at the beginning by which a line is left, taken back or agreed to: STOP.
func shouted(text string, table *vocabulary.Table, said func(string) bool) string {
	words := table.Words(text[:min(len(text), edge)])
	if len(words) == 0 {
		return ""
	}
	w := &words[0]
	shown := text[w.Start:w.End]
	if len(shown) < 2 || shown != strings.ToUpper(shown) || shown == strings.ToLower(shown) || w.Kind != vocabulary.Plain {
		return ""
	}
	order := len(w.Acts) > 0 && w.Text == w.Stem && !w.Gram.Has(vocabulary.Done)
	if (order || w.Gram.Has(vocabulary.Dissent) || keywords[w.Text]) && !said(shown) {
		return shown
	}
	return ""
}

var keywords = lists.Set("keywords")

// Formula is a text that a sheet takes for a formula which may look beyond it; empty: it is none. One of functions that only reckon is
// none.
func Formula(text string) string {
	if !formula.MatchString(text) {
		return ""
	}
	for _, m := range function.FindAllStringSubmatch(text, -1) {
		if !reckoned[strings.ToLower(m[1])] {
			return strings.TrimSpace(text)
		}
	}
	if strings.ContainsAny(text, "|") || strings.Contains(text, "://") {
		return strings.TrimSpace(text)
	}
	return ""
}
