package outgoing

import (
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Refusal is why a broker began nothing of a command. Each is one sentence of ours, in which nothing is quoted: whatever a workspace or
// another computer wrote can be in none of them. What quotes anything is no Refusal.
type Refusal string

// The refusals, as they are told to the monitor.
const (
	NotDone      Refusal = "not-done"
	NoProgram    Refusal = "no-program"
	NotSignedIn  Refusal = "not-signed-in"
	NoSignIn     Refusal = "no-sign-in"
	NoRepository Refusal = "no-repository"
	AnAddress    Refusal = "an-address"
	NoNumber     Refusal = "no-number"
	NoTexts      Refusal = "no-texts"
	OwnersNo     Refusal = "owners-no"
	Unanswered   Refusal = "unanswered"
	NotAllowed   Refusal = "not-allowed"
)

var refusals = map[Refusal]string{
	NotDone:      "the broker does not do this",
	NoProgram:    "there is no gh on this machine",
	NotSignedIn:  "gh is not signed in at the host of the repository: run gh auth login outside of the box",
	NoSignIn:     "nobody here can sign in for gh",
	NoRepository: "the repository that is meant has no name that gh takes: look at origin, or name one with --repo",
	AnAddress:    "an address may be of another repository: name the number",
	NoNumber:     "gh would ask which one: name its number",
	NoTexts:      "gh would ask for a title and a body: give both",
	OwnersNo:     "the owner said no",
	Unanswered:   "nobody answered in time",
	NotAllowed:   "it is not allowed",
}

// Known reports whether it is one of them.
func (r Refusal) Known() bool { return refusals[r] != "" }

// Error is its sentence, as whoever reads the output of the command reads it.
func (r Refusal) Error() string { return "nothing was run: " + refusals[r] }

// Refused is the refusal of a sentence that was said about a command; empty: there is none.
func Refused(why string) Refusal {
	for r, says := range refusals {
		if says == why {
			return r
		}
	}
	return ""
}

// signed begins the line that a client of the keeper prints.
const signed = "tidemark: "

// around are the lines that hosts put around the output of a command that ended so, besides the sentence: they name no value but a
// number of the host's own, and its exit code.
var around = regexp.MustCompile(`^(|(Error: )?Exit code:? 125|(Error: )?(Command|Process) (failed|exited) with (exit )?code:? 125|` +
	`Exit Code: 125|<shellId: [0-9]{1,6} completed with exit code 125>|</?untrusted_context>|Process Group PGID: [0-9]{1,7}|` +
	`\[confined: a person was asked for (gh (look|submit)|git (push|fetch|pull|clone))\])$`)

// before are the words that hosts put before the first line of an output.
var before = []string{"Output: ", "Error: ", "Stderr: "}

// Alone reports whether a result is this refusal and nothing else: the sentence, and what hosts put around it.
func (r Refusal) Alone(content []byte) bool {
	if !r.Known() {
		return false
	}
	if v := strictjson.Value(content); v.IsValid() && v.Kind() == '{' {
		said, only := r.inObject(v)
		return said && only
	}
	said, only := r.inText(string(content))
	return said && only
}

// inText reports whether a text has the sentence, and nothing besides that is not known.
func (r Refusal) inText(text string) (said, only bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		bare := line
		for _, b := range before {
			bare = strings.TrimPrefix(bare, b)
		}
		switch {
		case bare == signed+r.Error():
			said = true
		case !around.MatchString(line):
			return false, false
		}
	}
	return said, true
}

// fields are the names that hosts give to the parts of a result.
var fields = regexp.MustCompile(`^(stdout|stderr|output|error|interrupted|isImage|noOutputExpected|exit_code|exitCode|llmContent|` +
	`returnDisplay|result_type|text_result_for_llm|resultType|textResultForLlm)$`)

// inObject is the same of a result in parts.
func (r Refusal) inObject(v strictjson.Value) (said, only bool) {
	var parts map[string]strictjson.Value
	if strictjson.Unmarshal(v, &parts) != nil {
		return false, false
	}
	for name, part := range parts {
		if !fields.MatchString(name) {
			return false, false
		}
		switch part.Kind() {
		case 't', 'f', 'n':
		case '0':
			if string(part) != "125" {
				return false, false
			}
		case '"':
			var text string
			if strictjson.Unmarshal(part, &text) != nil {
				return false, false
			}
			if text == "failure" || text == "error" {
				continue
			}
			has, alone := r.inText(text)
			if !alone {
				return false, false
			}
			said = said || has
		default:
			return false, false
		}
	}
	return said, true
}
