package archtest_test

import (
	"go/ast"
	"slices"
	"strings"
)

// What is particular to a format of a model's API stands in package format. Whoever else
// asks which one it is would be one more place to change for a new one.
const formatDir = "internal/llm/format"

var (
	formatNames = []string{"Chat", "Responses", "Messages", "Gemini", "Converse", "Ollama", "CodeAssist"}
	// formatTables may name them, with the reason.
	formatTables = map[string]string{"internal/llm/proxy/route.go": "paths and providers say which format is spoken"}
)

// checkFormats finds code outside package format that tells formats apart.
func checkFormats(t *tree) []string {
	out := t.findings()
	for _, p := range t.pkgs {
		if p.dir == formatDir || strings.HasPrefix(p.dir, formatDir+"/") {
			continue
		}
		for _, f := range p.code() {
			if formatTables[f.path] != "" {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || !slices.Contains(formatNames, sel.Sel.Name) {
					return true
				}
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "format" {
					out.at(sel.Pos(), "format.%s is named outside package format", sel.Sel.Name)
				}
				return true
			})
		}
	}
	return out.list
}
