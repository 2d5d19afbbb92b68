package console

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	h "github.com/tidemark/tidemark/internal/base/html"
)

// removed stands where a character was that would let a text draw what it does not say.
const removed = '\uFFFD'

// clean is text from outside, fit to be shown: controls, direction overrides and invisible
// characters leave a sign, and no letter carries more than two marks.
func clean(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	marks := 0
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n':
			marks = 0
			return c
		case c == '\t' || unicode.Is(unicode.Zs, c):
			marks = 0
			return ' '
		case !unicode.Is(unicode.M, c):
			marks = 0
		default:
			if marks++; marks == 3 {
				return removed
			} else if marks > 3 {
				return -1
			}
		}
		if c != ' ' && !unicode.IsGraphic(c) || unicode.In(c, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return removed
		}
		return c
	}, s)
}

// maxShown bounds one piece of foreign text on a page.
const maxShown = 4000

// cut is a text no longer than a page can bear, and says what is missing.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d of %d bytes shown)", s[:end], end, len(s))
}

// foreign is text that others wrote, kept apart from ours: a bdi has a direction of its own.
func foreign(s string) h.HTML {
	return h.El("bdi", h.T(clean(cut(s, maxShown))))
}

// quoted is the same between quotation marks.
func quoted(s string) h.HTML {
	return h.El("q", foreign(s))
}

// marked is foreign text in which a value stands out.
func marked(s, value string) h.HTML {
	s, value = clean(cut(s, maxShown)), clean(value)
	var parts h.List
	for value != "" {
		i := strings.Index(s, value)
		if i < 0 {
			break
		}
		parts = append(parts, h.T(s[:i]), h.El("mark", h.T(value)))
		s = s[i+len(value):]
	}
	return h.El("bdi", append(parts, h.T(s))...)
}

// ago is a time as people say it, with the exact one at hand.
func (c *Console) ago(t time.Time) h.HTML {
	exact := t.UTC().Format("2006-01-02 15:04:05 UTC")
	return h.El("time", h.A("datetime", t.UTC().Format(time.RFC3339)), h.A("title", exact), h.T(since(c.now().Sub(t))))
}

func since(d time.Duration) string {
	switch {
	case d < 0:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// left is the time a question still has.
func left(d time.Duration) string {
	d = max(0, d.Truncate(time.Second))
	if d >= time.Hour {
		return fmt.Sprintf("%d:%02d h", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
