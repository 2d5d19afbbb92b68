package reader

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A message of the user's may hold what others wrote: a mail they forward, a log, a quotation.
// That is content they named, and no request of theirs, whatever it says. What they put
// between quotation marks is their own word for a title or a text, but it asks for nothing
// either.

// Utterance is a message taken apart. Both texts are as long as the message, with spaces
// where something was taken out.
type Utterance struct {
	Words  string   // what the user says, quotations included
	Asks   string   // what of it may ask for something
	Pasted []string // what others wrote
}

var (
	forwarded = regexp.MustCompile(`(?im)^\s*(?:-{2,}\s*(?:original|forwarded|weitergeleitet|ursprüngliche|mensaje|message)\b.*` +
		`|begin forwarded message:?\s*|` +
		`(?:on|am|le|el|em|il|op)\s.{4,80}\s(?:wrote|schrieb|a écrit|escribió|escreveu|ha scritto|schreef)\s*:\s*)$`)
	sender  = regexp.MustCompile(`(?i)^\s*(?:from|von|de|da|van|från|发件人|差出人)\s*[:：]\s*\S`)
	headers = regexp.MustCompile(`(?i)^\s*(?:to|subject|date|sent|cc|an|betreff|datum|gesendet` +
		`|objet|à|asunto|para|fecha|enviado|oggetto|assunto|onderwerp|主题|件名)\s*[:：]`)
	history = regexp.MustCompile(`^\[?\d{1,2}:\d\d(?::\d\d)?\]?\s+[^\s:]{1,30}:\s`) // somebody's line of a chat
	quoting = regexp.MustCompile(`"[^"\n]+"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|「[^」\n]+」`)
)

// openings are the marks that quotations begin with.
var openings = []string{`"`, "“", "„", "«", "「"}

// Utter takes a message apart.
func Utter(text string) Utterance {
	u := Utterance{Words: text}
	for _, at := range pastedIn(text) {
		u.Pasted = append(u.Pasted, text[at[0]:at[1]])
		u.Words = blank(u.Words, at[0], at[1])
	}
	u.Asks = u.Words
	if !slices.ContainsFunc(openings, func(mark string) bool { return strings.Contains(u.Words, mark) }) {
		return u
	}
	for _, at := range quoting.FindAllStringIndex(u.Words, -1) {
		if len(strings.Fields(u.Words[at[0]:at[1]])) > 3 || at[1]-at[0] > 60 {
			u.Asks = blank(u.Asks, at[0], at[1])
		}
	}
	if !strings.ContainsFunc(u.Asks, unicode.IsLetter) {
		u.Asks = u.Words // all of it stands between the marks
	}
	return u
}

func blank(s string, from, to int) string { return s[:from] + strings.Repeat(" ", to-from) + s[to:] }

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
	if at := forwarded.FindStringIndex(text); at != nil {
		end = at[0]
		out = append(out, [2]int{at[0], len(text)})
	}
	if at := letter(text[:end]); at >= 0 {
		out = append(out, [2]int{at, end})
		end = at
	}
	fence, from, inside, head := "", 0, 0, 0
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
		case sender.MatchString(line) || head > 0 && headers.MatchString(line):
			if head++; head == 1 {
				from = at
			}
			if head == 2 { // the head of a mail: the rest is the mail
				return append(out, [2]int{from, end})
			}
		default:
			head = 0
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
