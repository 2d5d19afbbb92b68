package archtest_test

import (
	"go/ast"
	"go/token"
	"strings"
)

// spoken are methods whose meaning the language fixes.
var spoken = map[string]bool{"Error": true, "Unwrap": true, "Is": true, "As": true}

// checkComments wants a comment on every package and every exported name.
func checkComments(t *tree) []string {
	out := t.findings()
	for _, p := range t.pkgs {
		checkPackageComment(out, p)
		for _, f := range p.code() {
			for _, d := range f.ast.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					checkFuncComment(out, d)
				case *ast.GenDecl:
					checkDeclComments(out, d)
				}
			}
		}
	}
	return out.list
}

func checkPackageComment(out *findings, p *pkg) {
	doc, want := p.doc(), "Package " // of a package of tests only
	if code := p.code(); len(code) > 0 {
		want = "Package " + code[0].ast.Name.Name + " "
	}
	if want == "Package main " {
		want = "Command "
	}
	switch {
	case doc == "":
		out.in(p.dir, "no package comment")
	case !strings.HasPrefix(doc, want):
		out.in(p.dir, "the package comment starts with %q", want)
	}
}

func checkFuncComment(out *findings, fn *ast.FuncDecl) {
	if !fn.Name.IsExported() || fn.Doc != nil {
		return
	}
	if fn.Recv == nil {
		out.at(fn.Pos(), "func %s has no comment", fn.Name.Name)
		return
	}
	if recv := receiver(fn); ast.IsExported(recv) && !spoken[fn.Name.Name] {
		out.at(fn.Pos(), "method %s.%s has no comment", recv, fn.Name.Name)
	}
}

// checkDeclComments accepts a comment on the group, above the name or beside it.
func checkDeclComments(out *findings, d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) {
				out.at(s.Pos(), "type %s has no comment", s.Name.Name)
			}
		case *ast.ValueSpec:
			commented := d.Doc != nil || s.Doc != nil || s.Comment != nil
			for _, name := range s.Names {
				if name.IsExported() && !commented && (d.Tok == token.CONST || d.Tok == token.VAR) {
					out.at(name.Pos(), "%s %s has no comment", d.Tok, name.Name)
				}
			}
		}
	}
}

// receiver is the type a method belongs to, without pointer and type parameters.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	e := fn.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
