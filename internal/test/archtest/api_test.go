package archtest_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	apiFile = "../../../docs/api.txt"
	apiHead = `# Everything this module exports, a line for each name. A line that goes or changes breaks
# somebody: say so in CHANGELOG.md. Written by go test ./internal/test/archtest -run API -update
`
	maxAPI = 1200 // lines: more than that nobody reads who wants to embed the monitor
)

// docs/api.txt is what a change to the exported API is seen by: it must be rewritten, and
// then stands in the review as lines taken away and lines added.
func TestTheExportedAPIIsTheListedOne(t *testing.T) {
	got := apiHead + strings.Join(exportedAPI(t), "\n") + "\n"
	if *update {
		if err := os.WriteFile(apiFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(got, "\n"); n > maxAPI {
		t.Errorf("docs/api.txt has %d lines, the cap is %d: what no embedding program names belongs in internal", n, maxAPI)
	}
	listed, err := os.ReadFile(apiFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := lineDiff(string(listed), got); diff != "" {
		t.Errorf("the exported API is not the one of docs/api.txt:\n%s"+
			"If that is meant: go test ./internal/test/archtest -run API -update", diff)
	}
}

// lineDiff are the lines that only one of two sorted listings has.
func lineDiff(before, after string) string {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	var b strings.Builder
	for _, l := range old {
		if !slices.Contains(now, l) {
			fmt.Fprintf(&b, "- %s\n", l)
		}
	}
	for _, l := range now {
		if !slices.Contains(old, l) {
			fmt.Fprintf(&b, "+ %s\n", l)
		}
	}
	return b.String()
}

func TestAChangeOfTheAPIIsShownAsLines(t *testing.T) {
	got := lineDiff("pkg a, func F()\npkg a, func G(int)\n", "pkg a, func F()\npkg a, func G(string)\n")
	if want := "- pkg a, func G(int)\n+ pkg a, func G(string)\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// exportedAPI lists the public packages as the compiler sees them.
func exportedAPI(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, p := range repository(t).pkgs {
		if isPublic(p) {
			paths = append(paths, path.Join(module, p.dir))
		}
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", compiled(t, paths))
	var out []string
	for _, name := range paths {
		p, err := imports.Import(name)
		if err != nil {
			t.Fatalf("read %s: %v", name, err)
		}
		l := &listing{pkg: p, name: strings.TrimPrefix(strings.TrimPrefix(name, module), "/")}
		if l.name == "" {
			l.name = p.Name()
		}
		for _, n := range p.Scope().Names() {
			if ast.IsExported(n) {
				l.object(p.Scope().Lookup(n))
			}
		}
		slices.Sort(l.lines)
		out = append(out, l.lines...)
	}
	return out
}

// compiled finds what the compiler wrote about packages and all that they import.
func compiled(t *testing.T, paths []string) importer.Lookup {
	t.Helper()
	// Built as the release is, whose compiled packages are there already.
	args := append([]string{"list", "-trimpath", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, paths...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = "../../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	list, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -export: %v\n%s", err, stderr.String())
	}
	files := map[string]string{}
	for line := range strings.Lines(string(list)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[name] = file
	}
	return func(name string) (io.ReadCloser, error) { return os.Open(files[name]) }
}

// listing writes the names of one package.
type listing struct {
	pkg   *types.Package
	name  string
	lines []string
}

func (l *listing) add(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf("pkg %s, %s", l.name, fmt.Sprintf(format, args...)))
}

func (l *listing) object(obj types.Object) {
	switch obj := obj.(type) {
	case *types.Const:
		l.add("const %s %s = %s", obj.Name(), l.text(obj.Type()), obj.Val().ExactString())
	case *types.Var:
		l.add("var %s %s", obj.Name(), l.text(obj.Type()))
	case *types.Func:
		l.add("func %s%s", obj.Name(), l.signature(obj))
	case *types.TypeName:
		l.typeName(obj)
	}
}

func (l *listing) typeName(obj *types.TypeName) {
	named, ok := types.Unalias(obj.Type()).(*types.Named)
	if !ok || obj.IsAlias() && !internalName(named.Obj()) {
		l.add("type %s = %s", obj.Name(), l.text(types.Unalias(obj.Type())))
		return
	}
	switch u := named.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", l.declared(named))
		for f := range u.Fields() {
			if f.Exported() && f.Embedded() {
				l.add("type %s struct, embedded %s", obj.Name(), l.text(f.Type()))
			} else if f.Exported() {
				l.add("type %s struct, %s %s", obj.Name(), f.Name(), l.text(f.Type()))
			}
		}
	case *types.Interface:
		l.iface(named, u)
	default:
		l.add("type %s %s", l.declared(named), l.text(u))
	}
	for m := range named.Methods() {
		if m.Exported() {
			recv := m.Type().(*types.Signature).Recv().Type()
			l.add("method (%s) %s%s", l.text(recv), m.Name(), l.signature(m))
		}
	}
}

// iface lists each method; one that is not exported keeps others from writing their own.
func (l *listing) iface(named *types.Named, i *types.Interface) {
	sealed := ""
	for m := range i.Methods() {
		if m.Exported() {
			l.add("type %s interface, %s%s", named.Obj().Name(), m.Name(), l.signature(m))
		} else {
			sealed = ", with unexported methods"
		}
	}
	l.add("type %s interface%s", l.declared(named), sealed)
}

// declared is a type's name with its type parameters.
func (l *listing) declared(n *types.Named) string {
	return strings.TrimPrefix(l.text(n), l.pkg.Name()+".")
}

// signature leaves out the names of parameters, which may change, where there are no type
// parameters: those cannot be bound twice.
func (l *listing) signature(f *types.Func) string {
	sig := f.Type().(*types.Signature)
	if sig.TypeParams().Len() == 0 {
		sig = types.NewSignatureType(nil, nil, nil, unnamed(sig.Params()), unnamed(sig.Results()), sig.Variadic())
	}
	return strings.TrimPrefix(l.text(sig), "func")
}

func unnamed(of *types.Tuple) *types.Tuple {
	var out []*types.Var
	for v := range of.Variables() {
		out = append(out, types.NewVar(token.NoPos, nil, "", v.Type()))
	}
	return types.NewTuple(out...)
}

// text is a type as a file of the package writes it.
func (l *listing) text(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == l.pkg || l.name == path.Base(module) && p.Path() == module+"/internal/engine" {
			return ""
		}
		if p.Path() == module+"/internal/engine" {
			return path.Base(module) // which lends it the name
		}
		return p.Name()
	})
}
