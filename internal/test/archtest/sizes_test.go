package archtest_test

import (
	"fmt"
	"go/ast"
	"testing"
)

// The caps. A reader holds one file, one function, one port in the head at a time.
const (
	maxFile      = 500
	maxFunc      = 60
	maxInterface = 5
)

// large are the exceptions, by "file" or "file name", with the reason.
var large = map[string]string{}

func checkSizes(t *tree) []string {
	out := t.findings()
	for _, p := range t.pkgs {
		for _, f := range p.code() {
			if f.lines > maxFile && large[f.path] == "" {
				out.in(f.path, "%d lines, the cap is %d", f.lines, maxFile)
			}
			eachLarge(t, f, func(n ast.Node, what string, size, limit int) {
				if large[f.path+" "+what] == "" {
					out.at(n.Pos(), "%s: %d, the cap is %d", what, size, limit)
				}
			})
		}
	}
	return out.list
}

func eachLarge(t *tree, f *file, visit func(n ast.Node, what string, size, limit int)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := t.fset.Position(n.End()).Line - t.fset.Position(n.Pos()).Line + 1; lines > maxFunc {
				visit(n, fmt.Sprintf("lines of %s", n.Name.Name), lines, maxFunc)
			}
		case *ast.TypeSpec:
			if methods := interfaceSize(n.Type); methods > maxInterface {
				visit(n, fmt.Sprintf("methods of %s", n.Name.Name), methods, maxInterface)
			}
		}
		return true
	})
}

func interfaceSize(e ast.Expr) int {
	i, ok := e.(*ast.InterfaceType)
	if !ok {
		return 0
	}
	size := 0
	for _, m := range i.Methods.List {
		size += max(1, len(m.Names))
	}
	return size
}

func TestNoSizeExceptionIsStale(t *testing.T) {
	repo, used := repository(t), map[string]bool{}
	for _, p := range repo.pkgs {
		for _, f := range p.code() {
			used[f.path] = f.lines > maxFile
			eachLarge(repo, f, func(_ ast.Node, what string, _, _ int) { used[f.path+" "+what] = true })
		}
	}
	for name, why := range large {
		if !used[name] || why == "" {
			t.Errorf("exception %q (%s): nothing is that large any more, or no reason is given", name, why)
		}
	}
}
