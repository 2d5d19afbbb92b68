package verifier

import "github.com/tidemark/tidemark/internal/engine"

// ParseAnswer is the reader of a webhook's answer.
func ParseAnswer(body []byte) (allow bool, reason string, err error) {
	a, err := parseAnswer(body)
	return a.allow, a.reason, err
}

// Describe is a call as a person sees it.
func Describe(c engine.Check) []Field { return describe(c) }

// MaxRemembered is how many allows are kept.
const MaxRemembered = maxRemembered
