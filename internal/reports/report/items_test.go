package report_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// MAN-01: the report names the items that let calls run and those that came closest to what was asked, by the ids of the log, with
// the slots that were missing.
func TestAReportNamesItemsAndWhatWasMissing(t *testing.T) {
	l := &log{t: t}
	allow := func(session string, second float64, i *event.Covering) {
		l.decided(session, second, event.Decided{Tool: "send_email", Effect: "allow", Rule: "balanced.send.act", Item: i})
	}
	allow("a", 1, &event.Covering{ID: "m3.1", Giver: "contract", Quote: "Mail Tom"})
	allow("a", 2, &event.Covering{ID: "m3.1", Giver: "contract", Quote: "Mail Tom"})
	allow("b", 3, &event.Covering{ID: "always-1", Giver: "always"})
	allow("b", 4, nil)
	for second, session := range []string{"a", "b"} {
		l.decided(session, float64(5+second), event.Decided{
			Tool: "pay_bill", Effect: "confirm", Rule: "balanced.pay.aim", Kind: "taint-escalation",
			Item: &event.Covering{Missing: []string{"act", "payee"}}, Ask: &event.Ask{ID: "ask-" + session, Expires: at(100)},
		})
	}
	b := report.New()
	for _, r := range l.records {
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	got := b.Report(report.Options{})
	if len(got.Items) != 3 {
		t.Fatalf("got %+v", got.Items)
	}
	if first := got.Items[0]; first.ID != "" || first.Asked != 2 || strings.Join(first.Missing, " ") != "act payee" {
		t.Errorf("what no item is for is %+v", first)
	}
	if next := got.Items[1]; next.ID != "m3.1" || next.Session != "a" || next.Giver != "contract" || next.Allowed != 2 {
		t.Errorf("the item is %+v", next)
	}
	var out strings.Builder
	if err := got.Render(&out, 120, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"m3.1 contract", "act, payee", "always-1 always"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
