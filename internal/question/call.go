package question

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
)

// The bounds of one value in a question that nothing is missing of: what is longer is folded, and says so.
const (
	maxLines = 12
	maxWidth = 2000 // characters of one line
)

// Whole is the call with nothing folded, and what was read that only the user may read.
func (c *Card) Whole() string {
	out := c.call(true)
	for _, line := range c.WasRead() {
		out += "\n" + Read + ": " + text.Seen(strings.Join(strings.Fields(line), " "))
	}
	return out
}

// call is the tool and its arguments, one below the other. A line of a value stands behind a bar, so that none can be
// taken for one of ours, a value that is missing has a mark before its name, and a line that holds what was read before its bar.
func (c *Card) call(whole bool) string {
	var b strings.Builder
	b.WriteString(text.Visible(c.Tool))
	for _, v := range strictjson.Flat(c.Args) {
		lacks := slices.ContainsFunc(c.Values, func(s event.Shown) bool { return s.Lacks && At(s.Path, v.Path) })
		mark := "  "
		if lacks {
			mark = "! "
		}
		fmt.Fprintf(&b, "\n%s%s:", mark, name(v.Path))
		lines := strings.Split(v.Text, "\n")
		if len(lines) == 1 {
			b.WriteString(" " + folded(lines[0], whole || lacks))
			if beside := Beside(c.Values, v.Path, v.Text); beside != "" {
				b.WriteString(" (" + beside + ")")
			}
			continue
		}
		for i, l := range lines {
			if i == maxLines && !whole && !lacks {
				fmt.Fprintf(&b, "\n    … %d more lines are folded here: tidemark approvals --whole, or the console", len(lines)-i)
				break
			}
			bar := "\n    | "
			if c.carried(v.Path, l) {
				bar = "\n  ! | "
			}
			b.WriteString(bar + folded(l, whole || lacks))
		}
	}
	return b.String()
}

// Beside is what the call says of a value behind it: what its record calls itself, or that the agent chose it; empty: nothing.
func Beside(values []event.Shown, path, value string) string {
	for _, v := range values {
		if At(v.Path, path) && v.Value == value && titled(v) && !v.Lacks {
			return text.Seen(text.Quote(strings.Join(strings.Fields(v.Title), " "))) // of one line, and with nothing unseen
		}
	}
	if Chosen(values, path) {
		return ChosenText
	}
	return ""
}

// ChosenText is said of a value that is not asked about and that nobody named: whoever answers sees each value that is not
// from their words.
const ChosenText = "the agent's choice"

// Chosen reports whether the value at a path of the call is one that the agent chose, and not asked about.
func Chosen(values []event.Shown, path string) bool {
	chose := false
	for _, v := range values {
		if !At(v.Path, path) {
			continue
		}
		if v.Lacks || v.Slot == "cargo" || v.Said {
			return false
		}
		chose = chose || slices.Contains([]string{"agent", "entailed", "delegated"}, v.Has)
	}
	return chose
}

// folded is one line of a value.
func folded(line string, whole bool) string {
	if n := utf8.RuneCountInString(line) - maxWidth; n > 0 && !whole {
		return text.Visible(text.First(line, maxWidth)) + fmt.Sprintf(" … [%d more characters are folded here]", n)
	}
	return text.Visible(line)
}

// name is the name of a parameter, which others chose.
func name(path string) string {
	if len(path) <= maxName && !strings.ContainsFunc(path, func(r rune) bool { return !strings.ContainsRune(nameSigns, r) }) {
		return path
	}
	return text.Quote(path)
}

// nameSigns are what names of parameters are made of, and the places in them; one with others is quoted.
const (
	nameSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-[]()$@/"
	maxName   = 120
)

// At reports whether a value of the call stands at the path of a slot: a list is one slot, and its entries are values.
func At(slot, path string) bool {
	return slot != "" && (slot == path || bare(slot) == bare(path))
}

// bare is a path without the places in lists.
func bare(path string) string {
	var b strings.Builder
	for in := false; path != ""; path = path[1:] {
		switch c := path[0]; {
		case c == '[':
			in = true
		case c == ']' && in:
			in = false
		case !in:
			b.WriteByte(c)
		}
	}
	return b.String()
}
