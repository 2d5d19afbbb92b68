package policy

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/tidemark/tidemark/internal/warrant"
)

// What a condition can say of the deed itself, whatever a tool calls its arguments.
const (
	aimName     = "aim"     // who or where it goes, where that is one
	aimsName    = "aims"    // all of them
	objectName  = "object"  // what it is done to, where that is one
	objectsName = "objects" // all of it
	amountName  = "amount"  // how much, the most of it
	textsName   = "texts"   // every text of the call, however deep
	anyTextName = "anyText" // the same, asked at once
	numbersName = "numbers" // every number of the call, those in texts too
	nowName     = "now"     // when it was asked for
)

var (
	slotVariables = []string{aimName, aimsName, objectName, objectsName, amountName}
	textVariables = []string{textsName, anyTextName, numbersName}
)

// reservedName reports whether a condition has a word of that name already.
func reservedName(name string) bool {
	var own compiler
	env, err := own.open()
	if err != nil {
		return true
	}
	_, issues := env.Compile(name)
	return issues.Err() == nil || slices.Contains([]string{"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for",
		"function", "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while", "has", "number"}, name)
}

// anyText is every text of a call as one thing to ask.
type anyText struct{ of *activation }

var anyTextType = cel.OpaqueType("tidemark.anyText")

// errLater is a word of a command that nobody knows before it runs.
var errLater = errors.New("a word of the command is decided only when it runs")

// ConvertToNative is not possible.
func (t anyText) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("anyText cannot become %v", to)
}

// ConvertToType is not possible.
func (t anyText) ConvertToType(ref.Type) ref.Val {
	return types.NewErr("anyText cannot become anything else")
}

// Equal is an error: it is many texts.
func (t anyText) Equal(ref.Val) ref.Val {
	return types.NewErr("anyText is many texts: ask contains or matches")
}

// Type is its own.
func (t anyText) Type() ref.Type { return anyTextType }

// Value is itself.
func (t anyText) Value() any { return t }

// slotOptions declare what conditions see of the deed.
func (c *compiler) slotOptions() []cel.EnvOption {
	if c.patterns == nil {
		c.patterns = map[string]*regexp.Regexp{}
	}
	list := func(of *cel.Type) *cel.Type { return cel.ListType(of) }
	ask := func(name string, holds func(text, what string) bool) cel.EnvOption {
		return cel.Function(anyTextCall+name, cel.Overload("any_text_"+name, []*cel.Type{anyTextType, cel.StringType}, cel.BoolType,
			cel.BinaryBinding(func(of, what ref.Val) ref.Val {
				t, ok := of.(anyText)
				w, isText := what.(types.String)
				if !ok || !isText {
					return types.MaybeNoSuchOverloadErr(what)
				}
				return t.any(func(text string) bool { return holds(text, string(w)) })
			})))
	}
	return []cel.EnvOption{
		cel.Macros(anyTextMacro("contains"), anyTextMacro("startsWith"), anyTextMacro("endsWith"), anyTextMacro("matches")),
		cel.Variable(aimName, cel.StringType), cel.Variable(aimsName, list(cel.StringType)),
		cel.Variable(objectName, cel.StringType), cel.Variable(objectsName, list(cel.StringType)),
		cel.Variable(amountName, cel.DoubleType), cel.Variable(textsName, list(cel.StringType)),
		cel.Variable(numbersName, list(cel.DoubleType)), cel.Variable(anyTextName, anyTextType), cel.Variable(nowName, cel.TimestampType),
		ask("contains", strings.Contains), ask("startsWith", strings.HasPrefix), ask("endsWith", strings.HasSuffix),
		ask("matches", func(text, pattern string) bool {
			p := c.patterns[pattern] // read with the file: condition has looked at it
			return p == nil || p.MatchString(text)
		}),
		cel.Function("number", cel.Overload("number_of", []*cel.Type{cel.DynType}, cel.DoubleType, cel.UnaryBinding(numberOf))),
	}
}

