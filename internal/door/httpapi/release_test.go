package httpapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"
)

// Only release may make an answer that lets a call run, and only by redeeming a permit.
func TestOnlyReleaseLetsACallRun(t *testing.T) {
	files := token.NewFileSet()
	pkgs, err := parser.ParseDir(files, ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	setters := map[string]int{}
	for _, f := range pkgs["httpapi"].Files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if sets(n) {
					setters[fn.Name.Name]++
				}
				return true
			})
		}
	}
	if len(setters) != 1 || setters["release"] != 1 {
		t.Errorf("got %v as the functions that set released, want release alone", setters)
	}
}

// sets reports whether the node gives the field released a value.
func sets(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		key, ok := n.Key.(*ast.Ident)
		return ok && key.Name == "released"
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "released" {
				return true
			}
		}
	case *ast.CompositeLit: // without keys every field is set
		name, ok := n.Type.(*ast.Ident)
		if ok && name.Name == "toolCallAnswer" && len(n.Elts) > 0 {
			_, keyed := n.Elts[0].(*ast.KeyValueExpr)
			return !keyed
		}
	}
	return false
}
