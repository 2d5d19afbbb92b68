package policy_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidemark/tidemark/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// PRV-12, SEQ-01, HOOK-12, HOOK-13, HOOK-14: what is wrong in a file is reported
// all at once, with position, line and caret.
func TestFaultsOfAFile(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil || len(a.Files) != 2 {
				t.Fatalf("want a policy and its faults, got %d files: %v", len(a.Files), err)
			}
			src := a.Files[0].Data
			set, faults := policy.Parse(a.Files[0].Name, src)
			if (set == nil) != (faults.Err() != nil) {
				t.Errorf("got set %v beside faults %v", set != nil, faults)
			}
			got := faults.Render(src)
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
