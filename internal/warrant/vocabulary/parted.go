package vocabulary

import (
	"strings"
	"unicode/utf8"
)

// Parted is a text with a blank where a script that is written without blanks ends a word: "XK-44を" holds XK-44, and "把表给anna@…" the
// address. It is parted only beside another script, and beside words that are no part of a name: particles and verbs. Empty: nothing is
// written so.
func (t *Table) Parted(text string) string {
	if !strings.ContainsFunc(text, joins) {
		return ""
	}
	var out strings.Builder
	list, from := t.Words(text), 0
	for i := 1; i < len(list); i++ {
		a, b := &list[i-1], &list[i]
		if a.End != b.Start || b.Start < from || !between(text, a, b) {
			continue
		}
		out.WriteString(text[from:b.Start])
		out.WriteByte(' ')
		from = b.Start
	}
	if from == 0 {
		return ""
	}
	out.WriteString(text[from:])
	return out.String()
}

// between reports whether a word ends between two that nothing stands between.
func between(text string, a, b *Word) bool {
	end, _ := utf8.DecodeLastRuneInString(text[a.Start:a.End])
	first, _ := utf8.DecodeRuneInString(text[b.Start:b.End])
	switch {
	case !joins(end) && !joins(first):
		return false
	case joins(end) != joins(first):
		return true
	}
	return nameless(a) || nameless(b)
}

// nameless reports whether a word is a particle or a verb, and names nothing.
func nameless(w *Word) bool {
	return len(w.Things) == 0 && (len(w.Acts) > 0 || w.Gram&^(Whole|Selection) != 0)
}

// joins reports whether a letter is of a script that is written without blanks, or with particles at its words.
func joins(r rune) bool { return isHan(r) || isHangul(r) }
