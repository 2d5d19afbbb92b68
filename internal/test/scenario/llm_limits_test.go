package scenario_test

import (
	"strings"

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
	return untold(map[string]string{
		inGroup:    "intent-group",
		byStranger: "approve-other-sender atlas-T0052-attack group-chat-attack intent-stranger reset-stranger",
		neverBegun: "not-begun not-begun-model",
		namedTurn:  "sealed-turn-call",
		whatIsRead: "taint-scope-turn",
		ownCensus:  "census",
	})
}

// untold turns a list by reason into one by story.
func untold(reasons map[string]string) map[string]string {
	out := map[string]string{}
	for why, names := range reasons {
		for _, name := range strings.Fields(names) {
			out[name] = why
		}
	}
	return out
}

// wireBlind takes out what neither the wire nor the log shows: the rules besides the one
// that decided, why a call was allowed, and notices to the user beside a verdict.
func wireBlind(verb scenario.Verb, o *scenario.Outcome) {
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

// wireHides is true of what a story expects of that.
func wireHides(m scenario.Mismatch) bool {
	return strings.HasPrefix(m.Step, "call ") && (m.Key == "reasons" || m.Key == "notice")
}
