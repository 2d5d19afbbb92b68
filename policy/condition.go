package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/trust"
)

// The caps on conditions. Only expressions that can grow with their input pay for
// the cost limit: tracking it makes an evaluation about three times slower.
const (
	maxExpression = 8 << 10
	maxCost       = 100_000
	maxArgs       = 256 << 10
)

// condition is a compiled `when`.
type condition struct {
	prog  cel.Program
	args  bool // it looks at the arguments
	tool  bool // it looks at the tool's name
	rest  bool // it looks at the context or the history
	facts bool // it looks at what the call does and where its values came from
	needs []need
}

// need is a plain fact that must be so for a condition to hold. They are asked first:
// most rules of a preset end there, without an evaluation.
type need struct {
	fact Fact
	want bool
}

// possible reports whether the condition could hold.
func (c *condition) possible(a *activation) bool {
	for _, n := range c.needs {
		if a.fact(n.fact) != n.want {
			return false
		}
	}
	return true
}

// needsOf are the plain facts among the terms of a conjunction.
func needsOf(e ast.Expr) []need {
	switch e.Kind() {
	case ast.IdentKind:
		if f, ok := factNames[e.AsIdent()]; ok {
			return []need{{f, true}}
		}
	case ast.CallKind:
		call := e.AsCall()
		args := call.Args()
		switch {
		case call.FunctionName() == operators.LogicalAnd:
			var out []need
			for _, a := range args {
				out = append(out, needsOf(a)...)
			}
			return out
		case call.FunctionName() == operators.LogicalNot && args[0].Kind() == ast.IdentKind:
			if f, ok := factNames[args[0].AsIdent()]; ok {
				return []need{{f, false}}
			}
		}
	}
	return nil
}

// errNotBool is a condition that gave something else than true or false.
var errNotBool = errors.New("the condition gave neither true nor false")

// errTooLarge is an argument that is too large to look into. A condition that looks at others is
// evaluated all the same.
var errTooLarge = fmt.Errorf("the argument it looks at is larger than %d KiB", maxArgs>>10)

// holds evaluates the condition.
func (c *condition) holds(a *activation) (bool, error) {
	if c.prog == nil {
		return true, nil // a rule that only looks back
	}
	if c.args {
		if err := a.openArgs(); err != nil {
			return false, err
		}
	}
	out, _, err := c.prog.Eval(a)
	switch {
	case err != nil:
		return false, err
	case out == types.True:
		return true, nil
	case out == types.False:
		return false, nil
	}
	return false, errNotBool
}

// compiler turns expressions into conditions; it makes its environment once, and
// only if some file has a condition at all.
type compiler struct {
	env      *cel.Env
	groups   map[string]members        // what the file calls some people
	patterns map[string]*regexp.Regexp // of anyText.matches, as the file has them
}

