package engine

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// Verdict is the answer to one call. The zero Verdict denies.
type Verdict struct {
	Effect  policy.Effect
	Kind    string          // of a Confirm: escalate, danger, taint-escalation or intent-block
	Rule    string          // the one rule that decided
	Reasons []policy.Reason // every rule that took part, strictest first; shared, do not change
	Tool    string          // normalised
	Step    uint64          // which call of the session this was
	Taint   trust.Label     // what the context held when it was judged, with the sources
	Spent   string          // approval or grant that let it through
	Held    *Question       // the open question, for Confirm
	Write   string          // id of the quarantined write, if its content was kept
	Warrant string          // what stood behind it, in one line; empty where no rule asked
	Item    *event.Covering // the item of the mandate that covers it, or comes closest; nil where there is none
	Opinion *event.Opinion  // the auditor's, where it was asked
	Ruling  *event.Ruling   // the external verifier's, where it was asked
	Notice  string          // for the user, where the agent's answer alone would not tell (CAU-07)
	Late    bool            // nobody answered in time: a timeout, not a denial
	Permit  *Permit         // nil unless Effect is Allow, or Confined: then it is for a box only
	Ticket  string          // of a Confined call: who runs it in a box shows it, once (RedeemBox)
	Command string          // of a Confined call: the SHA-256 of its command line, in hexadecimal digits

	carries bool // it holds what is kept from the agent, so that the agent is told nothing of its values
}

// Allowed reports whether the call may run. One that may run in a box only is not allowed.
func (v Verdict) Allowed() bool { return v.Effect == policy.Allow && v.Permit != nil }

// Message is the verdict in words for the agent and its user: the rule, the evidence
// and the way out. It is empty for an allowed call. The model reads it, so it names neither
// code nor question: who asks must not be able to answer (WAR-10).
func (v Verdict) Message() string {
	if v.Effect == policy.Allow {
		return ""
	}
	if v.Effect == policy.Confined {
		return "Tool '" + shown(v.Tool) + "' may run in a box only, and this host was told so: it did not run elsewhere."
	}
	var b strings.Builder
	v.explain(&b)
	v.wayOut(&b)
	return b.String()
}

// ForOwner is what the owner needs to answer an open question by chat, with its code; empty
// where there is none. It goes where a person reads and the model does not.
func (v Verdict) ForOwner() string {
	q := v.Held
	if q == nil || q.Code == "" {
		return ""
	}
	ttl := int(q.CodeLeft().Round(time.Second) / time.Second)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nApproval code: %s (expires in %ds)", q.Prompt, q.Code, ttl)
	fmt.Fprintf(&b, "\nApprove:  .approve %s %s\nApprove all that wait:  .approve all %s\nDeny:  .deny %s", q.Tool, q.Code, q.Code, q.Code)
	fmt.Fprintf(&b, "\nApprove for a while:  .approve %s %s MINUTES [ARGUMENT=PATTERN ...]  opens %s", q.Tool, q.Code, q.Opens)
	return b.String()
}

// explain says what was decided and why.
func (v Verdict) explain(b *strings.Builder) {
	fmt.Fprintf(b, "Tool '%s' is blocked by security policy.", shown(v.Tool))
	if v.Late {
		b.WriteString(" Nobody answered the question about it in time; nobody denied it either.")
	}
	beside := v.Effect == policy.Deny || v.Kind == policy.KindDanger // taint is not why, and may still be there
	if v.Taint.Level <= trust.Shared && (v.Kind == policy.KindTaintEscalation || beside) {
		b.WriteString(says(v.Taint))
	}
	fmt.Fprintf(b, "\nRule: %s", v.Rule)
	if len(v.Reasons) > 0 && v.Reasons[0].Text != "" {
		fmt.Fprintf(b, " (%s)", oneLine(v.Reasons[0].Text))
	}
	if v.Held != nil && !v.carries {
		if would := v.Held.Would(); would != "" && v.Held.Act != "execute" { // a command stands below
			fmt.Fprintf(b, "\nIt would: %s", strings.Join(strings.Fields(strings.ReplaceAll(would, `\n`, " ")), " ")) // as the values below
		}
		for _, s := range v.Held.Values {
			if s.Lacks && s.Path != "" { // of the act the rule says enough
				value := text.Shown(strings.Join(strings.Fields(s.Value), " "))
				if s.Secret {
					value = question.Redacted // a refusal is read by many
				}
				fmt.Fprintf(b, "\n%s: %s (%s)", question.Why, value, oneLine(s.Why))
			}
		}
	}
	if v.Held != nil && v.Held.UserUnheard {
		b.WriteString("\nThe user's messages are not known here, so nothing shows that they asked for this.")
	}
	if ev := Evidence(v.Taint); ev != "" {
		fmt.Fprintf(b, "\nContext trust: %s, because of %s", v.Taint.Level, ev)
	}
	if v.Write != "" {
		b.WriteString("\nThe content is kept for the owner's review; nothing is lost.")
	}
}

// What others wrote, the model that was misled among them, stands in our words only as a
// quotation, or as a word that says nothing by itself: whoever reads a refusal takes it for
// ours, and the next model call does too.

// shown is a tool's name. The empty one is that of the zero verdict.
func shown(name string) string {
	if name == "" {
		return ""
	}
	return text.Shown(name)
}

// oneLine shows line ends and control characters of a text that is ours but for what it
// quotes.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || unicode.Is(unicode.Cc, r) || r == '\u2028' || r == '\u2029' {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (v Verdict) wayOut(b *strings.Builder) {
	if v.Late {
		b.WriteString("\nTry the same call again to ask once more, or answer with what you have.")
		return
	}
	if v.Held == nil {
		b.WriteString("\nNo approval is possible for this call. Answer with what you have, or use a tool that is still allowed.")
		return
	}
	if way := v.Held.WayOut(); way != "" && !v.carries {
		b.WriteString("\nWithout asking anybody: " + way + ".")
	}
	b.WriteString("\nThe owner has been asked, and answers outside this conversation: tidemark approvals watch," +
		" or where they were notified. The question stands for " + spoken(v.Held.TimeLeft()) +
		". After approval, repeat exactly the same call.")
}

// spoken is a time for people.
func spoken(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d seconds", int(d.Round(time.Second)/time.Second))
	}
	return fmt.Sprintf("%d minutes", int(d.Round(time.Minute)/time.Minute))
}

// Evidence names the sources a label stands on, for people.
func Evidence(l trust.Label) string {
	var parts []string
	for _, s := range l.Sources {
		if s.Level > trust.Shared || len(parts) == 3 {
			break
		}
		parts = append(parts, question.Describe(s))
	}
	return strings.Join(parts, "; ")
}

// beside is what a candidate policy says. It never acts.
func (x *step) beside(candidate *policy.Set, in *policy.Input) *event.Shadow {
	other := *in // the set remembers in its input what it found
	d := x.judge(candidate, &other)
	x.confine(candidate, &d)
	return &event.Shadow{Policy: candidate.Version(), Effect: d.Effect.String(), Kind: d.Kind, Rule: d.Rule}
}

func refuse(rule, text string) policy.Decision {
	return policy.Decision{Rule: rule, Reasons: []policy.Reason{{Rule: rule, Text: text}}}
}