// anyTextCall stands before the name of a question that anyText is asked: CEL's own functions of these names are for one text.
const anyTextCall = "anyText_"

// anyTextMacro makes anyText.name(…) that question.
func anyTextMacro(name string) cel.Macro {
	return cel.ReceiverMacro(name, 1, func(eh cel.MacroExprFactory, target ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
		if !named(target, anyTextName) {
			return nil, nil // it is for one text
		}
		return eh.NewCall(anyTextCall+name, target, args[0]), nil
	})
}

// any reports whether one of the texts holds. Where none does and a word of a command is not known yet, nobody can say.
func (t anyText) any(holds func(string) bool) ref.Val {
	if len(t.of.in.Args.Raw()) > maxArgs {
		return types.WrapErr(errTooLarge)
	}
	if slices.ContainsFunc(t.of.allTexts(), holds) {
		return types.True
	}
	if t.of.later {
		return types.WrapErr(errLater)
	}
	return types.False
}

// numberOf is a number as tools write it: itself, or a text that is a sum.
func numberOf(v ref.Val) ref.Val {
	switch v := v.(type) {
	case types.Double:
		return v
	case types.Int:
		return types.Double(v)
	case types.Uint:
		return types.Double(v)
	case types.String:
		if n, ok := sumIn(string(v)); ok {
			return types.Double(n)
		}
	}
	return types.NewErr("number(…): it is no number")
}

// slot is the value of a variable about the deed.
func (a *activation) slot(name string) (any, bool) {
	switch name {
	case aimName:
		return a.one(warrant.Aim), true
	case objectName:
		return a.one(warrant.Object), true
	case aimsName:
		return types.DefaultTypeAdapter.NativeToValue(a.values(warrant.Aim)), true
	case objectsName:
		return types.DefaultTypeAdapter.NativeToValue(a.values(warrant.Object)), true
	case amountName:
		return types.Double(a.amount()), true
	case textsName, numbersName:
		if len(a.in.Args.Raw()) > maxArgs {
			return types.WrapErr(errTooLarge), true
		}
		if name == numbersName {
			return types.DefaultTypeAdapter.NativeToValue(a.numbers()), true
		}
		if list := a.allTexts(); !a.later {
			return types.DefaultTypeAdapter.NativeToValue(list), true
		}
		return types.WrapErr(errLater), true
	case anyTextName:
		return anyText{a}, true
	case nowName:
		if a.in.Now.IsZero() {
			return types.NewErr("nobody told what time it is"), true
		}
		return types.Timestamp{Time: a.in.Now}, true
	}
	if g, ok := a.group(name); ok {
		return g, true
	}
	return nil, false
}

// group is the group of a name.
func (a *activation) group(name string) (members, bool) {
	if a.set == nil {
		return members{}, false
	}
	g, ok := a.set.facts.groups[name]
	return g, ok
}

// values are what stands in the slots of a kind. Nothing, where nobody knows what the call does.
func (a *activation) values(slot SlotKind) []string {
	if a.in.Facts == nil {
		return nil
	}
	return a.in.Facts.Values(slot)
}

// one is the value of a slot that there is one of: a rule that speaks of one and meets several must not pass over the others.
func (a *activation) one(slot SlotKind) ref.Val {
	list := a.values(slot)
	switch {
	case len(list) == 1:
		return types.String(list[0])
	case len(list) == 0 && a.in.Facts != nil:
		return types.String("")
	case len(list) == 0:
		return types.NewErr("nobody knows the %s of this call", slot)
	}
	return types.NewErr("the call has %d of %s: ask %ss.exists(v, …)", len(list), slot, slot)
}

// amount is the largest sum among the measures of a call. A payment that names none may be of any.
func (a *activation) amount() float64 {
	most, found := 0.0, false
	for _, v := range a.values(warrant.Measure) {
		if n, ok := sumIn(v); ok {
			most, found = max(most, math.Abs(n)), true
		}
	}
	if d := a.deed(); !found && (d == warrant.Pay || d == warrant.Unknown) {
		return math.Inf(1)
	}
	return most
}

