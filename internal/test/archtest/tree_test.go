// Package archtest_test keeps the rules of the project: who may import whom, what is pure,
// what has a comment, how large things may grow, that the documentation names only
// what exists, and that every requirement is proved by a test that says so.
//
// It is a package of tests only. A rule is a function from the source tree to its
// findings; the repository must give none, and each rule has a small tree under
// testdata in which it must find what it forbids.
package archtest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/tidemark/tidemark"

// tree is the source of one module.
type tree struct {
	files fs.FS
	fset  *token.FileSet
	pkgs  []*pkg // in the order of their folders
}

// pkg is one folder with Go files, tests included.
type pkg struct {
	dir   string // "." for the root
	files []*file
}

type file struct {
	path  string
	test  bool
	ast   *ast.File
	lines int
	text  string
}

// elsewhere are folders that are not part of the module's own source.
var elsewhere = map[string]string{
	"bench":   "a module of its own",
	"contrib": "modules of their own",
	"tools":   "a module of its own",
	"sdk/go":  "a module of its own",
	"bin":     "built",
	"dist":    "built",
}

// loadRepository parses the tree these tests stand in, once: no rule changes it.
var loadRepository = sync.OnceValues(func() (*tree, error) { return load(os.DirFS("../../..")) })

func repository(t *testing.T) *tree {
	t.Helper()
	out, err := loadRepository()
	if err != nil {
		t.Fatalf("load the repository: %v", err)
	}
	if len(out.pkgs) < 10 {
		t.Fatalf("load the repository: got %d packages, want at least 10", len(out.pkgs))
	}
	return out
}

func load(files fs.FS) (*tree, error) {
	t := &tree{files: files, fset: token.NewFileSet()}
	byDir := map[string]*pkg{}
	err := t.walk(func(name string, data []byte) error {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
			return nil
		}
		parsed, err := parser.ParseFile(t.fset, name, data, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
		dir := path.Dir(name)
		p := byDir[dir]
		if p == nil {
			p = &pkg{dir: dir}
			byDir[dir] = p
			t.pkgs = append(t.pkgs, p)
		}
		p.files = append(p.files, &file{
			path: name, test: strings.HasSuffix(name, "_test.go"), ast: parsed,
			lines: strings.Count(string(data), "\n"), text: string(data),
		})
		return nil
	})
	slices.SortFunc(t.pkgs, func(a, b *pkg) int { return strings.Compare(a.dir, b.dir) })
	return t, err
}

// walk visits every file that belongs to the project, in a fixed order.
func (t *tree) walk(visit func(name string, data []byte) error) error {
	return fs.WalkDir(t.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if elsewhere[name] != "" || base == "node_modules" || name != "." && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			return nil
		}
		data, err := fs.ReadFile(t.files, name)
		if err != nil {
			return err
		}
		return visit(name, data)
	})
}

// code is the package's files that are not tests.
func (p *pkg) code() []*file {
	return slices.DeleteFunc(slices.Clone(p.files), func(f *file) bool { return f.test })
}

// doc is the package comment, wherever it stands. Comments of test files count only
// where there is nothing else.
func (p *pkg) doc() string {
	files := p.code()
	if len(files) == 0 {
		files = p.files
	}
	var text strings.Builder
	for _, f := range files {
		if f.ast.Doc != nil {
			text.WriteString(f.ast.Doc.Text())
		}
	}
	return text.String()
}

// findings collects what a rule found, with places.
type findings struct {
	fset *token.FileSet
	list []string
}

func (t *tree) findings() *findings { return &findings{fset: t.fset} }

func (f *findings) at(pos token.Pos, format string, args ...any) {
	p := f.fset.Position(pos)
	f.list = append(f.list, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...)))
}

func (f *findings) in(name, format string, args ...any) {
	f.list = append(f.list, fmt.Sprintf("%s: %s", name, fmt.Sprintf(format, args...)))
}

// within reports whether dir matches one of the patterns: a folder, or a folder and all
// below it ("internal/...").
func within(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if below, ok := strings.CutSuffix(p, "/..."); ok {
			return dir == below || strings.HasPrefix(dir, below+"/")
		}
		return dir == p
	})
}
