//go:build unix

package headless_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/headless"
)

// ordinary is the fifth message of a day, to an agent with forty tools.
func ordinary() intent.Request {
	var out intent.Request
	for i, verb := range []string{"list", "get", "search", "create", "update", "delete", "send", "share"} {
		for _, what := range []string{"mail__message", "calendar__event", "files__document", "contacts__person", "tasks__entry"} {
			out.Tools = append(out.Tools, intent.Signature{Name: what + "_" + verb, Params: []intent.Parameter{
				{Name: "id", Type: "string"}, {Name: "title", Type: "string"}, {Name: "when", Type: "string"}, {Name: "count", Type: "integer"},
			}[:1+i%4]})
		}
	}
	for n, text := range []string{
		"What is new in my mail today?", "Put the figures of the last three months from Ana's mail into a new table, please.",
		"Tell Petra that the meeting on Thursday moves to 3 pm, and ask her for the slides.", "Thanks. Which of my tasks are due this week?",
		"Add Dentist to my calendar on 20 November at 9",
	} {
		out.Words = append(out.Words, intent.Word{Turn: uint64(n) + 1, Text: text})
	}
	return out
}

// MAN-12: what a reading costs, from what the real programs send for an ordinary message. Bytes stand for tokens, four for one: what is
// sent is English and JSON, and every provider counts otherwise. docs/model.md has the figures that this prints.
func TestTheRealProgramsSendWhatAReadingCosts(t *testing.T) {
	for _, name := range headless.Names() {
		t.Run(name, func(t *testing.T) {
			p, up, _ := realProgram(t, name)
			day := ordinary()
			system, user := day.Prompt()
			if _, err := p.Ask(t.Context(), auditor.Prompt{System: system, User: user, Schema: intent.ContractSchema}); err != nil {
				t.Fatal(err)
			}
			sent := up.bodies()
			if len(sent) != 1 || !strings.Contains(sent[0], "Dentist") {
				t.Fatalf("it asked %d times", len(sent))
			}
			given := len(system) + len(user) + len(intent.ContractSchema)
			if more := len(sent[0]) - given; more > 8<<10 {
				t.Errorf("it sends %d bytes beside the %d that it was given", more, given)
			}
			t.Logf("%s: instructions %d bytes, tools and words %d, form %d; sent %d bytes, some %d tokens",
				name, len(system), len(user), len(intent.ContractSchema), len(sent[0]), len(sent[0])/4)
		})
	}
}
