package catalogue

import (
	"path"
	"slices"
	"strings"
)

// gitValues are the flags of git before its verb that take the next word.
var gitValues = []string{
	"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--attr-source", "--super-prefix",
}

// gitAsks are, by verb, the letters and names of flags with which git asks at the terminal, or opens an editor, whatever else
// is given.
var gitAsks = map[string][]string{
	"add":         {"ipe", "--interactive", "--patch", "--edit"},
	"am":          {"i", "--interactive"},
	"branch":      {"", "--edit-description"},
	"checkout":    {"p", "--patch"},
	"cherry-pick": {"e", "--edit"},
	"clean":       {"i", "--interactive"},
	"commit":      {"pe", "--patch", "--interactive", "--edit"},
	"config":      {"e", "--edit"},
	"merge":       {"e", "--edit"},
	"pull":        {"e", "--edit"},
	"rebase":      {"i", "--interactive", "--edit-todo"},
	"replace":     {"", "--edit"},
	"reset":       {"p", "--patch"},
	"restore":     {"p", "--patch"},
	"revert":      {"e", "--edit"},
	"stash":       {"p", "--patch"},
	"tag":         {"e", "--edit"},
}

// gitWords are the flags that give the words for which an editor would be opened, or want none. Of the single letters others take a value,
// which ends what stands in the same word.
var gitWords = []string{"mFCh", "--message", "--file", "--reuse-message", "--no-edit", "--fixup", "--help", "--dry-run"}

const gitLettersWithValue = "mFCctSu"

// gitEdits reports whether git is to open an editor, or to ask, which without a terminal it cannot. Verbs that do so only where there is a
// terminal (merge, revert) are not among them: nothing tells whether there is one.
func gitEdits(command string) bool {
	return slices.ContainsFunc(partsOf(command), func(words []string) bool {
		at := slices.IndexFunc(words, func(w string) bool { return path.Base(w) == "git" })
		if at < 0 { // a shell's argument may be a command
			return slices.ContainsFunc(words, func(w string) bool { return strings.ContainsRune(w, ' ') && gitEdits(w) })
		}
		words = words[at+1:]
		for len(words) > 0 && strings.HasPrefix(words[0], "-") {
			n := 1
			if slices.Contains(gitValues, words[0]) {
				n = min(2, len(words))
			}
			words = words[n:]
		}
		return len(words) > 0 && gitOpens(words[0], words[1:])
	})
}

// partsOf are the words of each command of a line. What stands in quotes is one word.
func partsOf(line string) (parts [][]string) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && strings.ContainsRune(";&|\n()", r):
			end()
			parts, words = append(parts, words), nil
		case quote == 0 && (r == ' ' || r == '\t'):
			end()
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	end()
	return append(parts, words)
}

// gitOpens is gitEdits of one verb and what follows it.
func gitOpens(verb string, args []string) bool {
	has := func(letters string, abbreviated bool, long ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			if strings.HasPrefix(name, "--") { // git takes the beginning of a name for the whole
				return slices.ContainsFunc(long, func(l string) bool {
					return l == name || abbreviated && len(name) > 2 && strings.HasPrefix(l, name)
				})
			}
			if !strings.HasPrefix(name, "-") {
				return false
			}
			if end := strings.IndexAny(name, gitLettersWithValue); end >= 0 {
				name = name[:end+1]
			}
			return letters != "" && strings.ContainsAny(name, letters)
		})
	}
	if asks := gitAsks[verb]; asks != nil && has(asks[0], true, asks[1:]...) {
		return true
	}
	writes := verb == "commit" || verb == "tag" && has("asu", true, "--annotate", "--sign", "--local-user") ||
		verb == "notes" && slices.ContainsFunc(args, func(a string) bool { return a == "add" || a == "append" || a == "edit" })
	return writes && !has(gitWords[0], false, gitWords[1:]...)
}
