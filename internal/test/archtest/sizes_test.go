package archtest_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// The caps. A reader holds one package, one file, one function, one port in the head at a
// time. A cap on lines alone is met by making them wider, so what stands on them is
// counted as well.
const (
	maxWiring    = 1500 // lines of internal/app, besides tests: it opens, starts and stops
	maxFile      = 500
	maxEngine    = 400 // of a file of internal/engine: one theme each
	maxFunc      = 60
	maxInterface = 5
	maxBranches  = 20
	maxParams    = 6
	maxWidth     = 140
	tabWidth     = 4
)

// large are the exceptions, by "folder what" or "file what", with the reason.
var large = map[string]string{}

// excess is something above its cap.
type excess struct {
	dir, file   string // file is empty for what a whole package has too much of
	line        int    // 0 for a whole file
	what, of    string
	size, limit int
}

func (e *excess) String() string {
	place, what := e.dir, e.what
	if e.file != "" {
		place = e.file
	}
	if e.line > 0 {
		place += ":" + strconv.Itoa(e.line)
	}
	if e.of != "" {
		what += " of " + e.of
	}
	return fmt.Sprintf("%s: %s: %d, the cap is %d", place, what, e.size, e.limit)
}

// exceptions are the names under which large may hold it.
func (e *excess) exceptions() []string {
	out := []string{e.dir + " " + e.what, e.file + " " + e.what}
	if e.of != "" {
		out = append(out, e.file+" "+e.what+" of "+e.of)
	}
	return out
}

func checkSizes(t *tree) []string {
	out := t.findings()
	eachExcess(t, func(e *excess) {
		for _, name := range e.exceptions() {
			if large[name] != "" {
				return
			}
		}
		out.list = append(out.list, e.String())
	})
	return out.list
}

func eachExcess(t *tree, visit func(*excess)) {
	seen := func(e excess) {
		if e.size > e.limit {
			visit(&e)
		}
	}
	for _, p := range t.pkgs {
		if p.dir == "internal/app" {
			lines := 0
			for _, f := range p.code() {
				lines += f.lines
			}
			seen(excess{dir: p.dir, what: "lines besides tests", size: lines, limit: maxWiring})
		}
		for _, f := range p.code() {
			inFile := func(e excess) {
				e.dir, e.file = p.dir, f.path
				seen(e)
			}
			most := maxFile
			if p.dir == "internal/engine" {
				most = maxEngine
			}
			inFile(excess{what: "lines", size: f.lines, limit: most})
			widths(t, f, inFile)
			shapes(t, f, inFile)
		}
	}
}

// widths measures the lines of a file. A line that is nothing but one literal, and one that
// speaks to the compiler, cannot always be broken.
func widths(t *tree, f *file, visit func(excess)) {
	literal := map[int]string{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			literal[t.fset.Position(l.Pos()).Line] = l.Value
		}
		return true
	})
	number := 0
	for line := range strings.Lines(f.text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "//go:") || bare != "" && strings.TrimSuffix(bare, ",") == literal[number] {
			continue
		}
		width := utf8.RuneCountInString(line) + (tabWidth-1)*strings.Count(line, "\t")
		visit(excess{line: number, what: "width", size: width, limit: maxWidth})
	}
}

// shapes measures functions, literals of functions in tables, and ports.
func shapes(t *tree, f *file, visit func(excess)) {
	for _, d := range f.ast.Decls {
		of := "" // what is declared
		fn, _ := d.(*ast.FuncDecl)
		ast.Inspect(d, func(n ast.Node) bool {
			if n == nil {
				return true
			}
			line := t.fset.Position(n.Pos()).Line
			seen := func(what string, size, limit int) {
				visit(excess{line: line, what: what, of: of, size: size, limit: limit})
			}
			switch n := n.(type) {
			case *ast.FuncDecl:
				of = n.Name.Name
				seen("lines", t.fset.Position(n.End()).Line-line+1, maxFunc)
				seen("branches", branches(n), maxBranches)
			case *ast.ValueSpec:
				if fn == nil {
					of = n.Names[0].Name
				}
			case *ast.TypeSpec:
				of = n.Name.Name
				seen("methods", interfaceSize(n.Type), maxInterface)
			case *ast.FuncType:
				seen("parameters", n.Params.NumFields(), maxParams)
			case *ast.FuncLit:
				if fn == nil { // or it is counted with the function it stands in
					seen("branches", branches(n), maxBranches)
				}
			}
			return true
		})
	}
}

// branches counts the places at which a function may go one way or another.
func branches(fn ast.Node) int {
	n := 0
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
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
	used := map[string]bool{}
	eachExcess(repository(t), func(e *excess) {
		for _, name := range e.exceptions() {
			used[name] = true
		}
	})
	for name, why := range large {
		if !used[name] || why == "" {
			t.Errorf("exception %q (%s): nothing is that large any more, or no reason is given", name, why)
		}
	}
}
