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
	shortTask  = "a sub-agent's session or result is named by its host: here both are known by what they hold, and a stranger's where nobody saw it"
	oneMore    = "there are calls before the model is first asked: here they are in an answer, so the cap is reached one call earlier"
	whatIsRead = "the policy forgets what was read with each turn: here it is in the next request again, and counts"
	unreported = "calls whose results nobody reports stand before others in one answer: in this format each is judged at the end of an answer of its own, and what it brought counts in the next"
	askedAgain = "the model goes on in words after a refused call: in this format that is another answer, and one more in the picture"
	unanswered = "the agent goes on after a restart in the middle of an answer: here the model is asked again, and a result nobody reported counts"
)

// untoldByLLM are the stories that the proxy cannot be told, in any format. Steps of other
// stories that it does not see are left out by themselves.
func untoldByLLM() map[string]string {
	out := map[string]string{}
	for why, names := range map[string]string{
		inGroup: `approve-all approve-all-instant approve-deny approve-desk approve-late approve-minutes approve-other-session
			approve-per-tool approve-reload approve-restrict approve-similar approve-turn-scoped approve-two-in-a-row
			approve-unspent approve-worse-context approve-wrong-code verifier-keeps-approval writes-approved-by-code
			writes-discarded-stay-so intent-group`,
		byStranger: "approve-other-sender atlas-T0052-attack group-chat-attack intent-stranger reset-stranger",
		neverBegun: "not-begun not-begun-model",
		namedTurn:  "sealed-turn-call",
		shortTask:  "caution-follows channels subagent-history-keeps-taint subagent-result-without-name task-subagent",
		oneMore:    "agent-overrides",
		whatIsRead: "taint-scope-turn",
		unanswered: "balanced-restart",
		ownCensus:  "census",
	} {
		for _, name := range strings.Fields(names) {
			out[name] = why
		}
	}
	return out
}

// untoldByChat are those that cannot be told in Chat Completions.
func untoldByChat() map[string]string {
	out := untoldByLLM()
	for _, name := range strings.Fields(`auditor-unsure balanced-levels balanced-mail declarative modes safe-tools same-iteration static-default-deny verifier-last`) {
		out[name] = unreported
	}
	out["trace-attack"] = askedAgain
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
			shown, unseen, problems := tell(t, s, door)
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
func tell(t *testing.T, s *scenario.Scenario, door door) (shown, unseen int, problems []string) {
	t.Helper()
	first, err := s.Run(t.Context(), engine)
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Run(t.Context(), door.rig(s))
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
