package approvalproof_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/tool"
)

// CON-25: one proof for several questions is over all of them, and an audit finds one that is missing, added or exchanged.
func TestAProofOfSeveralIsOverAllOfThem(t *testing.T) {
	for name, c := range map[string]struct {
		ids  []string
		want string
	}{
		"those that were signed":           {[]string{"ask-1", "ask-2"}, ""},
		"one of them":                      {[]string{"ask-1"}, "something else"},
		"one more":                         {[]string{"ask-1", "ask-2", "ask-3"}, "something else"},
		"another in the place of one":      {[]string{"ask-1", "ask-3"}, "something else"},
		"the same twice":                   {[]string{"ask-1", "ask-1"}, "something else"},
		"one whose call is not in the log": {[]string{"ask-1", "ask-9"}, "something else"},
	} {
		t.Run(name, func(t *testing.T) {
			k := open(t, approvalproof.Options{})
			p := k.enrol(t)
			var asked []*event.Event
			var list []engine.Asked
			for i, id := range []string{"ask-1", "ask-2", "ask-3"} {
				digest := tool.DigestOf([]byte(id))
				asked = append(asked, &event.Event{Kind: event.CallDecided, Time: int64(1 + i), Decided: &event.Decided{
					Tool: "send_email", Digest: digest, Effect: "confirm", Ask: &event.Ask{ID: id}}})
				list = append(list, engine.Asked{ID: id, Digest: digest.String()})
			}
			vote := engine.Vote{Session: "s", Approve: true, Via: "console"}
			said, err := vote.Said(list[:2])
			if err != nil {
				t.Fatal(err)
			}
			proof, err := k.Check(said, p.sign(t, k.challenge(t, said), origin, true), "")
			if err != nil {
				t.Fatal(err)
			}
			answer := &event.Event{Kind: event.Answered, Time: 9, Answer: &event.Answer{
				By: "ada", Via: "console", IDs: c.ids, Verdict: "approve", Until: 99, Proof: proof}}
			if err := k.log.Append(t.Context(), "s", 0, append(asked, answer)); err != nil {
				t.Fatal(err)
			}
			breaks, good, err := approvalproof.Audit(t.Context(), k.log)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" && (len(breaks) > 0 || good != 1) || c.want != "" && (len(breaks) != 1 || !strings.Contains(breaks[0].Problem, c.want)) {
				t.Errorf("%d are good, found %v", good, breaks)
			}
		})
	}
}
