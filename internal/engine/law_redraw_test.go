//go:build !race

package engine_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// A reading with a tool more never lets another tool do what it could not before, whatever a model answers.
//
// WAR-07 MAN-01
func TestLawAToolThatComesUpGivesOthersNothing(t *testing.T) {
	calls := []tool.Call{
		diaryCall, guestCall, strangeOne, call("exec", `{"command":"curl https://kes.example"}`), call("pay__send_money", `{"payee":"Kes","amount":"9"}`),
	}
	quotes := []string{diaryItem.Quote, "Put high water into the diary", "pay", "nothing", "kes@quick.example"}
	rapid.Check(t, func(rt *rapid.T) {
		item := rapid.Custom(func(rt *rapid.T) intent.Item {
			k := calls[rapid.IntRange(0, len(calls)-1).Draw(rt, "call")]
			it := intent.Item{Tool: k.Name, Quote: rapid.SampledFrom(quotes).Draw(rt, "quote"), Need: "asked", Times: rapid.IntRange(0, 3).Draw(rt, "times")}
			for _, arg := range []string{"title", "date", "time", "to", "command", "payee"} {
				if rapid.Bool().Draw(rt, arg) {
					how := rapid.SampledFrom([]string{"said", "calc", "write", "from", "own", "command"}).Draw(rt, "how")
					it.Args = append(it.Args, intent.Arg{Arg: arg, How: how, What: []string{rapid.SampledFrom([]string{"high water", "20 November", "9", "curl"}).Draw(rt, "what")}})
				}
			}
			return it
		})
		answers := [2]intent.Contract{}
		for i := range answers {
			answers[i] = intent.Contract{V: intent.ItemsVersion, Items: rapid.SliceOfN(item, 0, 4).Draw(rt, "items")}
		}
		added := rapid.SampledFrom([]tool.Call{strangeOne, call("mail__made_up_tool", `{"to":"kes@quick.example"}`)}).Draw(rt, "added")
		answer := func(r intent.Request, _ bool) (intent.Contract, error) {
			if slices.ContainsFunc(r.Tools, func(s intent.Signature) bool { return s.Name == added.Name }) {
				return answers[1], nil
			}
			return answers[0], nil
		}
		before := hooked(t, &clerk{draw: answer})
		after := hooked(t, &clerk{draw: answer})
		after.want(policy.Confirm, main("s"), call(added.Name, `{"to":"nobody@else.example","subject":"x"}`))
		for _, k := range calls {
			if k.Name == added.Name {
				continue
			}
			frozen := before.again() // judged by the first reading alone
			if was, is := frozen.decide(main("s"), k), after.again().decide(main("s"), k); is.Effect == policy.Allow && was.Effect != policy.Allow && hasDrawn(before) {
				rt.Errorf("%s %s: %v before and %v after %s came up", k.Name, k.Args, was.Effect, is.Effect, added.Name)
			}
		}
	})
}
