package reader

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

var (
	letterFrom   = every(byLanguage("letter_from"))
	letterPassed = every(byLanguage("letter_passed"))
	letterLabels = every(byLanguage("letter_labels"))
	letterWhen   = every(byLanguage("letter_when"))
	letterWrote  = every(byLanguage("letter_wrote"))

	// A rule with words in it, as mail programs set above what is passed on, in whatever language.
	divider  = regexp.MustCompile(`(?m)^[ \t>]*[-_]{5,}[ \t]*[^\s_-].*$`)
	label    = regexp.MustCompile(`^[\s*]*([\pL][\pL .-]{0,24}?)[\s*]*[:：][\s*]*(\S.*)$`)
	mailbox  = regexp.MustCompile(`<[^<>\s@]+@[^<>\s@]+>`)
	dateTime = regexp.MustCompile(`\d{1,2}[:.]\d\d|\d{4}`)
)

// forwarding is where a letter begins that is passed on or answered below; -1: there is none.
func forwarding(text string) int {
	at := -1
	if found := divider.FindStringIndex(text); found != nil {
		at = found[0]
	}
	from := 0
	for line := range strings.Lines(text) {
		if at >= 0 && from >= at {
			break
		}
		switch told := strings.TrimSpace(line); {
		case passedOn(told):
			return from
		case !attribution(told):
		case dateTime.MatchString(told) || mailbox.MatchString(told):
			return from
		default: // it may be the owner who speaks of a letter: only what is below it is the letter
			return from + len(line)
		}
		from += len(line)
	}
	return at
}

// passedOn reports whether a line is a rule, of two dashes or more, that says that a letter follows, or says so and nothing else.
func passedOn(line string) bool {
	words := strings.FieldsFunc(vocabulary.Spelling(line), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) > 4 || !strings.HasPrefix(line, "--") && (len(words) != 3 || !strings.HasPrefix(words[0], "begin")) {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool { return letterPassed[w] })
}

// attribution reports whether a line says, as mail programs do above a letter that is answered, who wrote, and when or from which
// address.
func attribution(line string) bool {
	rest, ok := strings.CutSuffix(line, ":")
	if !ok {
		rest, ok = strings.CutSuffix(line, "：")
	}
	first, _, _ := strings.Cut(vocabulary.Spelling(rest), " ")
	if !ok || len(rest) > 200 || !letterWhen[first] && !strings.ContainsAny(rest, "0123456789") && !mailbox.MatchString(rest) {
		return false
	}
	if mailbox.MatchString(rest) && strings.HasSuffix(strings.TrimSpace(rest), ">") && dateTime.MatchString(rest) {
		return true
	}
	rest = vocabulary.Spelling(rest)
	for _, w := range strings.FieldsFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == ',' }) {
		if letterWrote[w] {
			return true
		}
	}
	return joinedEnding(rest, letterWrote)
}

// joinedEnding reports whether a text ends in one of some words of scripts that put no blanks between words.
func joinedEnding(text string, words map[string]bool) bool {
	for w := range words {
		if w[0] >= 0x80 && strings.HasSuffix(text, w) {
			return true
		}
	}
	return false
}

// head counts the lines of a letter's head: it begins with whom it is from, by the label or by how the address is written.
type head struct {
	lines  int
	mailed bool // it began with an address as mail programs write it, under a label we do not know
}

// line takes the next line, and reports whether it belongs to a head.
func (h *head) line(text string) bool {
	m := label.FindStringSubmatch(text)
	if m == nil {
		*h = head{}
		return false
	}
	name := vocabulary.Spelling(strings.ReplaceAll(m[1], " ", ""))
	switch {
	case letterFrom[name]:
	case h.lines == 0 && mailbox.MatchString(m[2]) && !letterLabels[name]:
		h.mailed = true
	case h.lines > 0 && (h.mailed || letterLabels[name]):
	default:
		*h = head{}
		return false
	}
	h.lines++
	return true
}

// elements are texts in a pair of tags, whatever the tag is called.
func elements(text string) [][2]int {
	var out [][2]int
	for from := 0; ; {
		at := tag.FindStringSubmatchIndex(text[from:])
		if at == nil {
			return out
		}
		begin, name := from+at[1], text[from+at[2]:from+at[3]]
		n := strings.Index(text[begin:], "</"+name)
		if n < 0 {
			from = begin
			continue
		}
		if strings.ContainsFunc(strings.TrimSpace(text[begin:begin+n]), unicode.IsSpace) { // one word orders nothing
			out = append(out, [2]int{begin, begin + n})
		}
		from = begin + n
	}
}

var tag = regexp.MustCompile(`<([\pL][\pL\pN-]*)(?:\s[^<>\n]*)?>`)

// letter is where a letter begins that stands below something else: a paragraph with a salutation in a line of its own; -1: there
// is none. A message that begins with one is the user's own.
func letter(text string) int {
	if at := salutation.FindStringIndex(text); at != nil && strings.TrimSpace(text[:at[0]]) != "" {
		return at[0]
	}
	return -1
}

var salutation = regexp.MustCompile(`\n[ \t]*\n[ \t]*(?:[^\s,.:;!?]+[ \t]+){0,4}[^\s,.:;!?]+\.?[ \t]*[,，،][ \t]*\n`)

// pastedIn finds the parts of a message that others wrote.
func pastedIn(text string) [][2]int {
	if !strings.Contains(text, "\n") && !strings.Contains(text, ">") {
		return nil
	}
	out := elements(text)
	end := len(text)
	if at := forwarding(text); at >= 0 {
		end = at
		out = append(out, [2]int{at, len(text)})
	}
	if at := letter(text[:end]); at >= 0 {
		out = append(out, [2]int{at, end})
		end = at
	}
	fence, from, inside := "", 0, 0
	var h head
	for at := 0; at < end; {
		n := strings.IndexByte(text[at:end], '\n') + 1
		if n == 0 {
			n = end - at
		}
		line := strings.TrimSpace(text[at : at+n])
		switch mark := fenceOf(line); {
		case fence != "" && mark == fence:
			if inside >= fewest(fence) {
				out = append(out, [2]int{from, at})
			}
			fence = ""
		case fence != "":
			inside++
		case mark != "":
			fence, from, inside = mark, at+n, 0
		case strings.HasPrefix(line, ">"), history.MatchString(line):
			out = append(out, [2]int{at, at + n})
		case h.line(line):
			if h.lines == 1 {
				from = at
			}
			if h.lines == 2 { // the head of a mail: the rest is the mail
				return append(out, [2]int{from, end})
			}
		}
		at += n
	}
	if fence != "" && inside > 1 {
		out = append(out, [2]int{from, end})
	}
	return out
}

func fenceOf(line string) string {
	switch {
	case strings.HasPrefix(line, "```"):
		return "```"
	case strings.HasPrefix(line, "~~~"):
		return "~~~"
	case ruled(line):
		return line
	}
	return ""
}

// fewest is how many lines between two marks others wrote: one line of code is a command or a name that the user gives.
func fewest(fence string) int {
	if ruled(fence) {
		return 1
	}
	return 2
}

// ruled reports whether a line is a rule: three of one sign or more, and nothing else.
func ruled(line string) bool {
	return len(line) >= 3 && strings.ContainsRune("-=*_\"'#+", rune(line[0])) && strings.Trim(line, line[:1]) == ""
}
