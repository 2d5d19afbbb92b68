package shell

import (
	"slices"
	"strings"
)

// options takes a program's flags and its other words apart. values are the letters of
// flags that take a value, long the long ones.
func options(args []Word, values string, long map[string]bool) (flags map[string][]string, rest []Word) {
	flags = map[string][]string{}
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		next := func() string {
			if i++; i < len(args) {
				return args[i].Text
			}
			return ""
		}
		switch {
		case t == "--":
			return flags, append(rest, args[i+1:]...)
		case strings.HasPrefix(t, "--"):
			name, v, ok := strings.Cut(t, "=")
			if !ok && long[name] {
				v = next()
			}
			flags[name] = append(flags[name], v)
		case len(t) > 1 && t[0] == '-':
			cluster(flags, t, values, next)
		default:
			rest = append(rest, args[i])
		}
	}
	return flags, rest
}

// anyFlag reports whether one of the flags was there.
func anyFlag(flags map[string][]string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return flags[n] != nil })
}

// valuesOf are what all of the flags were given.
func valuesOf(flags map[string][]string, names ...string) []string {
	var out []string
	for _, n := range names {
		out = append(out, flags[n]...)
	}
	return out
}

// cluster reads short flags that stand together.
func cluster(flags map[string][]string, t, values string, next func() string) {
	for k := 1; k < len(t); k++ {
		f := "-" + t[k:k+1]
		if strings.IndexByte(values, t[k]) < 0 {
			flags[f] = append(flags[f], "")
			continue
		}
		v := t[k+1:]
		if v == "" {
			v = next()
		}
		flags[f] = append(flags[f], v)
		return
	}
}
