package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

// A word that is compared with a closed set and is not in it is never found there: the rule
// would never fire, or always. literals finds such words while the file is read.
type literals struct {
	*reader
	node *configfile.Node
	ast  *ast.AST
}

// condition compiles the text of a node and looks at its words.
func (r *reader) condition(n *configfile.Node) *condition {
	return r.cel.condition(&r.Decoder, n, r.checkWords)
}

// checkWords reports words of an expression that nothing can ever be equal to, and tools that
// look like a slip.
func (r *reader) checkWords(n *configfile.Node, checked *cel.Ast) {
	l := &literals{reader: r, node: n, ast: checked.NativeRep()}
	ast.PostOrderVisit(l.ast.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			if sel := e.AsSelect(); named(sel.Operand(), "warrant") {
				l.word(e, sel.FieldName(), slotNames(), "warrant has no slot")
			}
		case ast.CallKind:
			l.call(e.AsCall())
		}
	}))
}

func named(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

func slotNames() []string {
	var out []string
	for _, k := range warrant.Kinds() {
		out = append(out, k.String())
	}
	return out
}

func actNames() []string {
	var out []string
	for _, d := range warrant.Deeds() {
		out = append(out, d.String())
	}
	return out
}

// call looks at comparisons, and at maps that are asked about a tool.
func (l *literals) call(c ast.CallExpr) {
	args := c.Args()
	if len(args) != 2 {
		return
	}
	switch c.FunctionName() {
	case operators.Equals, operators.NotEquals:
		l.compare(args[0], args[1])
		l.compare(args[1], args[0])
	case operators.In:
		if args[1].Kind() == ast.ListKind {
			for _, item := range args[1].AsList().Elements() {
				l.compare(args[0], item)
			}
			return
		}
		l.tool(args[1], args[0])
	case operators.Index, operators.OptIndex:
		l.tool(args[0], args[1])
	}
}

// compare looks at a word that a value of a closed set is compared with.
func (l *literals) compare(value, word ast.Expr) {
	text, ok := wordIn(word)
	if !ok {
		return
	}
	switch {
	case named(value, "act"):
		l.word(word, text, actNames(), "there is no act")
	case isWarrant(value):
		l.word(word, text, append(warrant.EvidenceNames(), warrant.Free), "there is no evidence")
	case named(value, "tool"):
		l.near(word, text)
	}
}

// tool looks at the name that calls or results are asked about.
func (l *literals) tool(of, key ast.Expr) {
	if text, ok := wordIn(key); ok && (named(of, "calls") || named(of, "results")) {
		l.near(key, text)
	}
}

func isWarrant(e ast.Expr) bool {
	switch e.Kind() {
	case ast.SelectKind:
		return named(e.AsSelect().Operand(), "warrant") && !e.AsSelect().IsTestOnly()
	case ast.CallKind:
		c := e.AsCall()
		return c.FunctionName() == operators.Index && named(c.Args()[0], "warrant")
	}
	return false
}

func wordIn(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().Value().(string)
	return text, ok
}

func (l *literals) word(at ast.Expr, text string, known []string, none string) {
	if !slices.Contains(known, text) {
		l.Hintf(l.at(at), configfile.Suggest(text, known), "%s: %s %q (there are %s)",
			l.node.Path, none, short(plainMessage(text)), strings.Join(known, ", "))
	}
}

// near warns about a tool that nobody names and that is one slip away from one that somebody does.
// Tools are no closed set: any server may bring any.
func (l *literals) near(at ast.Expr, text string) {
	l.slips = append(l.slips, func() { l.slip(l.at(at), l.node.Path, text) }) // the file may name it further down
}

func (r *reader) slip(at configfile.Pos, path, text string) {
	name := tool.Name(text)
	if r.keyed[name] {
		return
	}
	if hint := configfile.Suggest(name, slices.Sorted(maps.Keys(r.keyed))); hint != "" {
		r.Warnf(at, "%s: no tool named %q is known here: %s", path, short(plainMessage(text)), hint)
	}
}

func (l *literals) at(e ast.Expr) configfile.Pos {
	place := l.ast.SourceInfo().GetStartLocation(e.ID())
	return l.node.At(place.Line(), place.Column())
}

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
