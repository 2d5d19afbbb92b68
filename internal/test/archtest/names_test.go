package archtest_test

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// vague names say nothing about what is inside, so everything ends up there.
var (
	vague      = map[string]bool{"util": true, "utils": true, "common": true, "types": true, "helper": true, "helpers": true, "manager": true, "base": true, "misc": true}
	vagueTypes = regexp.MustCompile(`.(Manager|Helper|Impl|Base|Utils?)$`)
)

func checkNames(t *tree) []string {
	out := t.findings()
	for _, p := range t.pkgs {
		for _, f := range p.files {
			name := strings.TrimSuffix(f.ast.Name.Name, "_test")
			if vague[name] || vague[path.Base(p.dir)] {
				out.at(f.ast.Name.Pos(), "a package called %s says nothing about what is in it", name)
			}
			if stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test"); vague[stem] {
				out.in(f.path, "a file called %s says nothing about what is in it", stem)
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if s, ok := n.(*ast.TypeSpec); ok && vagueTypes.MatchString(s.Name.Name) {
					out.at(s.Pos(), "type %s: say what it is", s.Name.Name)
				}
				return true
			})
		}
	}
	return out.list
}
