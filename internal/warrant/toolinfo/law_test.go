package toolinfo

import (
	"slices"
	"testing"

	"github.com/tidemark/tidemark/tool"
)

// everyWord are the words of all lists, sorted.
func everyWord() []string {
	var out []string
	for w := range verbs {
		out = append(out, w)
	}
	for w := range nouns {
		out = append(out, w)
	}
	for _, s := range []set{isSkipped, isJoin, isRelation, isComputing, isDoubtful, isSeeming, isMaking, isTidy, isClient, isInterpreter, isWhole, isLead, isClaim, isWhich} {
		for w := range s {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// acting are names whose verb is nothing but a verb: each says what it does, whatever stands beside it.
var acting = [][]string{
	{"send", "email"}, {"grant", "access"}, {"delete", "record"}, {"update", "payee"}, {"execute", "sql"}, {"remove", "member"},
	{"pay", "invoice"}, {"publish", "page"}, {"invite", "guest"}, {"cancel", "subscription"}, {"install", "package"}, {"buy", "ticket"},
}

// Another word in the name of a tool never makes it milder: a name says all that its words say.
//
// WAR-02
func TestNoWordInANameMakesItMilder(t *testing.T) {
	rankOf := func(m *Meaning) int {
		if m.Act == Unknown {
			return severity[Send] // as calls are judged by it: graver than sending, and no more
		}
		return severity[m.Act]
	}
	for _, name := range acting {
		plain := Of(tool.Definition{Name: name[0] + "_" + name[1]})
		for _, w := range everyWord() {
			for _, with := range []string{w + "_" + name[0] + "_" + name[1], name[0] + "_" + w + "_" + name[1], name[0] + "_" + name[1] + "_" + w} {
				if m := Of(tool.Definition{Name: with}); rankOf(m) < rankOf(plain) {
					t.Errorf("%s is %s, %s_%s is %s: %s", with, m.Act, name[0], name[1], plain.Act, m.Why)
				}
			}
		}
	}
}
