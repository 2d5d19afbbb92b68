package engine_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// cancelErrand is a session in which the owner wants an order cancelled, and a tool has brought one record.
func cancelErrand(t *testing.T, what, brought string) *world {
	t.Helper()
	w := newWorld(t, "preset: balanced")
	message := "Cancel " + what
	w.begin(engine.Turn{Ref: main("s"), Sender: owner(), Message: &message, Contract: &intent.Contract{
		V: intent.ItemsVersion, Items: []intent.Item{{Tool: "cancel_order", Quote: message, Need: "asked", Args: []intent.Arg{
			{Arg: "order_id", How: "from", Of: what}}}},
	}})
	offered := engine.ModelCall{Ref: main("s"), Iteration: -1, Tools: []string{"read_board", "cancel_order"}, Definitions: []tool.Definition{
		{Name: "read_board", Description: "All orders that are on the board."}, {Name: "cancel_order"},
	}}
	if _, err := w.Tools(w.Context(), offered); err != nil {
		t.Fatal(err)
	}
	w.runs(main("s"), call("read_board", `{}`), brought)
	return w
}

// What an item holds only because of a record that it does not name is held, and told as a fault of ours, by a rule of
// its own. The log says what any other answer depends on.
//
// MAN-02
func TestAnAnswerThatHangsOnWhatNobodyNamedIsAFaultOfOurs(t *testing.T) {
	cancel := call("cancel_order", `{"order_id":"or-771"}`)
	w := cancelErrand(t, "the order", `[{"order_id":"or-771","note":"the only one here"}]`)
	v := w.want(policy.Confirm, main("s"), cancel)
	if v.Rule != "judgement.interference" {
		t.Errorf("it is held by %s", v.Rule)
	}
	for _, q := range w.questions() {
		if text := q.Text(); !strings.Contains(text, "fault of ours") || !strings.Contains(text, "or-771") {
			t.Errorf("the question does not say so:\n%s", text)
		}
	}
	again := cancelErrand(t, "the order", `[{"order_id":"or-771","note":"the only one here"}]`).again()
	if v := again.want(policy.Confirm, main("s"), cancel); v.Rule != "judgement.interference" {
		t.Errorf("after a restart it is held by %s", v.Rule)
	}

	w = cancelErrand(t, "the parcel of Ilse Brandt", `[{"order_id":"or-771","for":"Ilse Brandt"},{"order_id":"or-772","for":"Tor Vik"}]`)
	w.want(policy.Allow, main("s"), cancel)
	depends := ""
	for _, e := range w.events("s") {
		if e.Decided != nil && e.Decided.Tool == "cancel_order" {
			depends = e.Decided.Warrant
		}
	}
	if !strings.Contains(depends, "depends=order_id@") {
		t.Errorf("the log does not say what it depends on: %q", depends)
	}
}
