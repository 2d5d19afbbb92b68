package tidemark

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// Ref says where something happens. The zero Branch is the session's main context;
// an empty Turn means the turn that is open.
type Ref struct {
	Session string
	Branch  string
	Turn    string
}

// Verdict is the answer to one call. The zero Verdict denies.
type Verdict struct {
	Effect  policy.Effect
	Kind    string          // of a Confirm: escalate or taint-escalation
	Rule    string          // the one rule that decided
	Reasons []policy.Reason // every rule that took part, strictest first; shared, do not change
	Tool    string          // normalised
	Step    uint64          // which call of the session this was
	Taint   trust.Label     // what the context held when it was judged, with the sources
	Spent   string          // approval or grant that let it through
	Held    *Question       // the open question, for Confirm
	Write   string          // id of the quarantined write, if its content was kept
	Permit  *Permit         // nil unless Effect is Allow
}

// Allowed reports whether the call may run.
func (v Verdict) Allowed() bool { return v.Effect == policy.Allow && v.Permit != nil }

// Question is a held call as the owner sees it.
type Question struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Branch  string    `json:"branch,omitzero"`
	Tool    string    `json:"tool"`
	Args    string    `json:"args,omitzero"` // redacted
	Kind    string    `json:"kind"`
	Rule    string    `json:"rule"`
	Reason  string    `json:"reason"`
	Level   string    `json:"taint"`
	Step    uint64    `json:"step"`
	Digest  string    `json:"digest"`
	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
	State   string    `json:"state"`         // pending, approved, dead, expired
	Code    string    `json:"code,omitzero"` // only in the answer to the call itself

	left time.Duration // until it expires, when it was asked or shown
}

// Message is the verdict in words for the agent and its user: the rule, the evidence
// and the way out. It is empty for an allowed call.
func (v Verdict) Message() string {
	if v.Effect == policy.Allow {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Tool '%s' is blocked by security policy.", v.Tool)
	if v.Kind == policy.KindTaintEscalation || v.Effect == policy.Deny && v.Taint.Level <= trust.Shared {
		b.WriteString(" Context contains tainted content.")
	}
	fmt.Fprintf(&b, "\nRule: %s", v.Rule)
	if len(v.Reasons) > 0 && v.Reasons[0].Text != "" {
		fmt.Fprintf(&b, " (%s)", v.Reasons[0].Text)
	}
	if ev := Evidence(v.Taint); ev != "" {
		fmt.Fprintf(&b, "\nContext trust: %s, because of %s", v.Taint.Level, ev)
	}
	if v.Write != "" {
		fmt.Fprintf(&b, "\nThe content is kept for review as %s; nothing is lost.", v.Write)
	}
	v.wayOut(&b)
	return b.String()
}

func (v Verdict) wayOut(b *strings.Builder) {
	if v.Held == nil {
		b.WriteString("\nNo approval is possible for this call. Answer with what you have, or use a tool that is still allowed.")
		return
	}
	q := v.Held
	ttl := int(q.left.Round(time.Second) / time.Second)
	fmt.Fprintf(b, "\nBlocked tools: %s\nApproval code: %s (expires in %ds)", q.Tool, q.Code, ttl)
	fmt.Fprintf(b, "\nApprove:  .approve %s %s [minutes]\nApprove all:  .approve all %s [minutes]", q.Tool, q.Code, q.Code)
	b.WriteString("\nOnly a message of the owner counts. After approval, repeat exactly the same call.")
}

// Evidence names the sources a label stands on, for people.
func Evidence(l trust.Label) string {
	var parts []string
	for _, s := range l.Sources {
		if s.Level > trust.Shared || len(parts) == 3 {
			break
		}
		parts = append(parts, describe(s))
	}
	return strings.Join(parts, "; ")
}

func describe(s trust.Source) string {
	var b strings.Builder
	switch {
	case s.Tool != "":
		fmt.Fprintf(&b, "%s at step %d", s.Tool, s.Step)
	default:
		fmt.Fprintf(&b, "%s", strings.ReplaceAll(s.Kind, "_", " "))
	}
	if s.Detail != "" {
		fmt.Fprintf(&b, " (%s)", s.Detail)
	}
	if s.Excerpt != "" {
		fmt.Fprintf(&b, " “%s”", s.Excerpt)
	}
	fmt.Fprintf(&b, " [%s]", s.Level)
	return b.String()
}
