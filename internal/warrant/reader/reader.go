// Package reader reads the owner's words without a model and says what they order, as items of a mandate. It is sure
// or silent: an item is given only for an imperative or plainly wished clause whose verb and object mean what a tool
// does, with the clause's own literals in their roles.
//
// Invariants:
//
//   - only what was typed gives an item: nothing that was pasted, quoted, forwarded, or stands behind a colon;
//   - a question to know, a report, a negation, something done and a quotation give none; a condition gives one that
//     says so (Item.If), which covers nothing by itself;
//   - negating or reporting a clause never adds an item;
//   - what cannot be taken back is given only where the verb itself names the act;
//   - a ban is read also where an order would not be: what is not understood of it makes it wider.
//
// It is pure: the same words and tools always give the same mandate. What it knows of words is data (reader.txt, acts.txt
// and the vocabulary).
package reader

import (
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// The bounds of one message. What is beyond them gives no item.
const (
	maxMessage = 16 << 10
	maxItems   = 40
	maxTied    = 3 // tools that fit one clause equally well
)

// Read is the mandate of one message of the owner's.
func Read(message string, tools []Tool, table *vocabulary.Table) *mandate.Mandate {
	out := &mandate.Mandate{}
	if len(message) > maxMessage {
		message = message[:maxMessage]
	}
	t := typed(message)
	text := reading{table: table, typed: t, words: table.Words(t.orders), verbs: verbs(tools), own: ownVerbs(tools)}
	var open []order // what the order before gave
	list := text.clauses()
	for _, cl := range list {
		if out.Never = append(out.Never, cl.bans(table, list)...); cl.asksFirst(table) {
			out.Never = append(out.Never, mandate.Ban{Act: "all", First: true})
		}
		if cl.mood == ordered && !cl.negated {
			open = open[:0]
		}
		switch {
		case cl.wished && cl.plain && !cl.negated:
			for _, tool := range wishedFor(cl, tools, table) {
				out.Items = append(out.Items, item(cl, tool, len(out.Items)+1))
			}
			fallthrough
		case cl.plain && !cl.negated && cl.mood != ordered:
			for _, g := range open {
				g.detail(cl)
			}
		case cl.mood != ordered || cl.negated:
		case cl.reads(table):
			out.Reads = append(out.Reads, cl.text())
		default:
			for _, tool := range fitting(cl, tools, table) {
				if len(out.Items) < maxItems {
					it := item(cl, tool, len(out.Items)+1)
					out.Items, open = append(out.Items, it), append(open, order{tool, it.Args})
				}
			}
		}
	}
	if ForbidsAll(t.words) {
		out.Never = append(out.Never, mandate.Ban{Act: "all"})
	}
	return out
}

// item is what a clause gives for a tool.
func item(cl *clause, tool *Tool, n int) mandate.Item {
	it := mandate.Item{ID: "w" + strconv.Itoa(n), Tool: tool.Name, Quote: cl.text(), If: cl.condition, Args: bind(cl, tool)}
	if cl.each {
		it.Per = cl.text()
	}
	return it
}

// Certain is a mandate without what hangs on a condition: nobody has seen whether it holds.
func Certain(m *mandate.Mandate) *mandate.Mandate {
	out := *m
	out.Items = slices.DeleteFunc(slices.Clone(m.Items), func(it mandate.Item) bool { return it.If != "" })
	return &out
}

// typing is a message cut into what was typed and what was brought.
type typing struct {
	words  string   // what was typed, quotations included
	orders string   // what of it may order something; as long as words
	quotes [][2]int // where quotations stand
	after  [][2]int // what stands behind a colon in the same line
}

// typed cuts a message: pastes, quotations, and what stands behind a colon order nothing.
func typed(message string) typing {
	out := typing{words: unquoted(Utter(message).Words)}
	out.orders = out.words
	for _, at := range quoting.FindAllStringIndex(out.words, -1) {
		out.quote(at[0], at[1])
	}
	for _, at := range single.FindAllStringSubmatchIndex(out.orders, -1) {
		out.quote(at[2], at[3])
	}
	sort.Slice(out.quotes, func(i, k int) bool { return out.quotes[i][0] < out.quotes[k][0] })
	out.orders = titled(out.orders)
	for from := 0; ; {
		at := colon(out.orders, from)
		if at < 0 {
			return out
		}
		if lists(out.orders[:at]) {
			from = at + 1
			continue
		}
		end := brought(out.orders, at)
		if line, _, _ := strings.Cut(out.orders[at+1:end], "\n"); strings.TrimSpace(line) != "" && len(line) <= maxGiven {
			out.after = append(out.after, [2]int{at + 1, at + 1 + len(line)})
		}
		out.orders = blank(out.orders, at+1, end)
		from = max(end, at+1)
	}
}

// unquoted is a message without the marks that all of it stands between: then they quote nothing.
func unquoted(text string) string {
	for _, at := range quoting.FindAllStringIndex(text, -1) {
		if strings.TrimSpace(text[:at[0]]) == "" && strings.TrimSpace(text[at[1]:]) == "" {
			_, first := utf8.DecodeRuneInString(text[at[0]:])
			_, last := utf8.DecodeLastRuneInString(text[:at[1]])
			return blank(blank(text, at[0], at[0]+first), at[1]-last, at[1])
		}
	}
	return text
}

// single is what stands between single marks, which are apostrophes as well.
var single = regexp.MustCompile(`(?:^|[\s(=:])('(?:[^'\n]|\pL'\pL){1,120}'|‘[^’\n]{1,120}’)(?:[\s.,;:!?)]|$)`)

// quote takes a quotation out of what may order something.
func (t *typing) quote(from, to int) {
	t.quotes = append(t.quotes, [2]int{from, to})
	t.orders = blank(t.orders, from, to)
}

// maxGiven bounds a text that is given behind a colon.
const maxGiven = 300

// lists reports whether what stands before a colon says that orders follow: "do the following:".
func lists(text string) bool {
	from := strings.LastIndexAny(text, ".!?\n") + 1
	low := " " + strings.Join(strings.Fields(strings.ToLower(text[from:])), " ") + " "
	for phrase := range followings {
		if strings.HasPrefix(strings.TrimPrefix(low, " please"), " "+strings.ReplaceAll(phrase, "_", " ")+" ") {
			return true
		}
	}
	return false
}

// colon finds the next colon that opens something, and no time or address.
func colon(text string, from int) int {
	for i, r := range text[from:] {
		at := from + i
		switch {
		case r == '：':
			return at
		case r == ':' && (at+1 == len(text) || strings.IndexByte(" \t\r\n", text[at+1]) >= 0 || text[at+1] >= 0x80):
			return at
		}
	}
	return -1
}

// brought is where what a colon opens ends: with its paragraph, and with the message where the colon ends its line.
func brought(text string, at int) int {
	line, rest, more := strings.Cut(text[at+1:], "\n")
	if !more || strings.Trim(line, " \t\r：") == "" && strings.TrimSpace(rest) != "" {
		return len(text)
	}
	if i := strings.Index(text[at+1:], "\n\n"); i >= 0 {
		return at + 1 + i
	}
	return len(text)
}

// titled takes the full stops off short forms: "Dr. Berger" is one sentence.
func titled(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c != '.' || i == 0 {
			continue
		}
		from := i
		for from > 0 && b[from-1]|0x20 >= 'a' && b[from-1]|0x20 <= 'z' {
			from--
		}
		if i-from <= 6 && titles[strings.ToLower(string(b[from:i]))] {
			b[i] = ' '
		}
	}
	return string(b)
}
