package extract

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// A sub-agent can be told to return a value of a closed shape: its errand has a line that begins with Returns and holds the shape. What it
// returns then is that value alone, or it is read like any text.

// Returns begins the line.
const Returns = "tidemark-returns:"

// Declared is the shape that an errand declares; nil: none, or one that is not closed.
func Declared(errand string) *Shape {
	for line := range strings.Lines(errand) {
		raw, ok := strings.CutPrefix(strings.TrimSpace(line), Returns)
		if !ok {
			continue
		}
		if s, err := ReadShape([]byte(strings.TrimSpace(raw))); err == nil {
			return &s
		}
		return nil
	}
	return nil
}

// Fits is the value that a text is, where it is nothing else. Nobody can say whether it stands anywhere: it is what a sub-agent says.
func Fits(s *Shape, text string) (Value, bool) {
	c := checking{trusts: true}
	out, err := c.value(s, strictjson.Value(unfenced(text)))
	if err != nil || !c.some || !bare(text) {
		return Value{}, false
	}
	raw, err := strictjson.Marshal(out)
	return Value{string(raw), c.plain}, err == nil
}

// bare reports whether a text is one JSON value and nothing beside it, a fence without words of its own at most.
func bare(text string) bool {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		rest, ok = strings.CutSuffix(rest, "```")
		text = strings.TrimPrefix(rest, "json")
		if !ok {
			return false
		}
	}
	var v strictjson.Value
	return strictjson.Unmarshal([]byte(text), &v) == nil
}
