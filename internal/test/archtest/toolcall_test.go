package archtest_test

import (
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// toolCall is the document a stranger reads first. Its table says in which folder, and
// there in which function, each step of a call is taken.
const toolCall = "docs/dev/a-tool-call.md"

// callSteps are what a reader must find by folder names alone.
var callSteps = []string{"read", "judged", "recorded", "asked about", "released"}

var stepRow = regexp.MustCompile("(?m)^\\| *\\*\\*([a-z ]+)\\*\\*[^|]*\\| *`([^`]+)` *\\| *`([^`]+)`")

// checkToolCall wants the document's table to name, for each of the steps, folders that
// exist and functions that stand in them, outside tests.
func checkToolCall(t *tree) []string {
	out := t.findings()
	data, err := fs.ReadFile(t.files, toolCall)
	if err != nil {
		out.in(toolCall, "%v", err)
		return out.list
	}
	told := map[string]bool{}
	for _, row := range stepRow.FindAllStringSubmatch(string(data), -1) {
		step, folder, name := row[1], row[2], row[3]
		told[step] = true
		p := t.folder(folder)
		switch {
		case p == nil:
			out.in(toolCall, "%s: no package stands in `%s`", step, folder)
		case !p.declares(name):
			out.in(toolCall, "%s: `%s` has no function `%s`", step, folder, name)
		}
	}
	for _, step := range callSteps {
		if !told[step] {
			out.in(toolCall, "no row of the table says where a call is %s", step)
		}
	}
	return out.list
}

// folder is the package in a folder; nil where there is none.
func (t *tree) folder(dir string) *pkg {
	for _, p := range t.pkgs {
		if p.dir == path.Clean(dir) {
			return p
		}
	}
	return nil
}

// declares reports whether the package has that function or, as Type.Name, that method.
func (p *pkg) declares(name string) bool {
	recv, fun, method := strings.Cut(name, ".")
	if !method {
		recv, fun = "", name
	}
	for _, f := range p.code() {
		for _, d := range f.ast.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Name.Name == fun && receiver(d) == recv {
				return true
			}
		}
	}
	return false
}
