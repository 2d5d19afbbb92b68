package event_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
)

// Whoever asks for one kind of records must be able to ask for any that is written.
func TestKindsAreAllThatAreDeclared(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []event.Kind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		of, isNamed := spec.Type.(*ast.Ident)
		value, isText := spec.Values[0].(*ast.BasicLit)
		if isNamed && isText && of.Name == "Kind" {
			var kind event.Kind
			if err := strictjson.Unmarshal([]byte(value.Value), &kind); err != nil {
				t.Fatal(err)
			}
			declared = append(declared, kind)
		}
		return true
	})
	listed := event.Kinds()
	if len(declared) < 10 {
		t.Fatalf("found only %v", declared)
	}
	for _, kind := range declared {
		if !slices.Contains(listed, kind) {
			t.Errorf("%s is written and not listed", kind)
		}
	}
	if len(listed) != len(declared) {
		t.Errorf("got %d kinds, want the %d that are declared", len(listed), len(declared))
	}
}
