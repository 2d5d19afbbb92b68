package tidemark

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
)

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

// maxSealedBodies bounds what is kept of them, sealed.
const maxSealedBodies = 4 * maxArgsShown

// bodies are the arguments with what is written to a file in them, without secrets, where that is what is asked about: nobody can answer for
// what they do not see. Empty: it is not, or nothing of them was left out.
func (x *step) bodies(toolName string, found *warrant.Warrant) string {
	asked := func(s warrant.Slot) bool {
		return lacks(found.Deed, &s, x.set) && (s.Kind == warrant.Order || s.Kind == warrant.Cargo || s.Kind == warrant.Place)
	}
	if found == nil || !slices.ContainsFunc(found.Slots, asked) {
		return ""
	}
	out := shownArgs(x.set, x.set.Redactor().Bodies(toolName, x.args.Raw(), x.live.facts.Keys()...))
	if out == x.decided.Ask.Args {
		return ""
	}
	return out
}

// bodies are the arguments of a question as they were shown with what is written; empty: they are shown as the log has them.
func (s *live) bodies(ask *event.Ask) string {
	if ask.Bodies == "" {
		return ""
	}
	return string(s.keys.Open(s.state.Keys, ask.Bodies))
}

func put[V any](m map[string]V, key string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = v
	return m
}
