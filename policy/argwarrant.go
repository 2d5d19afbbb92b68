package policy

import "regexp"

// argWarrant is the evidence for one argument, as a rule may write it: args.to.warrant.
var argWarrant = regexp.MustCompile(`\bargs((?:\.[A-Za-z_][A-Za-z0-9_]*)+)\.warrant\b`)

// withWarrants turns args.to.warrant into warrant["to"], outside of quotes. An argument that
// has a field of that name itself is reached by args.to["warrant"].
func withWarrants(expression string) string {
	out, from := "", 0
	for i := 0; i < len(expression); {
		q := expression[i]
		if q != '"' && q != '\'' {
			i++
			continue
		}
		end := i + 1
		for end < len(expression) && expression[end] != q {
			if expression[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(expression))
		out += argWarrant.ReplaceAllStringFunc(expression[from:i], warrantOf) + expression[i:end]
		i, from = end, end
	}
	return out + argWarrant.ReplaceAllStringFunc(expression[from:], warrantOf)
}

func warrantOf(s string) string {
	path := argWarrant.FindStringSubmatch(s)[1]
	return `warrant["` + path[1:] + `"]`
}
