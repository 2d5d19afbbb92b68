package audience

import (
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/origin"
)

var secrets = lists.Set("secret")

// fewWords is how many words the name of a field has at most; what is longer is a sentence.
const fewWords = 4

// Secret is a field of a result by whose name it is nobody's business: what somebody earns, what ails them, by what they prove who they
// are. Empty: there is none. Whoever writes such a field into a text of theirs makes nothing of it pass.
func Secret(content []byte) string {
	if len(content) > most {
		content = content[:most]
	}
	if v, ok := origin.Parse(content); ok && v.Shape != origin.Scalar {
		if field := secretIn(&v, 0); field != "" {
			return field
		}
	}
	for line := range strings.Lines(string(content)) {
		key, value, ok := strings.Cut(strings.Trim(line, "-*#>|• \t\r\n"), ":")
		if ok && strings.TrimSpace(value) != "" && isSecret(strings.Trim(key, "*_` ")) {
			return strings.Trim(key, "*_` ")
		}
	}
	return ""
}

func secretIn(v *origin.Value, depth int) string {
	for i := range v.Kids {
		k := &v.Kids[i]
		if !blank(k) && isSecret(k.Key) {
			return k.Key
		}
		if k.Shape != origin.Scalar && depth < deepest {
			if field := secretIn(k, depth+1); field != "" {
				return field
			}
		}
	}
	return ""
}

// isSecret reports whether the name of a field is one of those.
func isSecret(key string) bool {
	n, found := 0, false
	for w := range leaves.Words(key) {
		n++
		found = found || secrets[strings.ToLower(w)]
	}
	return found && n <= fewWords || secrets[strings.ToLower(key)]
}
