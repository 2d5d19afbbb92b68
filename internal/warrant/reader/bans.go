package reader

import (
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// banNames are the words of a mandate for the classes that a ban may name.
var banNames = []struct {
	class vocabulary.Classes
	name  string
}{
	{vocabulary.Pay, "pay"},
	{vocabulary.Delete, "delete"},
	{vocabulary.Send, "send"},
	{vocabulary.Publish, "send"},
	{vocabulary.Grant, "grant"},
	{vocabulary.Execute, "run"},
	{vocabulary.Create, "create"},
	{vocabulary.Change, "change"},
	{vocabulary.Tidy, "change"},
}

// bans are what a clause forbids. What it names narrows a ban; without a name it holds for all.
func (c *clause) bans(table *vocabulary.Table) []mandate.Ban {
	if !c.negated || c.verb < 0 {
		return nil
	}
	what := ""
	for _, l := range c.literals() {
		if l.word.Kind != vocabulary.Plain || l.name && c.capital(&l.word) && l.word.Start > c.words[0].Start {
			what = l.text
			break
		}
	}
	var out []mandate.Ban
	seen := map[string]bool{}
	for i := range c.words[:c.body] {
		w := &c.words[i]
		if len(w.Things) > 0 && i != c.verb {
			continue
		}
		for _, b := range banNames {
			if table.ClassesOf(*w).Any(b.class) && !seen[b.name] {
				seen[b.name] = true
				out = append(out, mandate.Ban{Act: b.name, What: what})
			}
		}
	}
	return out
}

// forbidsAll reports whether a message forbids every act, in any language: it only wants a look, or says stop and no more.
func forbidsAll(text, lang string) bool {
	plain := strings.ReplaceAll(strings.ToLower(text), "’", "'")
	low := " " + strings.Join(strings.FieldsFunc(plain, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
	}), " ") + " "
	for code, set := range looks {
		for phrase := range set {
			phrase = strings.ReplaceAll(phrase, "_", " ")
			if strings.Contains(low, " "+phrase+" ") || (behind[code] || final[code]) && strings.Contains(low, phrase) {
				return true
			}
		}
	}
	for _, set := range stops {
		if set[strings.ReplaceAll(strings.TrimSpace(low), " ", "_")] {
			return true
		}
	}
	return false
}
