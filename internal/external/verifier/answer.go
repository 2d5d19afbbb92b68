package verifier

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
)

const (
	maxAnswer = 64 << 10 // bytes of a webhook's answer
	maxReason = 500      // characters of a reason
)

var errDecision = errors.New(`decision is neither "allow" nor "deny"`)

// parseAnswer reads a webhook's answer: one JSON object whose decision is exactly allow or
// deny. Other fields are ignored. A deny with a reason that is no text is still a deny.
func parseAnswer(body []byte) (answer, error) {
	var fields map[string]any
	if err := strictjson.Unmarshal(body, &fields); err != nil {
		return answer{}, fmt.Errorf("read answer: %w", err)
	}
	reason, isText := fields["reason"].(string)
	out := answer{reason: shorten(reason, maxReason)}
	switch fields["decision"] {
	case "deny":
		return out, nil
	case "allow":
		if !isText && fields["reason"] != nil {
			return answer{}, errors.New("read answer: reason is not text")
		}
		out.allow = true
		return out, nil
	}
	return answer{}, fmt.Errorf("read answer: %w", errDecision)
}

// members are the fields of a JSON object, each as it was written: numbers keep their
// digits.
func members(object []byte) (map[string]strictjson.Value, error) {
	var fields map[string]strictjson.Value
	if err := strictjson.Unmarshal(object, &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		return nil, errors.New("null is no object")
	}
	return fields, nil
}

// shorten makes one line of text that others wrote, at most n characters.
func shorten(s string, n int) string {
	line, _ := text.Line([]byte(s), n)
	return strings.TrimRight(line, " ")
}
