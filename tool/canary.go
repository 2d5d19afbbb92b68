package tool

import (
	"bytes"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Canary is the mark of a call that is there to be denied, whatever the policy says. So
// every door can be tried at any time, and what happens then tells whether calls through
// it are decided at all.
const Canary = "tidemark-canary-must-not-run"

// BoxCanary is the mark of a command that is there to run in a box, if the agent's host can have it run there. It is sent when boxes are
// switched on for an agent, to see that they are obeyed. Whoever else writes it has their own command confined.
const BoxCanary = "tidemark-canary-in-a-box"

// IsBoxCanary reports whether a command line is there to run in a box.
func IsBoxCanary(line string) bool { return strings.HasPrefix(line, "echo "+BoxCanary+" ") }

// maxCanaryDepth is how deep in arguments a command may stand.
const maxCanaryDepth = 6

// IsCanary reports whether a call is there to be denied: one of its arguments, as a whole,
// is the command that doctor and the installers send (echo and the mark, with or without a
// file to write to), or the mark is all that an argument called command, cmd or canary
// holds. A text that quotes the mark is no canary: whoever wrote a page or a mail must not
// be able to have every call that repeats it denied.
func IsCanary(args []byte) bool {
	if !bytes.Contains(args, canary) {
		return false
	}
	var v any
	if err := strictjson.Unmarshal(args, &v); err != nil {
		return trial(string(args)) // a bare command; anything else is for the policy, which takes it for the worst
	}
	return holdsTrial("", v, maxCanaryDepth)
}

var canary = []byte(Canary)

func holdsTrial(name string, v any, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case string:
		return trial(v) || dedicated[name] && strings.TrimSpace(v) == Canary
	case []any:
		for _, item := range v {
			if holdsTrial(name, item, depth-1) {
				return true
			}
		}
	case map[string]any:
		for key, item := range v {
			if holdsTrial(key, item, depth-1) {
				return true
			}
		}
	}
	return false
}

// dedicated are arguments in which the mark alone makes a canary: hosts try their own
// doors with it.
var dedicated = map[string]bool{"command": true, "cmd": true, "canary": true}

// trial reports whether a text is the command of a trial and nothing else.
func trial(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "echo "+Canary)
	if !ok || strings.ContainsAny(rest, "\n\r") {
		return false
	}
	rest = strings.TrimLeft(rest, " ")
	return rest == "" || rest[0] == '>'
}
