package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
)

func row(name, class string, parts ...h.Part) h.HTML {
	return h.El("div", h.Class(class), h.El("dt", h.T(name)), h.El("dd", parts...))
}

// lacking are the values that are asked about, as the page shows them: those of one place of the call, or all of them.
func lacking(q *engine.Question, path string) (out []string) {
	for _, v := range q.Values {
		if v.Lacks && v.Path != "" && len(v.Value) > 1 && (path == "" || question.At(v.Path, path)) {
			out = append(out, v.Value, text.Visible(v.Value), strings.Trim(text.Shown(v.Value), "“”"))
		}
	}
	for _, p := range q.Carries {
		if path == "" || question.At(p.Path, path) {
			out = append(out, p.Part, text.Visible(p.Part))
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(out)
}

// marks is text in which values stand out.
func marks(s string, values []string) h.HTML {
	s = clean(s)
	var parts h.List
	for s != "" {
		at, found := len(s), ""
		for _, v := range values {
			if v = clean(v); v == "" {
				continue
			}
			if i := standsIn(s, v); i >= 0 && i < at {
				at, found = i, v
			}
		}
		if found == "" {
			break
		}
		parts = append(parts, h.T(s[:at]), h.El("mark", h.T(found)))
		s = s[at+len(found):]
	}
	return h.Join(append(parts, h.T(s)))
}

// maxWord is how long a word may be that is not marked in a longer one. What is longer, or no word, is marked wherever it stands: whoever
// glues letters to an address hides nothing.
const maxWord = 7

// standsIn is where a value stands in a text, and not in the middle of a longer word: "close" is not in "closed". -1: nowhere.
func standsIn(s, value string) int {
	if len(value) > maxWord || strings.ContainsFunc(value, func(r rune) bool { return r > 0x7f || !plainWord(byte(r)) }) {
		return strings.Index(s, value)
	}
	for from := 0; ; {
		i := strings.Index(s[from:], value)
		if i < 0 {
			return -1
		}
		i += from
		if end := i + len(value); (i == 0 || !plainWord(s[i-1])) && (end == len(s) || !plainWord(s[end])) {
			return i
		}
		from = i + 1
	}
}

// plainWord reports whether a byte is a letter or digit of a script that parts its words by blanks.
func plainWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// classes of the paragraphs of a question; the others have none.
var classes = map[string]string{
	question.Why: "not-yours", question.Carries: "not-yours", question.Asked: "said", question.Read: "holds", question.Opens: "opens",
	"It takes": "agree", "Approved so far by": "agree",
}

// after are the paragraphs that an answer seldom needs.
var after = []string{"The rest", question.NotRead}

// evidence are the paragraphs every surface shows, below the call, in their order.
func evidence(q *engine.Question) h.HTML {
	values := lacking(q, "")
	var first, said, opens, more h.List
	for _, l := range q.Lines()[1:] {
		if l.Name == question.Call {
			continue // as a table of its own
		}
		var parts h.List
		whys, folded := strings.Split(l.Text, "\n"), []string(nil)
		if l.Name == question.Why {
			n := open(whys)
			whys, folded = whys[:n], whys[n:]
		}
		for _, part := range whys {
			if l.Name == question.Why || l.Name == question.Carries {
				parts = append(parts, h.El("p", h.El("bdi", h.Class("prose"), marks(part, values))))
			} else {
				if short, ok := strings.CutSuffix(part, question.FoldedText); ok {
					part = short + " (figures folded; whole below)"
				}
				parts = append(parts, h.El("p", h.El("bdi", h.Class("prose"), h.T(clean(cut(part, maxShown))))))
			}
		}
		if len(folded) > 0 {
			parts = append(parts, folds(folded, values))
		}
		to := &opens
		switch {
		case slices.Contains(after, l.Name):
			to = &more
		case l.Name == question.Why || l.Name == question.Carries:
			to = &first
		case l.Name == question.Asked || l.Name == "You asked":
			to = &said
		}
		*to = append(*to, row(l.Name, classes[l.Name], parts...))
	}
	for _, line := range q.Folded() {
		more = append(more, row(question.Read, "holds", h.El("p", h.El("bdi", h.Class("prose"), h.T(clean(cut(line, maxShown)))))))
	}
	more = append(more, row("Rule", "rule", h.El("code", h.T(clean(q.Rule))), h.T(" (what was read is "+q.Level+")")),
		row("Digest", "", h.El("code", h.T(q.Digest))))
	return h.Join(rows("evidence whys", first), rows("evidence asked", said), rows("evidence", opens),
		h.El("details", h.Class("more"), h.El("summary", h.T("More about it")), h.El("dl", h.Class("evidence"), more)))
}

func rows(class string, list h.List) h.Part {
	if len(list) == 0 {
		return h.List(nil)
	}
	return h.El("dl", h.Class(class), list)
}

// The bounds of the reasons that stand open, in lines of a phone and the signs of one; the first one always does, and weighs most. Of the
// others the beginning is told.
const (
	whyLines = 7
	whySigns = 40
	maxBegun = 60
)

// open is how many of the reasons stand open.
func open(whys []string) int {
	lines := 0
	for i, why := range whys {
		if lines += 1 + utf8.RuneCountInString(why)/whySigns; i > 0 && lines > whyLines {
			return i
		}
	}
	return len(whys)
}

// folds are the reasons after those, behind a line that says which they are.
func folds(rest, values []string) h.HTML {
	var begun []string
	for _, part := range rest {
		begun = append(begun, text.Words(part, maxBegun))
	}
	out := h.List{h.El("summary", h.El("bdi", h.Class("prose"), h.T("and "+clean(strings.Join(begun, " · ")))))}
	for _, part := range rest {
		out = append(out, h.El("p", h.El("bdi", h.Class("prose"), marks(part, values))))
	}
	return h.El("details", out...)
}

// The bounds of a value of a call: what is longer is folded below.
const (
	foldLines = 12
	foldSigns = 420 // twelve lines of a phone
	longLine  = 60
	maxValue  = 64 << 10
)

// callOf is the call itself, open: the tool, and each value by its name. Names and values are in cells of their own.
func callOf(q *engine.Question) h.HTML {
	rows := h.List{h.Class("call"), row("Call", "", h.El("code", h.T(clean(text.Visible(q.Tool)))))}
	leaves := strictjson.Flat(q.Args)
	slices.SortStableFunc(leaves, func(a, b strictjson.Leaf) int { return cmp.Compare(isLong(a.Text), isLong(b.Text)) }) // texts last
	for _, leaf := range leaves {
		class, parts := "arg", lacking(q, leaf.Path)
		if len(parts) > 0 {
			class += " doubt"
		}
		if isLong(leaf.Text) > 0 {
			class += " long"
		}
		beside := h.Part(h.List(nil))
		if said := question.Beside(q.Values, leaf.Path, leaf.Text); said != "" {
			beside = h.El("bdi", h.Class("prose quiet"), h.T(" ("+clean(said)+")"))
		}
		rows = append(rows, row(clean(cut(text.Visible(leaf.Path), 100)), class, folded(leaf.Text, parts), beside))
	}
	return h.El("dl", rows...)
}

// The width of a phone in signs, and how many lines of a call leave room there for why it is asked and what was said.
const (
	phoneSigns = 34
	phoneLines = 9
)

// tall reports whether a call fills a phone: then what decides stands before it there.
func tall(q *engine.Question) bool {
	lines := 0
	for _, leaf := range strictjson.Flat(q.Args) {
		lines += 1 + len(leaf.Path)/phoneSigns
		for line := range strings.SplitSeq(leaf.Text, "\n") {
			lines += (len(line) + len(leaf.Path)) / phoneSigns
		}
		lines += strings.Count(leaf.Text, "\n")
	}
	return lines > phoneLines
}

// isLong is 1 for a text, which has the width for itself.
func isLong(value string) int {
	if len(value) > longLine || strings.Contains(value, "\n") {
		return 1
	}
	return 0
}

// folded is a value with what is asked about marked in it; what is long is folded, unless the mark stands there.
func folded(value string, parts []string) h.HTML {
	lines := strings.Split(cut(value, maxValue), "\n")
	for i := range lines {
		lines[i] = text.Visible(lines[i])
	}
	shown := func(s string) h.HTML { return h.El("bdi", h.Class("pre"), marks(s, parts)) }
	head, rest := strings.Join(lines, "\n"), ""
	switch {
	case len(lines) > foldLines:
		head, rest = strings.Join(lines[:foldLines], "\n"), strings.Join(lines[foldLines:], "\n")
		if len(head) > foldSigns {
			n := strings.LastIndexByte(text.Head(head, foldSigns), '\n') + 1
			head, rest = head[:n], head[n:]+"\n"+rest
		}
	case len(head) > foldSigns:
		rest = head[len(text.Head(head, foldSigns)):]
		head = head[:len(head)-len(rest)]
	}
	if rest == "" {
		return shown(head)
	}
	open := slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(rest, p) })
	return h.Join(shown(head), h.El("details", h.Flag("open", open),
		h.El("summary", h.T(fmt.Sprintf("%d more lines", strings.Count(rest, "\n")+1))), shown(rest)))
}

// value is one slot, with where it stands and the value marked in what is around it.
func value(v event.Shown) h.HTML {
	if v.Path == "" {
		return h.Join(h.T(v.Slot+", "), marked(v.Why, v.Value))
	}
	return h.Join(
		h.El("span", h.Class("slot"), foreign(v.Path), h.T(" = ")), h.El("strong", h.Class("value"), foreign(v.Value)),
		h.El("span", h.Class("why"), marked(v.Why, v.Value), h.El("span", foreign(beside(v)))))
}

// beside is where a value comes from and what it could be taken for, as every surface says it.
func beside(v event.Shown) string {
	return strings.TrimPrefix(question.EvidenceLine(v), question.EvidenceLine(event.Shown{Path: v.Path, Value: v.Value, Why: v.Why}))
}
