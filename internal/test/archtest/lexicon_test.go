package archtest_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The judge's lists of words stand in text files with a reader (internal/warrant/wordlist): a list in a Go text is one that nobody
// compares with its neighbours, and no other language gets a line in.

// programNames are packages whose lists are names of programs and their options, not words of people.
var programNames = []string{"internal/warrant/shell", "internal/warrant/commands"}

// wordsInAList is from how many words on something is a list.
const wordsInAList = 6

var oneWord = regexp.MustCompile(`^[\pL_-]{2,}$`)

func checkLexicon(t *tree) []string {
	out := t.findings()
	for _, p := range t.pkgs {
		if p.dir != "internal/warrant" && !strings.HasPrefix(p.dir, "internal/warrant/") || slices.Contains(programNames, p.dir) {
			continue
		}
		for _, f := range p.code() {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if v, ok := n.(*ast.ValueSpec); ok && strings.HasSuffix(v.Names[0].Name, "Names") {
					return false // of constants
				}
				if words := listed(n); words >= wordsInAList {
					out.at(n.Pos(), "a list of %d words: it belongs into a text file that wordlist reads", words)
					return false
				}
				return true
			})
		}
	}
	return out.list
}

// listed is how many words stand one beside the other in a node: in a list, in a set, in a case, or in a text of several lines. A table
// that gives each word a meaning of its own is none.
func listed(n ast.Node) int {
	switch n := n.(type) {
	case *ast.CompositeLit:
		return texts(n.Elts)
	case *ast.CaseClause:
		return texts(n.List)
	case *ast.BasicLit:
		if !strings.Contains(text(n), "\n") {
			return 0
		}
		words := strings.Fields(text(n))
		if slices.ContainsFunc(words, func(w string) bool { return !oneWord.MatchString(w) }) {
			return 0
		}
		return len(words)
	}
	return 0
}

func texts(list []ast.Expr) (n int) {
	for _, e := range list {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if v, ok := pair.Value.(*ast.Ident); !ok || v.Name != "true" {
				continue
			}
			e = pair.Key
		}
		if oneWord.MatchString(text(e)) {
			n++
		}
	}
	return n
}

// text is the text of a literal; "" where it is none.
func text(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		s, err := strconv.Unquote(lit.Value)
		if err == nil {
			return s
		}
	}
	return ""
}
