package archtest_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

const (
	requirementsFile = "internal/test/archtest/testdata/requirements.txt"
	idPattern        = `\b(?:PRV|CAU|SEQ|VER|HOOK|BEY|WAR|MAN|BOX|AUD)-[0-9]{2}\b`
)

var (
	id          = regexp.MustCompile(idPattern)
	abbreviated = regexp.MustCompile(idPattern + ` ?(?:/|…|\.\.|–|,) ?[0-9]+`)
	requirement = regexp.MustCompile(`^(` + idPattern + `) (?:\((planned|partly)\) )?(\S.*)$`)
	testName    = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)`)
)

// want is one requirement of the list. Its state is planned (no test names it yet),
// partly (some of it is proved, more is to come) or empty (it is met).
type want struct {
	id    string
	state string
	text  string
}

// proof is a test or a story that says which requirement it proves.
type proof struct {
	name  string   // as documents cite it
	doors []string // through which it proves; none for the inside
}

func readRequirements(t *tree) ([]want, error) {
	data, err := fs.ReadFile(t.files, requirementsFile)
	if err != nil {
		return nil, err
	}
	var list []want
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := requirement.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("read requirements: %q is not \"ID text\"", line)
		}
		if slices.ContainsFunc(list, func(w want) bool { return w.id == m[1] }) {
			return nil, fmt.Errorf("read requirements: %s stands there twice", m[1])
		}
		list = append(list, want{id: m[1], state: m[2], text: m[3]})
	}
	return list, nil
}

// findProofs collects, by id, the tests whose comment names it and the stories whose
// prose does.
func findProofs(t *tree) (map[string][]proof, error) {
	found := map[string][]proof{}
	for _, p := range t.pkgs {
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || !f.test || fn.Recv != nil || !testName.MatchString(fn.Name.Name) {
					continue
				}
				for _, name := range mentioned(fn.Doc.Text()) {
					found[name] = append(found[name], proof{testCitation(p.dir, fn.Name.Name), doorOf(p.dir)})
				}
			}
		}
	}
	stories, err := storyDoors(t)
	if err != nil {
		return nil, err
	}
	err = t.walk(func(name string, data []byte) error {
		if !strings.HasSuffix(name, ".txtar") || strings.HasPrefix(name, "internal/test/archtest/") {
			return nil
		}
		for _, m := range mentioned(string(txtar.Parse(data).Comment)) {
			doors := doorOf(path.Dir(name))
			if story, ok := strings.CutPrefix(name, "scenarios/"); ok {
				doors = stories[strings.TrimSuffix(story, ".txtar")]
			}
			found[m] = append(found[m], proof{name, doors})
		}
		return nil
	})
	for _, list := range found {
		slices.SortFunc(list, func(a, b proof) int { return cmp.Compare(a.name, b.name) })
	}
	return found, err
}

func mentioned(text string) []string {
	list := id.FindAllString(text, -1)
	slices.Sort(list)
	return slices.Compact(list)
}

func testCitation(dir, name string) string {
	if dir == "." {
		return path.Base(module) + "." + name
	}
	return dir + "." + name
}

// doorOf says through which door the tests of a folder go. The packages anybody can
// import are a door too.
func doorOf(dir string) []string {
	first, _, _ := strings.Cut(dir, "/")
	switch {
	case dir == "internal/engine": // the root hands it on as it is
		return []string{"Go"}
	case dir == "internal/httpapi":
		return []string{"HTTP"}
	case within(dir, []string{"internal/llm/...", "internal/agents/..."}):
		return []string{strings.Split(dir, "/")[1]}
	case dir == "internal/app": // its tests drive a whole server over its sockets
		return []string{"HTTP"}
	case dir == "internal/test/console": // they drive the pages of a whole server
		return []string{"console"}
	case first == "cmd":
		return []string{"CLI"}
	case first == "internal" || first == "scripts":
		return nil
	}
	return []string{"Go"}
}

// storiesFile is the table of what each door shows of each story; a test of
// internal/test/scenario keeps it true.
const storiesFile = "scenarios/doors.txt"

// storyNames are the doors of that table as documents call them.
var storyNames = map[string]string{"engine": "Go", "http": "HTTP"}

// storyDoors reads, by story, through which doors it came. A story without a row came
// through none.
func storyDoors(t *tree) (map[string][]string, error) {
	data, err := fs.ReadFile(t.files, storiesFile)
	if err != nil {
		return nil, err
	}
	var head []string
	out := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		cells := strings.Fields(line)
		switch {
		case len(cells) == 0 || strings.HasPrefix(line, "#"):
		case head == nil:
			head = cells
		case len(cells) != len(head):
			return nil, fmt.Errorf("read %s: %q has %d cells, the head has %d", storiesFile, cells[0], len(cells), len(head))
		default:
			doors := out[cells[0]]
			for i, cell := range cells[2 : len(cells)-2] { // besides story, preset, less, more
				if cell != "-" && cell != "0" {
					doors = append(doors, cmp.Or(storyNames[head[i+2]], head[i+2]))
				}
			}
			slices.Sort(doors)
			out[cells[0]] = slices.Compact(doors)
		}
	}
	return out, nil
}

// checkIDs keeps the ids that code and tests name in step with the list: none unknown,
// none promised and unproved, none planned and already claimed.
func checkIDs(t *tree) []string {
	out := t.findings()
	list, err := readRequirements(t)
	if err != nil {
		out.in(requirementsFile, "%v", err)
		return out.list
	}
	known := map[string]bool{}
	for _, w := range list {
		known[w.id] = true
	}
	checkMentions(t, out, known)
	proofs, err := findProofs(t)
	if err != nil {
		out.in(".", "%v", err)
		return out.list
	}
	for _, w := range list {
		got := proofs[w.id]
		doors := slices.DeleteFunc(slices.Clone(got), func(p proof) bool { return len(p.doors) == 0 })
		switch {
		case w.state == "planned" && len(got) > 0:
			out.in(w.id, "%s names it: take the (planned) away or make it (partly)", got[0].name)
		case w.state != "planned" && len(got) == 0:
			out.in(w.id, "no test names it")
		case w.state != "planned" && len(doors) == 0:
			out.in(w.id, "only tests of the inside name it, none that comes through a door")
		}
	}
	return out.list
}

// checkMentions looks at every comment of every file. An abbreviated list such as
// "18/19" would hide an id from the table.
func checkMentions(t *tree, out *findings, known map[string]bool) {
	for _, p := range t.pkgs {
		for _, f := range p.files {
			for _, group := range f.ast.Comments {
				for _, c := range group.List {
					for _, name := range mentioned(c.Text) {
						if !known[name] {
							out.at(c.Pos(), "%s is not in the list of requirements", name)
						}
					}
					if short := abbreviated.FindString(c.Text); short != "" {
						out.at(c.Pos(), "%s: write each id out", short)
					}
				}
			}
		}
	}
}
