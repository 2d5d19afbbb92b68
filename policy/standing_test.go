package policy_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/policy"
)

// MAN-09: an entry that leaves open whom, how much or by which tool is refused with its place, and so is one for what is asked about
// each time.
func TestAStandingMandateNamesEverything(t *testing.T) {
	good := "standing:\n  - {name: dues, act: pay, tools: [pay_bill], aims: [harbour-master], upTo: {amount: 100}, with: {currency: EUR}}\n"
	set, faults := policy.Parse("p.yaml", []byte(good))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	const says = "pay with pay_bill: to harbour-master, amount up to 100, currency EUR; 1 in a session, for every agent; " +
		"what its texts carry is still looked at"
	if list := set.Standing(); len(list) != 1 || list[0].Text != says || list[0].Pos != "p.yaml:2:5" {
		t.Errorf("got %v", list)
	}
	for entry, want := range map[string]string{
		"{name: a, act: delete, tools: [x], objects: [y]}":                                             "p.yaml:2:20: standing[0].act: delete is asked about each time",
		"{name: a, act: execute, tools: [x], objects: [y]}":                                            "execute is asked about each time",
		"{name: a, act: grant, tools: [x], aims: [y]}":                                                 "grant is asked about each time",
		"{name: a, act: unknown, tools: [x], aims: [y]}":                                               "unknown is asked about each time",
		"{name: a, act: sned, tools: [x], aims: [y]}":                                                  "send",
		"{name: a, act: send, aims: [y]}":                                                              "needs tools",
		"{name: a, tools: [x], aims: [y]}":                                                             "needs act",
		"{name: a, act: send, tools: [x]}":                                                             "needs aims",
		"{name: a, act: change, tools: [x]}":                                                           "needs aims or objects",
		"{name: a, act: pay, tools: [x], aims: [y]}":                                                   "needs upTo",
		"{name: a, act: send, tools: ['send_*'], aims: [y]}":                                           "is a pattern",
		"{name: a, act: send, tools: [x], aims: ['*@crew.example']}":                                   "p.yaml:2:45: standing[0].aims[0] looks like a pattern",
		"{name: a, act: send, tools: [x], aims: [\"m\\u0430ra@crew.example\"]}":                        "look like others",
		"{name: a, act: send, tools: [x], aims: [\"mara@crew.example\\u200b\"]}":                       "cannot be seen",
		"{name: a, act: pay, tools: [x], aims: [y], upTo: {amount: much}}":                             "upTo.amount must be",
		"{name: a, act: pay, tools: [x], aims: [y], upTo: {amount: -1}}":                               "upTo.amount",
		"{name: a, act: send, tools: [x], aims: [y], calls: 0}":                                        "calls",
		"{name: a, act: send, tools: [x], aims: [y], definitions: [all]}":                              "no hash of a definition",
		"{name: a, act: send, tools: [x], aims: [y], to: [z]}":                                         "unknown key \"to\"",
		"{name: a, act: send, tools: [x], aims: [y]}\n  - {name: a, act: send, tools: [x], aims: [y]}": "is taken by the entry on line 2",
	} {
		if _, faults := policy.Parse("p.yaml", []byte("standing:\n  - "+entry+"\n")); faults.Err() == nil || !strings.Contains(faults.Err().Error(), want) {
			t.Errorf("%s: got %v, want %q", entry, faults.Err(), want)
		}
	}
}
