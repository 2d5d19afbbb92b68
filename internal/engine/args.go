package engine

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/seal"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/policy"
)

// argumentsUse begins the name of the use of the keys that arguments of calls are sealed with; the session's name follows.
const argumentsUse = "arguments of "

// maxArgsSealed bounds the arguments of a call as the log keeps them: what maxArgsShown characters come to at most.
const maxArgsSealed = 128 << 10

// keeps has the record keep the call's arguments, if the policy says so.
func (x *step) keeps(d *event.Decided) {
	if d.Keeping = nil; x.set.Settings().RecordArguments == policy.ArgumentsNone {
		return
	}
	if x.keeping == nil {
		x.keeping = event.KeepBy(x.keptArgs)
	}
	d.Keeping = x.keeping
}

// keptArgs are the arguments of the call as the policy has them kept: without secrets, so that who reads the log knows what was
// done, and another policy can be held against it. What a question shows of them is there already. Where they cannot be sealed
// nothing is kept. It is asked when the record is written.
func (x *step) keptArgs(d *event.Decided) string {
	if x.set == nil || d.Ask != nil || d.Write != nil {
		return ""
	}
	args, s := wholeArgs(x.redactedArgs(d.Tool)), x.entry
	if x.set.Settings().RecordArguments == policy.ArgumentsRedacted {
		return args
	}
	if s.args == nil {
		var err error
		if s.args, err = seal.Standing(s.Keys.Operator, argumentsUse+s.Name); err != nil {
			return "" // nobody gave this monitor a key
		}
	}
	return s.args.Marked(maxArgsSealed, []byte(args))
}

// wholeArgs are arguments as the log keeps them, to the letter: another policy is held against them.
func wholeArgs(args []byte) string {
	out := text.First(string(args), maxArgsShown)
	if len(out) < len(args) {
		out += fmt.Sprintf(" … [%d more bytes are not kept]", len(args)-len(out))
	}
	return out
}

// Arguments are the arguments of a call as the log of a session keeps them (event.Decided.Args), opened where they are sealed; ""
// where there are none or this monitor's key is not that of whoever sealed them.
func (m *Monitor) Arguments(session, kept string) string {
	if !seal.IsSealed(kept) {
		return kept
	}
	key, err := seal.Standing(m.key, argumentsUse+session)
	if err != nil {
		return ""
	}
	out, err := key.OpenMarked(kept)
	if err != nil {
		return ""
	}
	return string(out)
}

// opened is an event of a session as whoever has the monitor's key reads it.
func (m *Monitor) opened(session string, e *event.Event) {
	if e.Decided != nil {
		e.Decided.Args = m.Arguments(session, e.Decided.Args)
	}
}

// maxAbout bounds what an answer says of what it is about, in characters; a whole queue may be answered at once.
const maxAbout = 1 << 10

// about is what questions are about, for the record of their answer: who reads it need not look for them.
func (s *sessionEntry) about(ids []string) string {
	var out []string
	for _, id := range ids {
		ask, _ := s.State.Evidence(id)
		if r, ok := s.State.Book.Request(id); ok && ask != nil {
			out = append(out, strings.TrimSpace(r.Tool+": "+question.DidTo(ask.Act, ask.Values, ask.Args)))
		}
	}
	return text.Mark(strings.Join(out, "; "), maxAbout)
}

// maxArgsShown bounds how many characters of a call's arguments a question shows. Where there are
// more, it says so: nobody approves what they do not know they have not seen.
const maxArgsShown = 16000

// shownArgs are arguments as a question shows them.
func shownArgs(set *policy.Set, args []byte) string {
	args = []byte(text.Inert(string(args))) // what has no shape is to be seen, and not left out
	out := set.Redactor().Preview(args, maxArgsShown)
	if n := utf8.RuneCount(args) - maxArgsShown; n > 0 {
		out += fmt.Sprintf(" … [%d more characters are not shown]", n)
	}
	return out
}

// redactValue is one value of a call without secrets: by the rules about its field, then
// by its look.
func redactValue(set *policy.Set, toolName, path, value string) string {
	if path != "" {
		field := path[strings.LastIndexByte(path, '.')+1:]
		if raw, err := strictjson.Marshal(map[string]string{field: value}); err == nil {
			var out map[string]any
			if err := strictjson.Unmarshal(set.Redactor().Args(toolName, raw), &out); err == nil && len(out) == 1 {
				for _, v := range out {
					value = fmt.Sprint(v)
				}
			}
		}
	}
	return set.Redactor().Preview([]byte(value), maxShownText)
}

// redactedArgs are the arguments of the call without secrets, also without what its reading says
// are credentials.
func (x *step) redactedArgs(toolName string) []byte {
	var keys []string
	if x.entry.input.Facts != nil {
		keys = x.entry.facts.Keys()
	}
	return x.set.Redactor().Args(toolName, x.args.Raw(), keys...)
}