func (c *compiler) open() (*cel.Env, error) {
	if c.env != nil {
		return c.env, nil
	}
	opts := []cel.EnvOption{
		cel.Variable("tool", cel.StringType),
		cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("taint", cel.IntType),
		cel.Variable("iteration", cel.IntType),
		cel.Variable("agent", cel.StringType),
		cel.Variable("provider", cel.StringType),
		cel.Variable("calls", cel.MapType(cel.StringType, cel.IntType)),
		cel.Variable("results", cel.MapType(cel.StringType, cel.IntType)),
		cel.Variable("approved", cel.MapType(cel.StringType, cel.IntType)),
		cel.Variable("denied", cel.IntType),
		cel.Variable("steps", cel.IntType),
		cel.Variable("tainted", cel.BoolType),
		cel.Variable("sensitive", cel.BoolType),
		cel.Variable("act", cel.StringType),
		cel.Variable("warrant", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("does", cel.MapType(cel.StringType, cel.BoolType)),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		ext.Strings(),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.ParserRecursionLimit(100),
	}
	opts = append(opts, c.slotOptions()...)
	for _, name := range slices.Sorted(maps.Keys(c.groups)) {
		opts = append(opts, cel.Variable(name, cel.ListType(cel.StringType)))
	}
	for _, name := range slices.Sorted(maps.Keys(factNames)) {
		opts = append(opts, cel.Variable(name, cel.BoolType))
	}
	for _, l := range trust.Levels() {
		opts = append(opts, cel.Constant(l.String(), cel.IntType, types.Int(l.Distrust())))
	}
	env, err := cel.NewEnv(opts...)
	c.env = env
	return env, err
}

// condition compiles the text of a node. What is wrong is reported at its place
// inside the expression.
func (c *compiler) condition(d *configfile.Decoder, n *configfile.Node, words func(*configfile.Node, *cel.Ast)) *condition {
	text, ok := d.Text(n)
	if !ok {
		return nil
	}
	env, err := c.open()
	if err != nil {
		d.Errorf(n.Pos, "%s: prepare expressions: %v", n.Path, err)
		return nil
	}
	checked, issues := env.Compile(withWarrants(text))
	if issues.Err() != nil {
		for _, e := range issues.Errors() {
			d.Hintf(n.At(e.Location.Line(), e.Location.Column()), insteadOf(e.Message), "%s: %s", n.Path, plainMessage(e.Message))
		}
		return nil
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		d.Errorf(n.Pos, "%s must be true or false, but gives %s", n.Path, t)
		return nil
	}
	words(n, checked)
	out, costly, err := survey(checked)
	if err == nil {
		err = c.readPatterns(checked)
	}
	if err != nil {
		d.Errorf(n.Pos, "%s: %v", n.Path, err)
		return nil
	}
	opts := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if costly {
		opts = append(opts, cel.CostLimit(maxCost))
	}
	if out.prog, err = env.Program(checked, opts...); err != nil {
		d.Errorf(n.Pos, "%s: %v", n.Path, err)
		return nil
	}
	return out
}

// insteadOf is what to write in place of a name that is no more; empty: it is none of those.
func insteadOf(message string) string {
	_, rest, _ := strings.Cut(message, "undeclared reference to '")
	name, _, _ := strings.Cut(rest, "'")
	if now := retired[name]; now != "" {
		return "it is gone; say " + now
	}
	return ""
}

// plainMessage is a message on one line; what is not printable in it may come from
// a call's arguments and must not reach a terminal.
func plainMessage(s string) string {
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), " (in container '')", "")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// survey looks at what an expression mentions and whether its cost can grow
// faster than its input.
func survey(checked *cel.Ast) (*condition, bool, error) {
	out, costly := &condition{}, false
	var err error
	rep := checked.NativeRep()
	out.needs = needsOf(rep.Expr())
	ast.PostOrderVisit(rep.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			switch e.AsIdent() {
			case "args", "does", textsName, anyTextName, numbersName:
				out.args = true
			case "tool":
				out.tool = true
			case "taint", "iteration", "agent", "provider", "calls", "results", "approved",
				"denied", "steps", "tainted", "sensitive", nowName:
				out.rest = true
			case "act", "warrant", aimName, aimsName, objectName, objectsName, amountName:
				out.args, out.rest, out.facts = true, true, true
			default:
				if _, ok := factNames[e.AsIdent()]; ok { // they are about the whole call
					out.args, out.rest, out.facts = true, true, true
				}
			}
		case ast.ComprehensionKind:
			costly = true
			r := e.AsComprehension().IterRange()
			if r.Kind() == ast.IdentKind && slices.Contains([]string{"calls", "results", "approved", "warrant", "does"}, r.AsIdent()) {
				err = fmt.Errorf("%s can be asked for one tool, it cannot be listed", r.AsIdent())
			}
		case ast.SelectKind:
			if sel := e.AsSelect(); sel.Operand().Kind() == ast.IdentKind && sel.Operand().AsIdent() == "does" {
				err = cmp.Or(err, effectFault(sel.FieldName()))
			}
		case ast.CallKind:
			err = cmp.Or(err, askedEffect(e.AsCall()))
			costly = costly || !cheap(e.AsCall().FunctionName(), rep.GetType(e.ID()))
		}
	}))
	return out, costly, err
}

// askedEffect finds a mistyped name in does["…"] and "…" in does.
func askedEffect(call ast.CallExpr) error {
	args := call.Args()
	if len(args) != 2 {
		return nil
	}
	of, key := args[0], args[1]
	if call.FunctionName() == operators.In {
		of, key = key, of
	}
	if of.Kind() != ast.IdentKind || of.AsIdent() != "does" || key.Kind() != ast.LiteralKind {
		return nil
	}
	name, ok := key.AsLiteral().Value().(string)
	if !ok {
		return nil
	}
	return effectFault(name)
}

func effectFault(name string) error {
	if _, ok := shell.Named(name); !ok {
		return errors.New(unknownEffect(name))
	}
	return nil
}

// cheap reports whether a function does no more work than its input is long and
// builds nothing.
func cheap(name string, result *types.Type) bool {
	switch name {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional,
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
		operators.In, operators.Index, operators.OptIndex, operators.OptSelect, operators.Negate,
		operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo,
		"startsWith", "endsWith", "contains", "size", "orValue", "hasValue", "value", "or", "int", "double", "string":
		return true
	case operators.Add:
		return result.IsExactType(cel.IntType) || result.IsExactType(cel.DoubleType)
	}
	return false
}

// readPatterns compiles what anyText.matches is given: it is the same for every call, and one that is wrong is told with the file.
func (c *compiler) readPatterns(checked *cel.Ast) error {
	var err error
	ast.PostOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != anyTextCall+"matches" {
			return
		}
		text, ok := wordIn(e.AsCall().Args()[1])
		if !ok {
			err = cmp.Or(err, errors.New("anyText.matches takes a pattern in quotes"))
			return
		}
		p, bad := regexp.Compile(text)
		if bad != nil {
			err = cmp.Or(err, fmt.Errorf("%q is no pattern: %w", short(text), bad))
		}
		c.patterns[text] = p
	}))
	return err
}
