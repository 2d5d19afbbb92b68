package policy

import "regexp"

// argOrigin is the origin of one argument, as a rule may write it: args.to.origin.
var argOrigin = regexp.MustCompile(`\bargs((?:\.[A-Za-z_][A-Za-z0-9_]*)+)\.origin\b`)

// withOrigins turns args.to.origin into origin["to"], outside of quotes. An argument that
// has a field of that name itself is reached by args.to["origin"].
func withOrigins(expression string) string {
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
		out += argOrigin.ReplaceAllStringFunc(expression[from:i], originOf) + expression[i:end]
		i, from = end, end
	}
	return out + argOrigin.ReplaceAllStringFunc(expression[from:], originOf)
}

func originOf(s string) string {
	path := argOrigin.FindStringSubmatch(s)[1]
	return `origin["` + path[1:] + `"]`
}
