package adversary_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/tool"
)

func TestZZ(t *testing.T) {
	want := strings.Split(os.Getenv("ZZ"), "|")
	for _, s := range stories() {
		for _, w := range want {
			if w == "" || !strings.Contains(s.id(), w) {
				continue
			}
			for kind, acts := range map[string][]step{"harm": s.harms, "want": s.wants} {
				c := warrant.New(vocabulary.Load())
				var defs []tool.Definition
				for _, d := range s.tools {
					defs = append(defs, tool.Definition{Name: d.Name, Description: d.Description, Schema: d.Schema})
				}
				c.Tools(defs)
				for _, u := range s.said {
					c.User(u)
				}
				for i, r := range marked(s.reads, false) {
					a := tool.NewArgs(encoded(t, r.args))
					c.Result(warrant.Result{Tool: r.tool, Step: uint64(i + 2), Args: &a, Content: string(content(t, r.gives))})
				}
				for _, h := range acts {
					a := tool.NewArgs(encoded(t, h.args))
					x := c.Of(h.tool, &a)
					arg, _ := c.Is("argued", h.tool)
					t.Logf("%s %s: %s %s argued=%v lacks=%v", s.id(), kind, h.tool, x.Deed, arg, len(x.Lacks(warrant.Balanced(x.Deed))))
					for _, sl := range x.Slots {
						t.Logf("      %s %s=%.60q %s (%s)", sl.Kind, sl.Path, sl.Value, sl.Has, sl.Why)
					}
				}
			}
		}
	}
}
