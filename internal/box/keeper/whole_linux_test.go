package keeper

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/broker"
)

// A yes is for what was shown: two long addresses or commands that begin alike are two.
func TestWhatIsTooLongIsToldApart(t *testing.T) {
	long := strings.Repeat("a", 1900)
	one := wantedOf(&broker.Question{Program: "curl", Verb: "download", Host: "a.example", Port: 443, Place: long + "1"}, "curl x")
	two := wantedOf(&broker.Question{Program: "curl", Verb: "download", Host: "a.example", Port: 443, Place: long + "2"}, "curl x")
	if one.Place == two.Place || len(one.Place) > 400 || !strings.HasPrefix(one.Place, "aaaa") {
		t.Errorf("%q and %q", one.Place, two.Place)
	}
	q := broker.Question{Program: "gh", Verb: "look", Host: "github.com", Port: 443, Place: "acme/web", Refs: []broker.Ref{{Name: "gh pr list " + long + "1"}}}
	first := wantedOf(&q, "gh")
	q.Refs[0].Name = "gh pr list " + long + "2"
	if second := wantedOf(&q, "gh"); first.Refs[0] == second.Refs[0] || len(first.Refs[0]) > 1600 {
		t.Errorf("%q", first.Refs[0])
	}
	if w := wantedOf(&broker.Question{Program: "gh", Verb: "submit", Place: "acme/web", Refs: []broker.Ref{{Name: "gh pr create"}}}, "x"); w.Refs[0] != "gh pr create" || w.Place != "acme/web" {
		t.Errorf("%+v", w)
	}
}
