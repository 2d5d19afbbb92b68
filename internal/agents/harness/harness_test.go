package harness_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/agents/harness"
)

func TestEveryBlockIsNamedOnce(t *testing.T) {
	seen := map[harness.Block]bool{}
	for _, b := range harness.Blocks() {
		key := harness.Block{Agent: b.Agent, Tag: b.Tag}
		everywhere := harness.Block{Tag: b.Tag}
		if seen[key] || seen[everywhere] {
			t.Errorf("%s of %q is named twice", b.Tag, b.Agent)
		}
		seen[key] = true
	}
}
