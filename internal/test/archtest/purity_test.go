package archtest_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pure packages decide; they must give the same answer to the same question on every
// machine and in every replay. hook is not among them: its bus runs handlers under
// time limits.
var pure = []string{
	"internal/base/glob", "internal/base/columns", "internal/base/text", "internal/base/seal", "internal/base/patience",
	"internal/base/strictjson", "internal/base/configfile", "internal/base/redact",
	"internal/base/pack", "internal/base/idle", "trust", "tool", "internal/audit", "internal/approval",
	"intent", "internal/event",
	"internal/extract", "internal/warrant/...", "internal/contract", "policy", "internal/facts", "internal/session",
	"internal/checkpoint", "internal/confined", "internal/standing", "internal/labels", "internal/graph",
	"internal/question", "internal/explain", "internal/sessions", "internal/families", "internal/engine", "internal/store", "internal/draw", "internal/reports/report",
	"internal/reports/timeline", "internal/llm/format/...", "internal/base/jsonspan",
}

// A package that claims to be pure is held to it, wherever it stands.
var claimsPurity = regexp.MustCompile(`(?i)\bit is pure\b`)

// The world, as the standard library offers it.
var (
	worldly = []string{
		"os/...", "net/...", "database/...", "log/...", "math/rand/...", "crypto/rand",
		"syscall/...", "plugin", "unsafe", "runtime/...", "testing/...", "flag", "expvar",
	}
	harmless = []string{"net/url", "net/netip"}
	// words of a worldly package that only look at text
	textual = map[string][]string{"net": {"SplitHostPort", "JoinHostPort"}}
	clock   = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}
)

// outside are the packages of other projects that pure code may use, with the reason:
// none of them does I/O of its own when used as we use it.
var outside = map[string]string{
	"cel.dev/cel-go/cel":                          "conditions of rules, under a cost limit",
	"cel.dev/cel-go/common/ast":                   "their trees",
	"cel.dev/cel-go/common/operators":             "names of their operators",
	"cel.dev/cel-go/common/types":                 "their values",
	"cel.dev/cel-go/common/types/ref":             "interfaces of their values",
	"cel.dev/cel-go/common/types/traits":          "interfaces of their values",
	"cel.dev/cel-go/ext":                          "string functions for conditions",
	"cel.dev/cel-go/interpreter":                  "names a condition may look up",
	"charm.land/lipgloss/v2":                      "widths and colours as text",
	"charm.land/lipgloss/v2/table":                "tables as text",
	"github.com/go-json-experiment/json":          "JSON that refuses duplicate keys",
	"github.com/go-json-experiment/json/jsontext": "its tokens",
	"github.com/goccy/go-yaml":                    "YAML with positions",
	"github.com/klauspost/compress/flate":         "deflate of what is sealed, in half the time of the standard library",
	"github.com/goccy/go-yaml/ast":                "its tree",
	"github.com/goccy/go-yaml/lexer":              "its tokens, from bytes",
	"github.com/goccy/go-yaml/parser":             "its parser, from bytes",
	"github.com/goccy/go-yaml/token":              "its tokens",
	"mvdan.cc/sh/v3/syntax":                       "shell words of a command",
	"golang.org/x/text/unicode/norm":              "one form for each text",
	"github.com/rogpeppe/go-internal/txtar":       "several files in one text",
}

func checkPurity(t *tree) []string {
	out := t.findings()
	for _, p := range t.pkgs {
		for _, f := range p.code() {
			checkInit(out, f)
		}
		if within(p.dir, pure) || claimsPurity.MatchString(p.doc()) {
			uses := resolve(t, p)
			for _, f := range p.code() {
				checkWorld(out, f)
				checkActs(out, f)
				checkChanges(out, f, uses)
			}
		}
	}
	eachImport(t, func(p *pkg, f *file, i int, to string) {
		if within(p.dir, pure) && !within(to, pure) {
			out.at(f.ast.Imports[i].Pos(), "pure code must not import %s, which is not pure", to)
		}
	})
	return out.list
}

// checkInit forbids code that runs because a package is imported, everywhere.
func checkInit(out *findings, f *file) {
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			out.at(fn.Pos(), "func init: nothing happens on import")
		}
	}
}

func checkWorld(out *findings, f *file) {
	for _, spec := range f.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		_, own := ours(name)
		foreign := strings.Contains(strings.Split(name, "/")[0], ".") && !own
		switch {
		case within(name, worldly) && !within(name, harmless):
			if textual[name] == nil || !onlyUses(f, localName(f, name), textual[name]) {
				out.at(spec.Pos(), "pure code must not import %s", name)
			}
		case foreign && outside[name] == "":
			out.at(spec.Pos(), "pure code must not import %s: it is not among the packages known to be harmless", name)
		}
	}
}

// onlyUses reports whether a file takes nothing but these names from a package.
func onlyUses(f *file, pkgName string, names []string) bool {
	only := true
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == pkgName && !slices.Contains(names, sel.Sel.Name) {
				only = false
			}
		}
		return only
	})
	return only
}

// checkActs forbids the clock and goroutines.
func checkActs(out *findings, f *file) {
	timePkg := localName(f, "time")
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			out.at(n.Pos(), "pure code starts no goroutine")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && timePkg != "" && x.Name == timePkg && slices.Contains(clock, n.Sel.Name) {
				out.at(n.Pos(), "pure code does not look at the clock: time.%s", n.Sel.Name)
			}
		}
		return true
	})
}

// checkChanges forbids variables of the package that change after it was initialised.
func checkChanges(out *findings, f *file, uses map[*ast.Ident]types.Object) {
	change := func(e ast.Expr) {
		x := base(e)
		if x == nil {
			return
		}
		if v, ok := uses[x].(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
			out.at(x.Pos(), "pure code keeps nothing between calls: %s is changed", x.Name)
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				change(left)
			}
		case *ast.IncDecStmt:
			change(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				change(n.X) // whoever has the address may change it
			}
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (fn.Name == "delete" || fn.Name == "clear") {
				change(n.Args[0])
			}
		}
		return true
	})
}

// base is the variable an expression such as x.f[i] stands in.
func base(e ast.Expr) *ast.Ident {
	switch x := e.(type) {
	case *ast.Ident:
		return x
	case *ast.IndexExpr:
		return base(x.X)
	case *ast.SelectorExpr:
		return base(x.X)
	case *ast.StarExpr:
		return base(x.X)
	case *ast.ParenExpr:
		return base(x.X)
	}
	return nil
}

// resolve finds what each name of a package stands for. Imports are left empty: only
// the package's own names matter here, so errors about others do not.
func resolve(t *tree, p *pkg) map[*ast.Ident]types.Object {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: emptyImports{}, Error: func(error) {}}
	var files []*ast.File
	for _, f := range p.code() {
		files = append(files, f.ast)
	}
	_, _ = conf.Check(p.dir, t.fset, files, info)
	return info.Uses
}

type emptyImports struct{}

func (emptyImports) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// localName is what a file calls an import; empty if it has none.
func localName(f *file, importPath string) string {
	for _, spec := range f.ast.Imports {
		if spec.Path.Value == strconv.Quote(importPath) {
			if spec.Name != nil {
				return spec.Name.Name
			}
			return path.Base(importPath)
		}
	}
	return ""
}
