package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

func yesHint(b bool) *bool { return &b }

// oddDefs are tools of a server that words cannot place.
func oddDefs() []tool.Definition {
	return []tool.Definition{
		{Name: "berth_ledger", Description: "Ledger of berths.", ReadOnly: yesHint(true),
			Schema: []byte(`{"properties":{"berth":{"type":"string"},"note":{"type":"string"},"to":{"type":"string"}}}`)},
		{Name: "ledger_berth", Description: "Berths of the ledger.", Schema: []byte(`{"properties":{"berth":{"type":"string"}}}`)},
		{Name: "delete_berth", Schema: []byte(`{"properties":{"berth":{"type":"string"}}}`)},
		{Name: "pay_berth", Schema: []byte(`{"properties":{"berth":{"type":"string"},"amount":{"type":"number"}}}`)},
		{Name: "web_fetch"},
	}
}

func (w *world) saysReads(ref engine.Ref, c tool.Call) (engine.Outcome, error) {
	w.Helper()
	held := w.want(policy.Confirm, ref, c)
	return w.Answer(w.Context(), engine.Vote{
		Session: ref.Session, IDs: []string{held.Held.ID}, Approve: true, Reads: true, By: "ada", Via: "http",
	})
}

// MAN-03: a person may say that a tool only reads, for the definition that it has now. Whoever controls its server then changes
// the definition, its hints or the name, or has the agent carry something out with it: none of that runs by their word.
func TestAPersonSaysThatAToolOnlyReads(t *testing.T) {
	look := call("ledger_berth", `{"berth":"berths"}`)
	w := newWorld(t, "preset: balanced")
	s := w.crew("s", "desk", oddDefs())
	held := w.want(policy.Confirm, s, look)
	if !strings.Contains(held.Held.Text(), "if it only reads: ledger_berth only reads, as long as its definition stays as it is") {
		t.Fatalf("the question does not offer it:\n%s", held.Held.Text())
	}
	out, err := w.saysReads(s, look)
	if err != nil || !strings.HasPrefix(out.Grant, "reads-") {
		t.Fatalf("got %+v, %v", out, err)
	}
	w.want(policy.Allow, s, look)
	w = w.again()
	w.heldByWhoSays(look, policy.Confirm)
	list, err := w.Lasting(t.Context())
	if err != nil || len(list) != 1 || !list[0].Reads || !list[0].Until.IsZero() {
		t.Fatalf("the list is %+v, %v", list, err)
	}
	if err := w.Revoke(t.Context(), "", out.Grant, "ada", "cli"); err != nil {
		t.Fatal(err)
	}
	w.want(policy.Confirm, w.crew("after", "desk", oddDefs()), look)
}

// MAN-03: of what pays, deletes, grants or runs by its own words nobody says that it only reads.
func TestNobodySaysOfAGraveToolThatItReads(t *testing.T) {
	for _, c := range []tool.Call{call("delete_berth", `{"berth":"berths"}`), call("pay_berth", `{"berth":"berths","amount":4}`)} {
		w := newWorld(t, "preset: balanced")
		s := w.crew("s", "desk", oddDefs())
		if held := w.want(policy.Confirm, s, c); held.Held.Reads != "" {
			t.Errorf("%s: it is offered", c.Name)
		}
		if out, err := w.saysReads(s, c); !errors.Is(err, approval.ErrUsage) {
			t.Errorf("%s: got %+v, %v", c.Name, out, err)
		}
	}
}

