package box

import (
	"regexp"
	"slices"
	"strings"
)

var (
	PlainConfig       = func(text string) bool { return plainConfig(text, nil) }
	ChooseEnvironment = chooseEnvironment
)

// Blocks are all blocks of the data, by file and name.
func Blocks() map[string][]string {
	out := map[string][]string{}
	for file, l := range map[string]lists{"places": places, "git": gitSettings, "environment": environment} {
		for name, words := range l {
			out[file+" "+name] = words
		}
	}
	return out
}

// Seat answers what macOS would of an operation on a path under the rules for a box, as far as paths go: the last rule that fits.
func Seat(w Want, tmp string) (allows func(op, path string) bool, profile string, err error) {
	rules, err := seatbelt(w, tmp)
	if err != nil {
		return nil, "", err
	}
	return func(op, path string) bool {
		answer := false
		for _, r := range rules {
			about := slices.ContainsFunc(strings.Fields(r.ops), func(o string) bool {
				return o == op || strings.HasSuffix(o, "*") && strings.HasPrefix(op, strings.TrimSuffix(o, "*"))
			})
			fits := r.kind == "" || r.kind == "literal" && path == r.value || r.kind == "subpath" && inside(path, r.value) ||
				r.kind == "regex" && regexp.MustCompile(r.value).MatchString(path)
			if about && fits {
				answer = r.allow
			}
		}
		return answer
	}, seatProfile(rules), nil
}
