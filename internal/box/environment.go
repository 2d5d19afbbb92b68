package box

import (
	"slices"
	"strings"
)

// chooseEnvironment is what a command sees of its caller's environment, and the names of what it does not see. A variable is named
// or it is a switch: keys come under any name.
func chooseEnvironment(env, more []string) (given, withheld []string) {
	names, switches := environment.of("names"), environment.of("switches")
	own := slices.Concat(environment.of("own"), environment.of("quiet"))
	for _, e := range env {
		name, value, ok := strings.Cut(e, "=")
		switch {
		case !ok || name == "" || slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(o, name+"=") }):
		case value == "", slices.Contains(switches, value), slices.Contains(more, name),
			slices.ContainsFunc(names, func(n string) bool { return fitsEnding(n, name) }):
			given = append(given, e)
		default:
			withheld = append(withheld, name)
		}
	}
	slices.Sort(withheld)
	return append(given, own...), slices.Compact(withheld)
}

// withInstead is an environment with some variables in place of those of the same names.
func withInstead(env, own []string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(o, name+"=") })
	})
	return append(kept, own...)
}

// fitsEnding compares a name with one of the list, whose "*" at the end is any ending.
func fitsEnding(pattern, name string) bool {
	if start, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, start)
	}
	return pattern == name
}
