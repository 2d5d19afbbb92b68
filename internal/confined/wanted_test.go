package confined_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/event"
)

// A question about another computer, a cluster or an engine says what is done, where, and in whose name.
func TestWhatAQuestionSaysOfWhereItGoes(t *testing.T) {
	for want, w := range map[string]event.Wanted{
		`“ssh web id”: it is run at d@web.acme.example,`:            {Verb: "order", Host: "web.acme.example", Port: 22, Place: "d@web.acme.example", Refs: []string{"ssh web id"}},
		`2 files of the workspace to d@web.acme.example:/srv`:       {Verb: "carry", Host: "web.acme.example", Port: 22, Place: "d@web.acme.example:/srv", Refs: []string{"rsync -a dist web:/srv"}, Files: []string{"dist/a (1 bytes)", "dist/b (2 bytes)"}},
		`files of d@web.acme.example:x are put into the workspace`:  {Verb: "bring", Host: "web.acme.example", Port: 22, Place: "d@web.acme.example:x", Refs: []string{"scp web:x ."}},
		`in your name, in the cluster dev (10.0.0.1, port 6443)`:    {Verb: "look", Host: "10.0.0.1", Port: 6443, Remote: "dev", Refs: []string{"kubectl get pods"}},
		`in your name, by the engine of containers of this machine`: {Verb: "submit", Host: "localhost", Port: 2375, Refs: []string{"docker restart web"}},
		`in your name, in the repository github.com/acme/web`:       {Verb: "submit", Host: "github.com", Port: 443, Place: "acme/web", Refs: []string{"gh pr create"}},
	} {
		if err := confined.Check(&w); err != nil {
			t.Errorf("%s: %v", w.Verb, err)
		}
		if got := confined.Sentence(&w); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		if got := confined.Lasts(&w); got != (w.Verb == "look" || w.Verb == "bring") {
			t.Errorf("a yes to %s lasts: %v", w.Verb, got)
		}
	}
}
