package archtest_test

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// folding are the functions whose result may be longer or shorter than what they are given, or begin elsewhere: a letter and its other
// form, or a byte that is no letter, need not have one length. A place in what they give is none in what they got. What cuts only at the
// end is not among them.
var folding = []string{
	"strings.ToLower", "strings.ToUpper", "strings.ToTitle", "strings.Map", "strings.ToValidUTF8",
	"bytes.ToLower", "bytes.ToUpper", "bytes.ToTitle", "bytes.Map", "bytes.ToValidUTF8",
	"strings.TrimSpace", "strings.TrimLeft", "strings.TrimLeftFunc", "strings.TrimPrefix", "strings.Trim", "strings.TrimFunc",
	"bytes.TrimSpace", "bytes.TrimLeft", "bytes.TrimLeftFunc", "bytes.TrimPrefix", "bytes.Trim", "bytes.TrimFunc",
	"strings.Replace", "strings.ReplaceAll", "bytes.Replace", "bytes.ReplaceAll",
	"html.UnescapeString", "url.PathUnescape", "url.QueryUnescape", "strconv.Unquote", "path.Clean", "filepath.Clean",
}

// foldingNames are names that functions of ours have which do so, whatever package they are of, and methods of libraries: a Replacer's, a
// normalisation form's.
var foldingNames = []string{
	"fold", "folded", "lower", "normal", "normalise", "clean", "cleaned", "plain", "unquoted", "unescape", "unescaped", "squeezed", "drawable",
}

// changes reports whether a call changes a text so that places in it are others.
func changes(call *ast.CallExpr) bool {
	name := types.ExprString(call.Fun)
	if slices.Contains(folding, name) {
		return true
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	return slices.Contains(foldingNames, strings.ToLower(last)) || len(call.Args) == 1 && strings.Contains(name, ".") && (last == "Replace" || last == "String")
}

// foldingTables may do so, with the reason.
var foldingTables = map[string]string{"internal/warrant/arguments/leaves.go": "only where both have one length, which it looks at first"}

// checkFolds finds places in a folded text that are used on the text itself: text.IndexFold tells places in the text.
func checkFolds(t *tree) []string {
	out := t.findings()
	for _, p := range t.pkgs {
		for _, f := range p.code() {
			if foldingTables[f.path] != "" {
				continue
			}
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					checkFoldsIn(out, fn)
				}
			}
		}
	}
	return out.list
}

// folds is what one function makes of folded texts.
type folds struct {
	of     map[string][]string // what each folded text was made of, by its name
	places map[string][]string // what the texts were made of in which a variable is a place
	begins map[string]bool     // texts that were compared by the ends of their folded form
}

func checkFoldsIn(out *findings, fn *ast.FuncDecl) {
	f := folds{of: map[string][]string{}, places: map[string][]string{}, begins: map[string]bool{}}
	for range 2 { // a loop may use what it sets later
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			f.learn(n)
			return true
		})
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		var cut ast.Expr
		var by []ast.Expr
		switch n := n.(type) {
		case *ast.SliceExpr:
			cut, by = n.X, []ast.Expr{n.Low, n.High}
		case *ast.IndexExpr:
			cut, by = n.X, []ast.Expr{n.Index}
		default:
			return true
		}
		name := types.ExprString(cut)
		for _, b := range by {
			if b != nil && f.misplaced(name, b) {
				out.at(n.Pos(), "%s is cut by a place in its folded form", name)
				break
			}
		}
		return true
	})
}

// learn notes folded texts and places in them.
func (f *folds) learn(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			from := n.Rhs[min(i, len(n.Rhs)-1)]
			name := types.ExprString(to)
			if name == "_" {
				continue
			}
			if call, ok := from.(*ast.CallExpr); ok {
				if tellsPlace(call) && len(call.Args) > 0 {
					f.places[name] = append(f.places[name], f.origins(call.Args[0])...)
					continue
				}
			}
			for _, o := range f.origins(from) {
				if o != name { // x = strings.ToLower(x) leaves nothing to be cut wrongly
					f.of[name] = append(f.of[name], o)
				}
			}
		}
	case *ast.RangeStmt:
		if n.Key != nil {
			name := types.ExprString(n.Key)
			f.places[name] = append(f.places[name], f.origins(n.X)...)
		}
	case *ast.CallExpr:
		switch types.ExprString(n.Fun) {
		case "strings.HasPrefix", "strings.HasSuffix", "bytes.HasPrefix", "bytes.HasSuffix":
			for _, o := range f.origins(n.Args[0]) {
				f.begins[o] = true
			}
		}
	}
}

// tellsPlace reports whether a call says where something stands in its first argument.
func tellsPlace(call *ast.CallExpr) bool {
	name := types.ExprString(call.Fun)
	return strings.HasPrefix(name, "strings.Index") || strings.HasPrefix(name, "strings.LastIndex") ||
		strings.HasPrefix(name, "bytes.Index") || strings.HasPrefix(name, "bytes.LastIndex") ||
		strings.Contains(name, ".Find") && strings.HasSuffix(name, "Index") // of a regular expression
}

// origins are the texts that an expression folds, or that a folded one was made of.
func (f *folds) origins(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.CallExpr:
		if changes(e) {
			var list []string
			for _, a := range e.Args {
				if _, call := a.(*ast.FuncLit); !call {
					list = append(list, append(f.origins(a), types.ExprString(a))...)
				}
			}
			return list
		}
	case *ast.SliceExpr:
		return f.origins(e.X)
	case *ast.ParenExpr:
		return f.origins(e.X)
	case *ast.Ident, *ast.SelectorExpr:
		return f.of[types.ExprString(e)]
	}
	return nil
}

// misplaced reports whether a place is one in the folded form of a text.
func (f *folds) misplaced(name string, place ast.Expr) bool {
	found := false
	ast.Inspect(place, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || slices.Contains(f.places[n.Name], name)
		case *ast.CallExpr:
			found = found || tellsPlace(n) && len(n.Args) > 0 && slices.Contains(f.origins(n.Args[0]), name)
			found = found || types.ExprString(n.Fun) == "len" && f.begins[name] && types.ExprString(n.Args[0]) != name
		}
		return !found
	})
	return found
}