// heldByWhoSays tries what somebody who controls the server of ledger_berth would, where it is said of its definition that it only
// reads. another is what becomes of the same look of another agent.
func (w *world) heldByWhoSays(look tool.Call, another policy.Effect) {
	w.Helper()
	changed, hinted, wider := oddDefs(), oddDefs(), oddDefs()
	changed[1].Description = "Berths of the ledger, and tell the harbour."
	hinted[1].Destructive = yesHint(true)
	wider[1].Schema = []byte(`{"properties":{"berth":{"type":"string"},"notify":{"type":"string"}}}`)
	for name, c := range map[string]struct {
		defs  []tool.Definition
		agent string
		call  tool.Call
		want  policy.Effect
	}{
		"the same definition":   {oddDefs(), "desk", look, policy.Allow},
		"a changed description": {changed, "desk", look, policy.Confirm},
		"a changed hint":        {hinted, "desk", look, policy.Confirm},
		"a wider schema":        {wider, "desk", look, policy.Confirm},
		"another agent":         {oddDefs(), "visitor", look, another},
		"another tool":          {oddDefs(), "desk", call("delete_berth", `{"berth":"berths"}`), policy.Confirm},
		"what others have":      {oddDefs(), "desk", call("ledger_berth", `{"berth":"card 4481 2290"}`), policy.Confirm},
		"an address of a page":  {oddDefs(), "desk", call("ledger_berth", `{"berth":"berths","to":"kes@quick.example"}`), policy.Confirm},
		"a command":             {oddDefs(), "desk", call("ledger_berth", `{"berth":"berths","command":"rm -rf /"}`), policy.Confirm},
	} {
		ref := w.crew(strings.ReplaceAll(name, " ", "-"), c.agent, c.defs)
		if v := w.decide(ref, c.call); v.Effect != c.want {
			w.Errorf("%s: got %s by %s, item %+v, want %s", name, v.Effect, v.Rule, v.Item, c.want)
		}
	}
}

// MAN-03: the policy says it of one definition, by its hash, for every agent; whoever controls the server has no more by it than by
// a person's word, and grave tools are none that only read.
func TestThePolicySaysThatAToolOnlyReads(t *testing.T) {
	look, defs := call("ledger_berth", `{"berth":"berths"}`), oddDefs()
	file := "preset: balanced\nannotations:\n"
	for i := range defs {
		file += "  " + defs[i].Name + ": {onlyReads: [" + mandate.Defined(&defs[i]) + "]}\n"
	}
	w := newWorld(t, file)
	w.heldByWhoSays(look, policy.Allow)
	v := w.want(policy.Allow, w.crew("s", "desk", defs), look)
	if v.Item == nil || v.Item.Giver != "policy" || v.Item.ID != "annotations.ledger_berth.onlyReads" || v.Spent != "" {
		t.Errorf("the verdict names %+v", v.Item)
	}
	w.want(policy.Confirm, main("s"), call("pay_berth", `{"berth":"berths","amount":4}`))
	respelled := oddDefs()
	respelled[1].Schema = []byte(`{ "properties" : { "berth" : { "type" : "string" } } }`)
	w.want(policy.Allow, w.crew("respelled", "desk", respelled), look)
	silent := newWorld(t, "preset: balanced")
	silent.want(policy.Confirm, silent.crew("s", "desk", defs), look)
}

// MAN-03: a host says it of a tool of its own, and of no other's: a server's hint is a claim.
func TestAHostSaysThatItsOwnToolOnlyReads(t *testing.T) {
	look := call("ledger_berth", `{"berth":"berths"}`)
	own := func(host, reads, destroys *bool) []tool.Definition {
		defs := oddDefs()
		defs[1].Host, defs[1].ReadOnly, defs[1].Destructive = host, reads, destroys
		return defs
	}
	yes, no := yesHint(true), yesHint(false)
	w := newWorld(t, "preset: balanced")
	for name, c := range map[string]struct {
		defs []tool.Definition
		want policy.Effect
	}{
		"its own, that reads":      {own(yes, yes, no), policy.Allow},
		"of a server":              {own(no, yes, nil), policy.Confirm},
		"of nobody knows":          {own(nil, yes, nil), policy.Confirm},
		"its own, silent":          {own(yes, nil, nil), policy.Confirm},
		"its own, that destroys":   {own(yes, yes, yes), policy.Confirm},
		"its own, that only looks": {own(yes, yes, nil), policy.Allow},
	} {
		if v := w.decide(w.crew(strings.ReplaceAll(name, " ", "-"), "desk", c.defs), look); v.Effect != c.want {
			t.Errorf("%s: got %s by %s, item %+v, want %s", name, v.Effect, v.Rule, v.Item, c.want)
		}
	}
}
