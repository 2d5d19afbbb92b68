package archtest_test

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	inBackticks = regexp.MustCompile("`([^`\n]+)`")
	link        = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fence       = regexp.MustCompile("(?ms)^```.*?^```")
	heading     = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	cited       = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(\.[A-Z][A-Za-z0-9]*)+(\(\))?$`)
	plainPath   = regexp.MustCompile(`^[A-Za-z0-9._*/-]+$`)
)

// checkDocs wants every name, path and link of the documentation to exist: documents
// cite names, never line numbers, and so they can be checked.
func checkDocs(t *tree) []string {
	out := t.findings()
	names := indexNames(t)
	_ = t.walk(func(doc string, data []byte) error {
		if !strings.HasSuffix(doc, ".md") || strings.Contains(doc, "testdata/") {
			return nil
		}
		text := string(data)
		prose := fence.ReplaceAllString(text, "")
		for _, m := range inBackticks.FindAllStringSubmatch(prose, -1) {
			token := m[1]
			dir, name := path.Split(token)
			switch {
			case cited.MatchString(name) && (dir == "" || isOurPath(t, token)):
				if why := names.missing(dir, strings.TrimSuffix(name, "()")); why != "" {
					out.in(doc, "`%s`: %s", token, why)
				}
			case isOurPath(t, token) && !exists(t, token):
				out.in(doc, "`%s`: there is no such file", token)
			}
		}
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			checkLink(t, out, doc, m[1])
		}
		return nil
	})
	return out.list
}

// isOurPath reports whether a token names a place in this repository: a path whose
// first part is a folder here, or a document or Go file by name.
func isOurPath(t *tree, token string) bool {
	if !plainPath.MatchString(token) || strings.HasPrefix(token, "/") || strings.Contains(token, "...") {
		return false
	}
	first, _, nested := strings.Cut(token, "/")
	if !nested {
		return strings.HasSuffix(token, ".go") || strings.HasSuffix(token, ".md")
	}
	info, err := fs.Stat(t.files, first)
	return err == nil && info.IsDir() && elsewhere[first] != "built"
}

func exists(t *tree, token string) bool {
	found, err := fs.Glob(t.files, strings.TrimSuffix(token, "/"))
	return err == nil && len(found) > 0
}

// checkLink follows a relative link, and its fragment where the target is a document.
func checkLink(t *tree, out *findings, doc, target string) {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return
	}
	file, fragment, _ := strings.Cut(target, "#")
	name := doc
	if file != "" {
		name = path.Join(path.Dir(doc), file)
	}
	if !exists(t, name) {
		out.in(doc, "link %s: there is no %s", target, name)
		return
	}
	if fragment == "" || !strings.HasSuffix(name, ".md") {
		return
	}
	data, err := fs.ReadFile(t.files, name)
	if err != nil {
		out.in(doc, "link %s: %v", target, err)
		return
	}
	for _, m := range heading.FindAllStringSubmatch(string(data), -1) {
		if anchor(m[1]) == fragment {
			return
		}
	}
	out.in(doc, "link %s: no such heading", target)
}

// anchor is the fragment that web pages of the repository give a heading.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// nameIndex holds what the module declares: top-level names by package, members
// (methods and fields) by type.
type nameIndex struct {
	top     map[string]map[string]bool // package, by name and by folder -> names
	members map[string]map[string]bool // type name -> members
}

func (x *nameIndex) add(set map[string]map[string]bool, key, name string) {
	if set[key] == nil {
		set[key] = map[string]bool{}
	}
	set[key][name] = true
}

// missing says why a cited name does not exist; empty if it does or is not ours.
func (x *nameIndex) missing(dir, token string) string {
	parts := strings.Split(token, ".")
	if unicode.IsLower(rune(parts[0][0])) {
		pkgNames, ok := x.top[dir+parts[0]]
		switch {
		case !ok && dir == "":
			return "" // a package of somebody else
		case !ok:
			return "there is no such package"
		case !pkgNames[parts[1]]:
			return "package " + parts[0] + " has no " + parts[1]
		}
		parts = parts[1:]
	}
	if len(parts) == 1 {
		return ""
	}
	members, ok := x.members[parts[0]]
	switch {
	case !ok:
		return "there is no type " + parts[0]
	case !members[parts[1]]:
		return parts[0] + " has no " + parts[1]
	}
	return ""
}

func indexNames(t *tree) *nameIndex {
	x := &nameIndex{top: map[string]map[string]bool{}, members: map[string]map[string]bool{}}
	for _, p := range t.pkgs {
		for _, f := range p.files {
			name := strings.TrimSuffix(f.ast.Name.Name, "_test")
			for _, d := range f.ast.Decls {
				x.decl(name, d)
				x.decl(p.dir, d)
			}
		}
	}
	return x
}

func (x *nameIndex) decl(pkgName string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if recv := receiver(d); recv != "" {
			x.add(x.members, recv, d.Name.Name)
			return
		}
		x.add(x.top, pkgName, d.Name.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				x.add(x.top, pkgName, s.Name.Name)
				x.fields(s)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					x.add(x.top, pkgName, name.Name)
				}
			}
		}
	}
}

func (x *nameIndex) fields(s *ast.TypeSpec) {
	x.add(x.members, s.Name.Name, "")
	var list *ast.FieldList
	switch body := s.Type.(type) {
	case *ast.StructType:
		list = body.Fields
	case *ast.InterfaceType:
		list = body.Methods
	default:
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			x.add(x.members, s.Name.Name, name.Name)
		}
	}
}

// What a box does not stop stands in two documents, word for word: who reads the threat model must not be told less.
func TestTheThreatModelHasWhatABoxDoesNotStop(t *testing.T) {
	section := func(file, head string) string {
		raw, err := os.ReadFile("../../../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		_, text, found := strings.Cut(string(raw), "\n## "+head+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		_, list, listed := strings.Cut(text, "\n* ")
		if !found || !listed {
			t.Fatalf("%s has no list under %q", file, head)
		}
		return strings.TrimSpace(strings.ReplaceAll(list, "](box.md#", "](#"))
	}
	if own, model := section("dev/box.md", "What it does not stop"), section("dev/threat-model.md", "What a box does not stop"); own != model {
		t.Error("docs/dev/box.md and docs/dev/threat-model.md say different things of what a box does not stop")
	}
}

// The short page has the figures of the long one, and no others.
func TestTheShortPageHasTheFiguresOfTheEvaluation(t *testing.T) {
	read := func(file string) string {
		raw, err := os.ReadFile("../../../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(raw), "**", "")
	}
	_, figures, _ := strings.Cut(read("evaluation.md"), "<!-- figures -->")
	figures, _, _ = strings.Cut(figures, "<!-- /figures -->")
	blind := map[string][2]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z0-9-]+) \|[^|]*\|[^|]*\|([^|]*)\|[^|]*\|[^|]*\|([^|]*)\|$`).FindAllStringSubmatch(figures, -1) {
		blind[m[1]] = [2]string{pairOf(m[2]), pairOf(m[3])}
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)`: [^|]*\\|([^|]*)\\|([^|]*)\\|$").FindAllStringSubmatch(read("measured.md"), -1)
	if len(rows) == 0 || len(blind) == 0 {
		t.Fatalf("docs/measured.md has %d rows, docs/evaluation.md %d", len(rows), len(blind))
	}
	for _, m := range rows {
		if want, got := blind[m[1]], [2]string{pairOf(m[2]), pairOf(m[3])}; got != want {
			t.Errorf("docs/measured.md says %q of %s, docs/evaluation.md %q: copy its blind columns", got, m[1], want)
		}
	}
}

// pairOf is the pair of figures in a cell; empty where nothing was measured.
func pairOf(cell string) string { return regexp.MustCompile(`[0-9.]+ / [0-9.]+`).FindString(cell) }
