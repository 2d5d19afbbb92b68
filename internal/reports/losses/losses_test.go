package losses_test

import (
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/losses"
)

const top = "../../.."

// BOX-05: Every situation has every column, and every cell a test that there is.
func TestEveryCellHasATest(t *testing.T) {
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	table := losses.Table()
	if len(table) != 6 {
		t.Errorf("%d situations", len(table))
	}
	for _, r := range table {
		if len(r.Cells) != 4 {
			t.Errorf("%s has %d columns", r.Where, len(r.Cells))
		}
		for i, c := range r.Cells {
			if c.Column != table[0].Cells[i].Column || c.Text == "" || !names[c.Test()] {
				t.Errorf("%s: %+v", r.Where, c)
			}
		}
	}
}

// The documentation has the same table.
func TestTheDocumentationHasTheTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "docs", "dev", "box.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range losses.Table() {
		line := "| " + r.Where + " |"
		for _, c := range r.Cells {
			line += " " + c.Text + " |"
		}
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("docs/dev/box.md lacks\n%s", line)
		}
	}
}

// What is shown is what holds here, and a whole box with a model on this machine loses nothing.
func TestWhatIsLostHere(t *testing.T) {
	for name, c := range map[string]struct {
		facts losses.Facts
		want  string
	}{
		"nothing is known": {losses.Facts{}, "no model, no box"},
		"all is there":     {losses.Facts{Model: true, Box: "whole", System: "linux"}, ""},
		"a container":      {losses.Facts{Model: true, Box: "reduced", System: "linux"}, "reduced"},
		"far away":         {losses.Facts{Box: "whole", Remote: true, System: "linux"}, "no model, remote server"},
		"Windows":          {losses.Facts{Model: true, System: "windows"}, "Windows"},
		"macOS":            {losses.Facts{Model: true, Box: "reduced", System: "darwin"}, "macOS"},
	} {
		var got []string
		for _, r := range losses.Here(c.facts) {
			got = append(got, r.Where)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// On Windows the box is the one that refuses everything; on macOS it is that of sandbox-exec, which refuses ways out, folders of its own and who has
// not said that less will do. Sessions of agents have no boxes on either: the keeper there keeps none.
func TestOtherSystems(t *testing.T) {
	files := func(system, dir string) []string {
		c := build.Default
		c.GOOS, c.CgoEnabled = system, false
		p, err := c.ImportDir(filepath.Join(top, dir), 0)
		if err != nil {
			t.Fatal(err)
		}
		return p.GoFiles
	}
	for system, c := range map[string]struct{ has, lacks string }{"windows": {"none.go", "box_darwin.go"}, "darwin": {"box_darwin.go", "none.go"}} {
		got := files(system, "internal/box")
		if !slices.Contains(got, c.has) || slices.Contains(got, c.lacks) || slices.ContainsFunc(got, func(f string) bool { return strings.HasSuffix(f, "_linux.go") }) {
			t.Errorf("%s: %q", system, got)
		}
		for _, dir := range []string{"internal/box/keeper", "internal/box/entry"} {
			if got := files(system, dir); !slices.Contains(got, "none.go") {
				t.Errorf("%s %s: %q", system, dir, got)
			}
		}
	}
	for file, want := range map[string]string{
		"none.go":       `func Open(Want) (*Box, error) {` + "\n\treturn nil, &Lack{",
		"box_darwin.go": `func Open(w Want) (*Box, error) {` + "\n\tif !w.Reduced || w.Out != nil || len(w.Own) > 0 {\n\t\treturn nil, &Lack{",
	} {
		text, err := os.ReadFile(filepath.Join(top, "internal/box", file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Error(fmt.Errorf("%s does not refuse: %w", file, err))
		}
	}
}
