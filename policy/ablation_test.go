package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/policy"
)

// The policies of docs/evaluation.md are files that anybody can run.
func TestTheAblationIsWrittenInTheLanguageThereIs(t *testing.T) {
	files, err := filepath.Glob("../docs/evaluation/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v and %v, want files", files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, faults := policy.Parse(name, data); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
	}
}
