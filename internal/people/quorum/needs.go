package quorum

import (
	"slices"

	"github.com/tidemark/tidemark/internal/engine"
)

// Needs are what a question takes, for people who look at it.
type Needs struct {
	People int      // how many must approve, by name; 1: one
	Agreed []string // whose approval counts already
	May    []string // who else may, of those whom the file names
	Anyone bool     // and whoever else may approve at all
}

// Needs says how many people a question takes, who has agreed, and who may.
func (r *Rules) Needs(c engine.QuestionInfo, agreed []string) Needs {
	rule := r.rule(c)
	n := Needs{People: max(rule.People, 1)}
	asked, _ := rule.asked(c)
	n.Agreed, _ = r.agreed(c, &rule, agreed)
	for i := range r.People {
		p := &r.People[i]
		if len(asked) > 0 && !slices.Contains(asked, p.Name) || rule.NotOwn && p.owns(c.Agent) || slices.Contains(n.Agreed, p.Name) {
			continue
		}
		n.May = append(n.May, p.Name)
	}
	n.Anyone = len(asked) == 0 && !rule.NotOwn && n.People == 1
	return n
}
