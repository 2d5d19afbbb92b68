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

// Begins reports whether an option is the beginning of another, as git and many programs take it for that: --har for --hard.
func Begins(option, name string) bool {
	return len(option) > len("--x") && strings.HasPrefix(name, option)
}

// operands are the words that may be none of an option's, but for those behind the options that are known to take one. Firsts are those
// of them that may be the first: behind any other option a word may be its value, or not.
func operands(args []Word, valued map[string]bool) (all, firsts []Word) {
	open, found, ended := false, false, false
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		if !ended && len(t) > 1 && t[0] == '-' {
			ended = t == "--"
			if open = !ended && !strings.Contains(t, "="); valued[t] {
				i, open = i+1, false
			}
			continue
		}
		all = append(all, args[i])
		if !found {
			firsts, found = append(firsts, args[i]), !open
		}
		open = false
	}
	return all, firsts
}
