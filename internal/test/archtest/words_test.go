package archtest_test

import (
	"io/fs"
	"regexp"
	"strings"
)

// glossary is where every word of ours has its meaning.
const glossary = "docs/dev/words.md"

var glossaryRow = regexp.MustCompile(`(?m)^\| *([^|]*?) *\| *([^|]*?) *\| *([^|]*?) *\|$`)

// checkWords wants each word of the glossary to have one row, with a meaning and the
// name in the code that it stands for. What stands below the last heading is about words
// that meant more than one thing, and may name any.
func checkWords(t *tree) []string {
	out := t.findings()
	data, err := fs.ReadFile(t.files, glossary)
	if err != nil {
		out.in(glossary, "%v", err)
		return out.list
	}
	text, _, _ := strings.Cut(string(data), "\n## Words that meant several things\n")
	seen := map[string]bool{}
	for _, row := range glossaryRow.FindAllStringSubmatch(text, -1) {
		word, meaning, name := row[1], row[2], row[3]
		switch {
		case word == "word" || strings.HasPrefix(word, "---"):
			continue
		case seen[word]:
			out.in(glossary, "%s: it has a meaning already", word)
		case meaning == "" || !inBackticks.MatchString(name):
			out.in(glossary, "%s: say what it means, and what it is in the code", word)
		}
		seen[word] = true
	}
	if len(seen) == 0 {
		out.in(glossary, "no word has a meaning")
	}
	return out.list
}
