package contract_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/contract"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// Law: a contract of the third form that has nothing new is judged as the same of the second.
//
// MAN-06
func TestLawTheThirdFormHoldsTheSecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawContract(t)
		second, third := *c, *c
		second.Form, third.Form = 2, 3
		unseen := cmpopts.IgnoreUnexported(mandate.Item{}, mandate.Source{})
		if d := cmp.Diff(contract.Judged(&second), contract.Judged(&third), unseen); d != "" {
			t.Fatalf("(-second +third):\n%s", d)
		}
	})
}

// What the log keeps of a contract is all of it, without secrets.
//
// MAN-06
func TestAllOfTheThirdFormIsKeptWithoutSecrets(t *testing.T) {
	c := intent.Contract{
		V: intent.ItemsVersion,
		Items: []intent.Item{{Tool: "a", Quote: "q secret", Need: "asked", Except: []string{"e secret"}, Or: "o", Args: []intent.Arg{
			{Arg: "x", How: "calc", What: []string{"w secret"}, Is: []string{"secret"}}, {Arg: "y", How: "made"}}}},
		Follow: []intent.Follow{{Source: "f secret", Limit: "l secret"}}, Never: []intent.Ban{{Act: "send", What: "n secret", First: true}},
	}
	got := contract.Kept(&c, func(s string) string {
		if len(s) >= 6 && s[len(s)-6:] == "secret" {
			return s[:len(s)-6] + "…"
		}
		return s
	})
	want := &event.Contract{
		Form: 3,
		Items: []event.ContractItem{{Tool: "a", Quote: "q …", Need: "asked", Except: []string{"e …"}, Or: "o", Args: []event.ContractArg{
			{Arg: "x", How: "calc", What: []string{"w …"}, Is: []string{"…"}}, {Arg: "y", How: "made"}}}},
		Follow: []string{"f …"}, Limits: map[string]string{"f …": "l …"}, Never: []event.Ban{{Act: "send", What: "n …", First: true}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	m := contract.Judged(got).Mandate
	it := &m.Items[0]
	if it.Args["x"][0].Is[0] != "…" || it.Args["y"][0].How != mandate.Made || it.Or != "o" || it.Except[0] != "e …" || m.Limits["f …"] != "l …" || !m.Never[0].First {
		t.Errorf("judged by %+v", m)
	}
}
