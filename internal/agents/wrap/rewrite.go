package wrap

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// launch is the entry with Tidemark as its command. All else in it stays.
func (e *entry) launch(src []byte, program string, argv []string) string {
	if e.form.list {
		return e.spliced(src, listed(append([]string{program}, argv...)), "")
	}
	return e.spliced(src, e.patient(src, quoted(program)), listed(argv))
}

// patience is how long Codex waits for an answer, in seconds: longer than a held call waits for its owner by default.
// Left alone it gives up after five minutes, whatever it hears meanwhile.
const patience = "tool_timeout_sec = 660"

// patient is a value of an entry with the time that its agent waits behind it, where that is its own affair and the owner
// has not said another.
func (e *entry) patient(src []byte, value string) string {
	name, _, _ := strings.Cut(patience, " ")
	if !e.form.toml || strings.Contains(string(src[e.start:e.end]), name) {
		return value
	}
	return value + "\n" + patience
}

// reach is the entry with the gateway's address and our token in place of its headers.
func (e *entry) reach(src []byte, address, token string) string {
	headers := `{"Authorization": ` + quoted(token) + `}`
	if e.form.toml {
		headers = `{ Authorization = ` + quoted(token) + ` }`
	}
	return e.spliced(src, e.patient(src, quoted(address)), headers)
}

// spliced is the entry's text with two values in it; the second is added behind the first where
// there was none.
func (e *entry) spliced(src []byte, first, second string) string {
	if second == "" {
		return string(src[e.start:e.first.start]) + first + string(src[e.first.end:e.end])
	}
	if e.rest == (span{}) {
		switch {
		case e.form.toml:
			first += "\n" + e.form.name + " = " + second
		default:
			first += ", " + quoted(e.form.name) + ": " + second
		}
		return string(src[e.start:e.first.start]) + first + string(src[e.first.end:e.end])
	}
	a, b, one, two := e.first, e.rest, first, second
	if b.start < a.start {
		a, b, one, two = b, a, second, first
	}
	return string(src[e.start:a.start]) + one + string(src[a.end:b.start]) + two + string(src[b.end:e.end])
}

// quoted is a text as JSON has it, which TOML reads too.
func quoted(s string) string {
	raw, err := strictjson.Marshal(s)
	if err != nil {
		return `""` // it came out of a file that was read, or is a path
	}
	return string(raw)
}

func listed(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = quoted(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
