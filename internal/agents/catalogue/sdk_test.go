package catalogue_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

// The adapters of the Claude Agent SDK declare the tools by which the program steers itself, all of them and no others: those that
// the catalogue takes for such.
func TestAdaptersDeclareTheProgramsControlTools(t *testing.T) {
	quoted := regexp.MustCompile(`"([A-Z][A-Za-z]+)"`)
	agent, err := catalogue.Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for name, canonical := range agent.Tools.Names {
		if slices.Contains(catalogue.ControlTools(agent.Name), canonical) {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	for file, list := range map[string]string{
		"../../../sdk/python/src/tidemark_sdk/claude.py": `(?s)\nCONTROL = \((.*?)\n\)`,
		"../../../sdk/typescript/src/claude.ts":          `(?s)\nconst control = \[(.*?)\n\]`,
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(list).FindSubmatch(text)
		if found == nil {
			t.Fatalf("%s declares none", file)
		}
		var got []string
		for _, m := range quoted.FindAllSubmatch(found[1], -1) {
			got = append(got, string(m[1]))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s declares %q, the catalogue %q", file, got, want)
		}
	}
}
