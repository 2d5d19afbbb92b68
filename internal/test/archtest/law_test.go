package archtest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// rule is one law: what it is called and how it is checked.
type rule struct {
	name  string
	check func(*tree) []string
}

var rules = []rule{
	{"imports", checkImports},
	{"purity", checkPurity},
	{"comments", checkComments},
	{"sizes", checkSizes},
	{"names", checkNames},
	{"permit", checkPermit},
	{"formats", checkFormats},
	{"docs", checkDocs},
	{"decisions", checkDecisions},
	{"toolcall", checkToolCall},
	{"words", checkWords},
	{"ids", checkIDs},
	{"surface", checkSurface},
	{"folds", checkFolds},
	{"lexicon", checkLexicon},
	{"lists", checkLists},
	{"wings", checkWings},
}

func TestTheRepositoryKeepsTheLaw(t *testing.T) {
	repo := repository(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, found := range r.check(repo) {
				t.Error(found)
			}
		})
	}
}

// Each archive in testdata is named after a rule and holds a tree that breaks it; its
// file "want" lists the findings.
func TestEachRuleFindsWhatItForbids(t *testing.T) {
	tried := map[string]bool{}
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range archives {
		ruleName, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".txtar"), "-")
		i := slices.IndexFunc(rules, func(r rule) bool { return r.name == ruleName })
		if i < 0 {
			t.Errorf("%s: there is no rule %q", name, ruleName)
			continue
		}
		tried[ruleName] = true
		t.Run(filepath.Base(name), func(t *testing.T) {
			broken, want := fixture(t, name)
			got := rules[i].check(broken)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
	for _, r := range rules {
		if !tried[r.name] {
			t.Errorf("rule %s: no archive in testdata shows that it finds anything", r.name)
		}
	}
}

func fixture(t *testing.T, name string) (*tree, []string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, f := range txtar.Parse(data).Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o444}
	}
	broken, err := load(files)
	if err != nil {
		t.Fatalf("load %s: %v", name, err)
	}
	var want []string
	for _, f := range txtar.Parse(data).Files {
		if f.Name == "want" {
			want = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		}
	}
	slices.Sort(want)
	return broken, want
}
