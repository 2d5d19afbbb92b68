package archtest_test

import (
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// A list of words that nobody reads is a rule that somebody believes in: each list of a file beside the judge's code is asked for by its
// name, in the package that the file belongs to. Files of the vocabulary have entries and not lists, and a reader of their own.

var listHead = regexp.MustCompile(`(?m)^([a-z][a-z0-9_]*) :`)

// entries are the files of the judge whose blocks are words or programs themselves, and not lists that code asks for by name.
var entries = map[string]bool{
	"internal/warrant/vocabulary/data/acts.txt": true, "internal/warrant/vocabulary/data/things.txt": true,
	"internal/warrant/toolinfo/words.txt": true, "internal/warrant/data/programs.txt": true,
}

func checkLists(t *tree) []string {
	out := t.findings()
	for _, p := range t.pkgs {
		if p.dir != "internal/warrant" && !strings.HasPrefix(p.dir, "internal/warrant/") {
			continue
		}
		asked := textsOf(p)
		for _, pattern := range []string{path.Join(p.dir, "*.txt"), path.Join(p.dir, "data/*.txt")} {
			names, err := fs.Glob(t.files, pattern)
			if err != nil {
				continue // the pattern is ours
			}
			for _, name := range names {
				data, err := fs.ReadFile(t.files, name)
				if err != nil || entries[name] {
					continue
				}
				for _, m := range listHead.FindAllStringSubmatch(string(data), -1) {
					if !asked[m[1]] {
						out.list = append(out.list, name+": nothing in "+p.dir+" reads the list "+m[1])
					}
				}
			}
		}
	}
	return out.list
}

// textsOf are the texts that the code of a package holds.
func textsOf(p *pkg) map[string]bool {
	out := map[string]bool{}
	for _, f := range p.code() {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok {
				out[text(lit)] = true
			}
			return true
		})
	}
	return out
}
