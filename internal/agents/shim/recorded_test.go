package shim_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var recorded = []string{"claude", "codex", "gemini", "copilot", "opencode", "goose", "droid", "cline"}

// What real agents sent, against a server that runs and against none: what is understood
// of each payload and the exact answer.
func TestRecordedPayloadsAreUnderstoodAndAnswered(t *testing.T) {
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			w, off := open(t), folder(t)
			a, err := catalogue.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, l := range lines(t, name+"-recorded.jsonl") {
				e, err := a.Decode(l.Event, l.Body)
				if err != nil {
					t.Fatalf("Decode: %v", err)
				}
				fmt.Fprintf(&got, "%s: kind %d, turn %q, words %q, tool %q, call %q, params %s, result %s\n",
					e.Name, e.Kind, e.Turn, e.Words, e.Tool, e.CallID, e.Params, e.Result)
				p := w.run(name, l.Event, l.Body)
				fmt.Fprintf(&got, "  served: exit %d, stdout %q, stderr %q\n", p.code, p.out, p.err)
				p = off.run(name, l.Event, l.Body)
				fmt.Fprintf(&got, "  no server: exit %d, stdout %q, stderr %q\n", p.code, p.out, p.err)
			}
			golden(t, name+"-recorded.golden", got.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
