package intent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	cut "github.com/tidemark/tidemark/internal/base/text"
)

// The bounds of an answer.
const (
	maxText   = 64 << 10 // with a model's opening thoughts
	maxAnswer = 1 << 10  // without them
	maxReason = 200      // characters; more is cut
)

// ErrForm is in every error about an answer that is not of the form asked for.
var ErrForm = errors.New("not of the form asked for")

// form is one word a question may be answered with.
type form struct {
	word   string
	answer Answer
}

// formsOf lists the words, those that refuse first.
func formsOf(k Kind) []form {
	switch k {
	case Caution:
		return []form{{"block", Inconsistent}, {"allow", Consistent}}
	case Consistency:
		return []form{{"inconsistent", Inconsistent}, {"unsure", Unsure}, {"consistent", Consistent}}
	}
	return nil
}

// Parse reads an answer: one of the words the question asks for, alone or with a colon
// or a line break and a reason of one line. Anything else is an error and the zero
// Opinion, and so is an agreement whose reason has a word of refusal in it.
func Parse(k Kind, text string) (Opinion, error) {
	body, err := spoken(text)
	if err != nil {
		return Opinion{}, err
	}
	if len(body) > maxAnswer {
		return Opinion{}, fmt.Errorf("read answer: %w: %d bytes", ErrForm, len(body))
	}
	word, reason, ok := split(body)
	forms := formsOf(k)
	i := slices.IndexFunc(forms, func(f form) bool { return strings.EqualFold(f.word, word) })
	if !ok || i < 0 {
		return Opinion{}, fmt.Errorf("read answer: %w: %s", ErrForm, shown.quote(body, 120))
	}
	reason = clean(reason)
	if forms[i].answer == Consistent && refuses(forms, reason) {
		return Opinion{}, fmt.Errorf("read answer: %w: it agrees and refuses: %s", ErrForm, shown.quote(body, 120))
	}
	return Opinion{Answer: forms[i].answer, Reason: cut.Fit(reason, maxReason)}, nil
}

// spoken is an answer without the thoughts that models of some servers put before it. A
// second mark of thoughts means that nobody can say where they end.
func spoken(text string) (string, error) {
	const opening, closing = "<think>", "</think>"
	if len(text) > maxText {
		return "", fmt.Errorf("read answer: %w: %d bytes", ErrForm, len(text))
	}
	body := strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(body, opening); ok {
		if _, body, ok = strings.Cut(rest, closing); !ok {
			return "", fmt.Errorf("read answer: %w: its thoughts have no end", ErrForm)
		}
		body = strings.TrimSpace(body)
	}
	if body == "" {
		return "", fmt.Errorf("read answer: %w: it is empty", ErrForm)
	}
	if strings.Contains(body, opening) || strings.Contains(body, closing) {
		return "", fmt.Errorf("read answer: %w: thoughts in the middle", ErrForm)
	}
	return body, nil
}

// split takes an answer apart into its word and its reason, which has one line.
func split(body string) (word, reason string, ok bool) {
	end := strings.IndexFunc(body, func(r rune) bool { return r < 'A' || r > 'Z' && r < 'a' || r > 'z' })
	if end < 0 {
		return body, "", true
	}
	word, rest := body[:end], body[end:]
	if reason, ok = strings.CutPrefix(rest, ":"); !ok {
		rest = strings.TrimLeft(strings.TrimPrefix(rest, "."), " \t\r")
		if reason, ok = strings.CutPrefix(rest, "\n"); !ok && rest != "" {
			return "", "", false
		}
	}
	reason = strings.TrimSpace(reason)
	return word, reason, !strings.ContainsAny(reason, "\n\r\u2028\u2029\u0085\v\f")
}

// clean drops what no eye sees and joins blanks.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !visible(r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// refuses reports whether a reason has one of the refusing words in it.
func refuses(forms []form, reason string) bool {
	reason = strings.ToLower(reason)
	return slices.ContainsFunc(forms, func(f form) bool { return f.answer != Consistent && strings.Contains(reason, f.word) })
}