// sum is a number with at most a currency beside it.
var sum = regexp.MustCompile(`^[^\d\s.,+-]{0,4}\s*([+-]?\d[\d.,'’ \x{00a0}]*)\s*[^\d\s]{0,4}$`)

// sumIn is the number of a text that is nothing else. Of two ways to read it, the larger: "1.000" may be a thousand.
func sumIn(s string) (float64, bool) {
	m := sum.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, false
	}
	return larger(m[1])
}

// larger is the larger of the two readings of digits with points and commas.
func larger(s string) (float64, bool) {
	s = strings.Trim(strings.NewReplacer("'", "", "’", "", " ", "", "\u00a0", "").Replace(s), ".,")
	best, found := 0.0, false
	for _, sign := range [][2]string{{".", ","}, {",", "."}} {
		whole, part, _ := strings.Cut(s, sign[0])
		if slices.ContainsFunc(strings.Split(whole, sign[1])[1:], func(g string) bool { return len(g) != 3 }) {
			continue // it stands between other groups than thousands
		}
		if n, err := strconv.ParseFloat(strings.ReplaceAll(whole, sign[1], "")+"."+part, 64); err == nil && !math.IsNaN(n) {
			if !found || math.Abs(n) > math.Abs(best) {
				best, found = n, true
			}
		}
	}
	return best, found
}

// digits are numbers inside a text.
var digits = regexp.MustCompile(`\d[\d.,'’]*`)

// mostNumbers bounds how many numbers of a call a condition sees; in more, one larger than all.
const mostNumbers = 1000

// numbers are all numbers of a call, as values and in texts.
func (a *activation) numbers() []float64 {
	out := []float64{}
	for _, t := range a.allTexts() {
		for _, m := range digits.FindAllString(t, mostNumbers+1) {
			if n, ok := larger(m); ok {
				out = append(out, n)
			}
		}
		if len(out) > mostNumbers {
			return append(out[:mostNumbers], math.Inf(1))
		}
	}
	return out
}

// allTexts are every text and number of a call, and of a command every program as it would run. They are gathered once.
func (a *activation) allTexts() []string {
	if a.gathered {
		return a.texts
	}
	a.gathered = true
	if a.in.Args == nil {
		return nil
	}
	fields, err := a.in.Args.Fields()
	if err != nil {
		return nil // openArgs has refused it before
	}
	a.texts = texts(nil, fields)
	if a.set == nil {
		return a.texts
	}
	lines, ok := a.set.lines(a.in.Tool, fields)
	a.later = !ok
	for _, l := range lines {
		for i := range l.Runs {
			run := []string{l.Runs[i].Path}
			for _, w := range l.Runs[i].Args {
				run = append(run, w.Text)
				a.later = a.later || !w.Known && becomes.MatchString(w.Text)
			}
			a.texts = append(a.texts, strings.Join(run, " "))
		}
	}
	return a.texts
}

// becomes finds in a word that is not wholly known what may become letters: a variable, an answer of another command, alternatives, and
// a pattern of files within a name. A folder that the shell knows, and a pattern that stands apart, do not make another name of one.
var becomes = regexp.MustCompile(`\$|\{|[\pL\pN][*?\[]|[*?\]][\pL\pN]`)

// texts are the texts and numbers of a value, however deep, and the names that stand before them.
func texts(to []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(to, v)
	case float64:
		return append(to, strconv.FormatFloat(v, 'f', -1, 64))
	case fmt.Stringer: // a number as it was written
		return append(to, v.String())
	case []any:
		for _, e := range v {
			to = texts(to, e)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if inner, deep := v[k].(map[string]any); deep { // what stands in it may be called anything
				to = append(to, sortedKeys(inner)...)
			}
			to = texts(to, v[k])
		}
	}
	return to
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
