package archtest_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/token"
	"go/types"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// checkSurface wants everything that others can import to be usable by them: no exported
// name, field or method is of a type that only this module can name. An internal type that a
// public package gives a name of its own can be named, and is looked into as one of that package.
func checkSurface(t *tree) []string {
	out := t.findings()
	c := &checker{tree: t, done: map[string]*types.Package{}}
	lent := map[*types.TypeName]bool{}
	for _, p := range t.pkgs {
		if isPublic(p) {
			lentNames(c.check(p), lent)
		}
	}
	for _, p := range t.pkgs {
		if !isPublic(p) {
			continue
		}
		s := &surface{out: out, pkg: c.check(p), opened: map[*types.TypeName]bool{}, lent: lent}
		scope := s.pkg.Scope()
		for _, name := range scope.Names() {
			if ast.IsExported(name) {
				s.declared(scope.Lookup(name))
			}
		}
	}
	return out.list
}

// lentNames collects the internal types that a public package names: type X = internal.X.
func lentNames(pkg *types.Package, into map[*types.TypeName]bool) {
	for _, name := range pkg.Scope().Names() {
		obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || !obj.IsAlias() || !obj.Exported() {
			continue
		}
		if named, ok := types.Unalias(obj.Type()).(*types.Named); ok && internalName(named.Obj()) {
			into[named.Obj()] = true
		}
	}
}

func internalName(obj *types.TypeName) bool {
	if obj.Pkg() == nil {
		return false
	}
	dir, own := ours(obj.Pkg().Path())
	return own && isInternal(dir)
}

// isPublic reports whether others can import a package.
func isPublic(p *pkg) bool {
	code := p.code()
	return len(code) > 0 && code[0].ast.Name.Name != "main" && !isInternal(p.dir)
}

func isInternal(dir string) bool { return slices.Contains(strings.Split(dir, "/"), "internal") }

// checker resolves the declarations of this module's packages from their source. What is
// not ours is empty: its types are never ours.
type checker struct {
	tree *tree
	done map[string]*types.Package
}

func (c *checker) check(p *pkg) *types.Package {
	if done := c.done[p.dir]; done != nil {
		return done
	}
	var files []*ast.File
	for _, f := range p.code() {
		if c.built(f) {
			files = append(files, f.ast)
		}
	}
	conf := types.Config{Importer: c, Error: func(error) {}, IgnoreFuncBodies: true}
	checked, _ := conf.Check(path.Join(module, p.dir), c.tree.fset, files, nil)
	c.done[p.dir] = checked
	return checked
}

// built reports whether a file is part of its package on Linux, where the listing is made.
func (c *checker) built(f *file) bool {
	ctx := build.Context{
		GOOS: "linux", GOARCH: "amd64", Compiler: "gc", JoinPath: path.Join,
		OpenFile: func(name string) (io.ReadCloser, error) { return c.tree.files.Open(name) },
	}
	ok, err := ctx.MatchFile(path.Dir(f.path), path.Base(f.path))
	return ok && err == nil
}

// Import finds a package of ours by its path.
func (c *checker) Import(name string) (*types.Package, error) {
	if dir, ok := ours(name); ok {
		for _, p := range c.tree.pkgs {
			if p.dir == dir {
				return c.check(p), nil
			}
		}
	}
	return emptyImports{}.Import(name)
}

// surface is what one package shows.
type surface struct {
	out    *findings
	pkg    *types.Package
	opened map[*types.TypeName]bool // types without an exported name that were looked into
	lent   map[*types.TypeName]bool // internal types that a public package names
}

func (s *surface) declared(obj types.Object) {
	name, ok := obj.(*types.TypeName)
	if !ok {
		s.mentions(obj.Pos(), obj.Name(), obj.Type())
		return
	}
	if name.IsAlias() {
		if named, ok := types.Unalias(obj.Type()).(*types.Named); ok && s.lent[named.Obj()] {
			s.open(named.Obj())
			return
		}
		s.mentions(obj.Pos(), obj.Name(), types.Unalias(obj.Type()))
		return
	}
	s.open(name)
}

// open looks at the members of a type that others hold in their hands.
func (s *surface) open(name *types.TypeName) {
	if s.opened[name] {
		return
	}
	s.opened[name] = true
	named, ok := name.Type().(*types.Named)
	if !ok {
		return
	}
	for m := range named.Methods() {
		if m.Exported() {
			s.mentions(m.Pos(), name.Name()+"."+m.Name(), m.Type())
		}
	}
	if fields, ok := named.Underlying().(*types.Struct); ok {
		for f := range fields.Fields() {
			if f.Exported() || f.Embedded() {
				s.mentions(f.Pos(), name.Name()+"."+f.Name(), f.Type())
			}
		}
		return
	}
	s.mentions(name.Pos(), name.Name(), named.Underlying())
}

// mentions reports the internal types that a type is made of.
func (s *surface) mentions(pos token.Pos, what string, t types.Type) {
	found := map[string]bool{}
	s.walk(t, found)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		s.out.at(pos, "%s is of %s, which others cannot name", what, name)
	}
}

func (s *surface) walk(t types.Type, found map[string]bool) {
	switch t := t.(type) {
	case *types.Named:
		s.name(t.Obj(), found)
		for arg := range t.TypeArgs().Types() {
			s.walk(arg, found)
		}
	case *types.Alias:
		s.name(t.Obj(), found)
	case *types.Map:
		s.walk(t.Key(), found)
		s.walk(t.Elem(), found)
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		s.walk(t.Elem(), found)
	case *types.Signature:
		for v := range t.Params().Variables() {
			s.walk(v.Type(), found)
		}
		for v := range t.Results().Variables() {
			s.walk(v.Type(), found)
		}
		for p := range t.TypeParams().TypeParams() {
			s.walk(p.Constraint(), found)
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				s.walk(f.Type(), found)
			}
		}
	case *types.Interface:
		s.walkInterface(t, found)
	}
}

func (s *surface) walkInterface(t *types.Interface, found map[string]bool) {
	for m := range t.ExplicitMethods() {
		if m.Exported() {
			s.walk(m.Type(), found)
		}
	}
	for e := range t.EmbeddedTypes() {
		if u, ok := e.(*types.Union); ok {
			for term := range u.Terms() {
				s.walk(term.Type(), found)
			}
			continue
		}
		s.walk(e, found)
	}
}

// name reports a type that is internal. One of this package that is not exported is
// looked into instead: its exported members can be used all the same.
func (s *surface) name(obj *types.TypeName, found map[string]bool) {
	if obj.Pkg() == nil {
		return
	}
	switch dir, _ := ours(obj.Pkg().Path()); {
	case s.lent[obj]:
	case internalName(obj):
		found[fmt.Sprintf("%s.%s", dir, obj.Name())] = true
	case obj.Pkg() == s.pkg && !obj.Exported():
		s.open(obj)
	}
}
