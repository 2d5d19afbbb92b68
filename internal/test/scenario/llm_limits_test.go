package scenario_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/test/scenario"
)

// Why the proxy cannot be told a story. It sees requests to a model and their answers, and
// nothing else.
const (
	inGroup    = "the owner speaks in a group: the proxy knows one user, and no groups"
	byStranger = "somebody else than the owner speaks: the proxy knows one user"
	ownCensus  = "the host lists what is in its context: the proxy reads the context itself"
	neverBegun = "nobody begins the session: a request to a model begins it"
	namedTurn  = "the host names its turns: requests to a model do not"
	whatIsRead = "the policy forgets what was read with each turn: here it is in the next request again, and counts"
)

// untoldByLLM are the stories that the proxy cannot be told, in any format. Steps of other
// stories that it does not see are left out by themselves.
func untoldByLLM() map[string]string {
	out := map[string]string{}
	for why, names := range map[string]string{
		inGroup:    "intent-group",
		byStranger: "approve-other-sender atlas-T0052-attack group-chat-attack intent-stranger reset-stranger",
		neverBegun: "not-begun not-begun-model",
		namedTurn:  "sealed-turn-call",
		whatIsRead: "taint-scope-turn",
		ownCensus:  "census",
	} {
		for _, name := range strings.Fields(names) {
			out[name] = why
		}
	}
	return out
}

// llmBlind takes out what neither the wire nor the log shows: the rules besides the one
// that decided, why a call was allowed, and notices to the user beside a verdict.
func llmBlind(verb scenario.Verb, o *scenario.Outcome) {
	switch verb {
	case scenario.VerbCall:
		o.Reasons, o.Notice = nil, ""
		for _, drawn := range []*string{&o.Code, &o.Question, &o.Write} { // by chance; unseen steps draw none
			if *drawn != "" {
				o.Text = strings.ReplaceAll(o.Text, *drawn, "…")
				*drawn = "…"
			}
		}
		if o.Verdict == "allow" {
			o.Reason = ""
		}
	case scenario.VerbTurn, scenario.VerbSay:
		if o.Rule == "unknown-sender" { // the proxy knows one kind of stranger
			o.Rule = "without-sender-metadata"
		}
	}
}

// llmHides is true of what a story expects of that.
func llmHides(m scenario.Mismatch) bool {
	return strings.HasPrefix(m.Step, "call ") && (m.Key == "reasons" || m.Key == "notice")
}

// TestWhatADoorCannotTellIsListed keeps the tables of untold stories honest: a story in
// one of them cannot be told, and one that is not shows at least something.
func TestWhatADoorCannotTellIsListed(t *testing.T) {
	all := readAll(t)
	for _, door := range doors {
		for name := range door.mute {
			if all[name] == nil {
				t.Errorf("%s: there is no story %s", door.name, name)
			}
		}
		whole, partly, calls := 0, 0, 0
		for name, s := range all {
			if len(door.mute) == 0 || !s.Through(door.name) {
				continue
			}
			shown, unseen, problems := tell(t, s, scenario.Shipped(), door)
			switch {
			case door.mute[name] != "":
				if shown > 0 && len(problems) == 0 {
					t.Errorf("%s: %s is told well, though it is listed as untold: %s", door.name, name, door.mute[name])
				}
				continue
			case shown == 0:
				t.Errorf("%s: %s shows nothing that is expected; list it with the reason", door.name, name)
			case unseen == 0:
				whole++
			default:
				partly++
			}
			calls += shown
		}
		if len(door.mute) > 0 {
			t.Logf("%s: %d stories told whole, %d in part, %d not; %d steps with expectations seen", door.name, whole, partly, len(door.mute), calls)
		}
	}
}

// tell plays a story through the engine and a door. It returns how many steps that expect
// something the door showed, how many it did not see, and what differs.
func tell(t *testing.T, s *scenario.Scenario, preset string, door door) (shown, unseen int, problems []string) {
	t.Helper()
	first, err := played(t, s, preset, doors[0])
	if err != nil {
		t.Fatal(err)
	}
	report, err := played(t, s, preset, door)
	if err != nil {
		return 0, 0, []string{err.Error()}
	}
	missed := map[int]bool{}
	for i, st := range s.Steps {
		for _, pos := range report.Unseen {
			missed[i] = missed[i] || pos == st.Pos
		}
		if len(st.Expect) == 0 || st.Verb == scenario.VerbWants {
			continue
		}
		if missed[i] {
			unseen++
		} else if st.Verb != scenario.VerbState {
			shown++
		}
	}
	if err := door.misses(report); err != nil {
		problems = append(problems, err.Error())
	}
	return shown, unseen, append(problems, differences(s, door, first.Outcomes, report)...)
}
