package replay_test

import (
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func recorded(t testing.TB, events ...event.Event) iter.Seq2[audit.Record, error] {
	t.Helper()
	return func(yield func(audit.Record, error) bool) {
		for i := range events {
			events[i].Time = time.Unix(int64(i), 0).UnixNano()
			rec, err := events[i].Record("s")
			rec.Seq = uint64(i) + 1
			if !yield(rec, err) {
				return
			}
		}
	}
}

func began(level trust.Level, text string) event.Event {
	b := &event.Began{Sender: trust.Sender{Provider: "cli", IsOwner: true}, Level: trust.Owner, Label: trust.Label{Level: level}, Words: true}
	if text != "" {
		b.Message = &event.Content{Text: text}
	}
	return event.Event{Kind: event.TurnBegan, Began: b}
}

func decided(id, name, effect string, change func(*event.Decided)) event.Event {
	d := &event.Decided{CallID: id, Tool: name, Effect: effect, Digest: tool.DigestOf([]byte(name))}
	if change != nil {
		change(d)
	}
	return event.Event{Kind: event.CallDecided, Decided: d}
}

func saw(id, name string, level trust.Level) event.Event {
	return event.Event{Kind: event.ResultSeen, Seen: &event.Seen{CallID: id, Tool: name, Label: trust.Label{Level: level}, Content: &event.Content{Preview: "words"}}}
}

func logDecisions(t *testing.T, events ...event.Event) []string {
	t.Helper()
	run, err := replay.FromLog("s", recorded(t, events...), plainly)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := replay.Play(t.Context(), garden(t), replay.Person{}, &run)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range calls {
		out = append(out, d.Tool+" "+d.Decision+" "+d.Taint)
	}
	return out
}

// BEY-04
func TestASessionOfTheLogIsReplayed(t *testing.T) {
	ask := func(d *event.Decided) { d.Ask = &event.Ask{ID: "ask-1", Args: `{"bed":"b"}`} }
	spend := func(d *event.Decided) { d.Spent = "ask-1" }
	tests := []struct {
		name   string
		events []event.Event
		want   []string
	}{
		{"what was trusted stays so", []event.Event{began(trust.Owner, "hi"), decided("1", "plot_list", "allow", nil), saw("1", "plot_list", trust.Local), decided("2", "water_bed", "allow", nil)},
			[]string{"plot_list allow owner", "water_bed allow local"}},
		{"a recorded level is held to, whatever the policy expects", []event.Event{began(trust.Owner, "hi"), decided("1", "plot_list", "allow", nil), saw("1", "plot_list", trust.Untrusted), decided("2", "water_bed", "allow", nil)},
			[]string{"plot_list allow owner", "water_bed ask untrusted"}},
		{"what a turn inherited is held to", []event.Event{began(trust.External, ""), decided("2", "water_bed", "allow", nil)}, []string{"water_bed ask external"}},
		{"held, approved and made again is one call", []event.Event{began(trust.Untrusted, "hi"), decided("1", "water_bed", "confirm", ask), decided("2", "water_bed", "allow", spend), saw("2", "water_bed", trust.Local)},
			[]string{"water_bed ask untrusted"}},
		{"an owner's reset is repeated", []event.Event{began(trust.Untrusted, "hi"), {Kind: event.TrustReset, Answer: &event.Answer{By: "owner", Level: trust.Owner}}, decided("1", "water_bed", "allow", nil)},
			[]string{"water_bed allow owner"}},
		{"a refused call that now runs brings in what its tool brings", []event.Event{began(trust.Owner, "hi"), decided("1", "almanac_page", "deny", nil), decided("2", "water_bed", "allow", nil)},
			[]string{"almanac_page allow owner", "water_bed ask untrusted"}},
		{"what the host found in the context is held to", []event.Event{began(trust.Owner, "hi"), {Kind: event.ContextSeen, Seen: &event.Seen{Label: trust.Label{Level: trust.External}}}, decided("2", "water_bed", "allow", nil)},
			[]string{"water_bed ask external"}},
		{"a quarantined write is kept whole", []event.Event{began(trust.Owner, "hi"), decided("1", "water_bed", "deny", func(d *event.Decided) { d.Write = &event.Write{ID: "w", Args: `{"bed":"x"}`} })},
			[]string{"water_bed allow owner"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, logDecisions(t, tt.events...)); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALogThatCannotBeReadGivesNoRun(t *testing.T) {
	var broken iter.Seq2[audit.Record, error] = func(yield func(audit.Record, error) bool) {
		yield(audit.Record{Session: "s", Seq: 1, Kind: "nonsense", Body: []byte("{}")}, nil)
	}
	if _, err := replay.FromLog("s", broken, plainly); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("got %v, want the unknown record", err)
	}
	if _, err := replay.FromLog("s", recorded(t), plainly); err == nil {
		t.Error("an empty session is a run")
	}
}

// plainly opens arguments that are not sealed.
func plainly(_, kept string) string { return kept }
