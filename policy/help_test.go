package policy_test

import (
	"testing"

	"github.com/tidemark/tidemark/policy"
)

// seedPolicies are the four examples of seed 5, as written there.
const seedPolicies = `# provenance-policy.yaml
policies:
  # If any external content is in context, remove exec tool
  - name: no-exec-when-tainted
    when:
      context_taint_includes: [external, untrusted]
    action:
      remove_tools: [exec]
      
  # If untrusted content is present, block all outgoing messages
  - name: no-send-when-untrusted
    when:
      context_taint_includes: [untrusted]
    action:
      block_tools: [message]
      
  # If recursion depth > 5, abort (runaway loop)
  - name: max-recursion
    when:
      iteration_gte: 5
    action:
      block_turn: true
      reason: "Max recursion depth exceeded"
      
  # Log all turns that touch external content
  - name: audit-external
    when:
      context_taint_includes: [external]
    action:
      log_full_context: true
      persist_graph: true
`

// mustParse is the Set of a file that has no errors.
func mustParse(t testing.TB, src string) *policy.Set {
	t.Helper()
	set, faults := policy.Parse("policy.yaml", []byte(src))
	if err := faults.Err(); err != nil {
		t.Fatalf("parse:\n%s", faults.Render([]byte(src)))
	}
	return set
}
