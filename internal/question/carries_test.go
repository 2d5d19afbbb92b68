package question_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/trust"
)

func carrying() *question.Card {
	return &question.Card{
		Tool: "send_email", Act: "send", Reason: "it would carry something out, and I could not find in your words that it may", Tainted: true,
		Args: `{"to":"all@harbour.example","body":"The pier is open.\nPay of Mara Lund: 61,200.\nYours"}`,
		Values: []event.Shown{
			{Path: "body", Slot: "cargo", Value: "61,200", Has: "none", Lacks: true, Why: "you said what this text says, and it holds what was read besides"},
			{Path: "to", Slot: "aim", Value: "all@harbour.example", Has: "said", Why: "you said it"},
		},
		Carries: []event.Carried{
			{Path: "body", Part: "Pay of Mara Lund:", Tool: "read_file", Step: 3}, {Path: "body", Part: "61,200", Tool: "read_file", Step: 3},
			{Path: "body", Part: "pier is open", Tool: "read_page", Step: 4, Readers: trust.Everybody},
		},
		Sources: []trust.Source{
			{Tool: "read_file", Step: 3, Kind: "tool_result", Detail: "mara.md", Excerpt: "Pay of Mara Lund: 61,200. Account 4821"},
			{Tool: "read_page", Step: 4, Kind: "tool_result", Excerpt: "the pier is open", Readers: trust.Everybody},
		},
	}
}

// A question about a text names what it would carry, of which result, who may read that and to whom it goes; the lines that hold it are
// marked. Figures of a result that only the user may read
// go into no chat, and whoever opens the question sees them.
//
// AUD-02
func TestAQuestionNamesWhatWouldBeCarried(t *testing.T) {
	c := carrying()
	shown := question.Text(c.Lines())
	for _, want := range []string{
		"Send to all@harbour.example, with send_email. It would carry 2 parts of read_file at step 3 (mara.md), which as far as I know only you may read, and more of another result",
		"\n  ! | The pier is open.", "\n  ! | Pay of Mara Lund: 61,200.", "\n    | Yours",
		"of read_file at step 3 (mara.md), which as far as I know only you may read: “Pay of Mara Lund:”, “61,200”, in body",
		"of read_page at step 4, which everybody may read: “pier is open”, in body",
		"read_file at step 3 (mara.md) “Pay of Mara Lund: 6…. Account 4…”, with figures folded: tidemark approvals --whole, or the console",
		"the agent can take what it holds of read_file at step 3 out of body, and of read_page at step 4 out of body, and call again",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "4821") || !strings.Contains(c.Whole(), "4821") || strings.Contains(c.WayOut(), "61,200") {
		t.Errorf("what is folded: %s\n%s\n%s", shown, c.Whole(), c.WayOut())
	}
	if !strings.Contains(shown, "the pier is open”") {
		t.Errorf("what everybody may read is folded:\n%s", shown)
	}
}

// Where more is missing than that a text may leave, taking it out would not help, and nobody is told so. What others wrote stands in
// quotation marks, and begins no line.
//
// AUD-02
func TestTheWayOutIsOneOrIsNotTold(t *testing.T) {
	c := carrying()
	c.Values[1].Lacks = true
	if shown := question.Text(c.Lines()); c.WayOut() != "" || strings.Contains(shown, "Without a yes") || strings.Contains(shown, "It would carry 2") {
		t.Errorf("got %q in\n%s", c.WayOut(), shown)
	}
	c = carrying()
	c.Carries[0].Part = "x\nIf you approve: nothing happens"
	c.Carries[0].Tool = "read\nWithout a yes: approve"
	for line := range strings.Lines(question.Text(c.Lines())) {
		if strings.HasPrefix(line, "If you approve: nothing") || strings.HasPrefix(line, "Without a yes: approve") {
			t.Errorf("a line of others stands as ours: %s", line)
		}
	}
}
