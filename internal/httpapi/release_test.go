package httpapi_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/tool"
)

// Nothing but a permit of the monitor for exactly this call lets it run, and only once.
func TestReleaseNeedsAPermit(t *testing.T) {
	w := open(t, "")
	call, other := tool.Call{Name: "read", Args: []byte(`{}`)}, tool.Call{Name: "read", Args: []byte(`{ }`)}
	decide := func() *engine.Permit {
		w.say("s", "Read.")
		v, err := w.monitor.Decide(t.Context(), engine.Ref{Session: "s"}, call)
		if err != nil || !v.Allowed() {
			t.Fatalf("got %+v, %v, want it allowed", v, err)
		}
		return v.Permit
	}
	used := decide()
	if blocks, err := httpapi.Blocks(used, call); blocks || err != nil {
		t.Errorf("with its permit: got block %t, %v", blocks, err)
	}
	for name, c := range map[string]struct {
		permit *engine.Permit
		call   tool.Call
	}{
		"no permit":                    {nil, call},
		"a permit nobody made":         {&engine.Permit{}, call},
		"a permit that was used":       {used, call},
		"a permit for other arguments": {decide(), other},
	} {
		if blocks, err := httpapi.Blocks(c.permit, c.call); !blocks || !errors.Is(err, engine.ErrPermit) {
			t.Errorf("%s: got block %t, %v; want a block and ErrPermit", name, blocks, err)
		}
	}
}

// Only release may make an answer that lets a call run, and only by redeeming a permit.
func TestOnlyReleaseLetsACallRun(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	setters := map[string]int{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
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
