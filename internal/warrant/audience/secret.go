package audience

import (
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

var secrets = lists.Set("secret")

// fewWords is how many words the name of a field has at most; what is longer is a sentence.
const fewWords = 4

// Secret is the word of a field's name by which a result is nobody's business: what somebody earns, what ails them, by what they prove
// who they are. Empty: there is none. It is a word of ours, since questions say it. Whoever writes such a field makes nothing pass by it.
func Secret(content []byte) string {
	if len(content) > most {
		content = content[:most]
	}
	if v, ok := valueindex.Parse(content); ok && v.Shape != valueindex.Scalar {
		if field := secretIn(&v, 0); field != "" {
			return field
		}
	}
	for line := range strings.Lines(string(content)) {
		key, value, ok := strings.Cut(strings.Trim(line, "-*#>|• \t\r\n"), ":")
		if word := secretOf(strings.Trim(key, "*_` ")); ok && word != "" && strings.TrimSpace(value) != "" {
			return word
		}
	}
	return ""
}

func secretIn(v *valueindex.Value, depth int) string {
	for i := range v.Kids {
		k := &v.Kids[i]
		if word := secretOf(k.Key); word != "" && !blank(k) {
			return word
		}
		if k.Shape != valueindex.Scalar && depth < deepest {
			if field := secretIn(k, depth+1); field != "" {
				return field
			}
		}
	}
	return ""
}

// secretOf is such a word in the name of a field; empty: there is none.
func secretOf(key string) string {
	if low := strings.ToLower(key); secrets[low] {
		return low
	}
	n, found := 0, ""
	for w := range arguments.Words(key) {
		if n++; secrets[w] {
			found = w
		}
	}
	if n > fewWords {
		return ""
	}
	return found
}
