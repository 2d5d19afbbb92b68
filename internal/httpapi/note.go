package httpapi

import (
	"context"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// note is the "tidemark" member of every hook's answer: what the monitor knows. Hosts
// that only speak the hook protocol can ignore it.
type note struct {
	Taint string       `json:"taint" doc:"level of the least trusted thing in the context"`
	Label *trust.Label `json:"label,omitzero" doc:"the context's label with its sources"`

	// Of a turn.
	TurnID  string `json:"turnId,omitzero"`
	Level   string `json:"level,omitzero" doc:"classification of this turn's sender; after a tool call, the level of its result"`
	Command string `json:"command,omitzero" doc:"chat command that was carried out: approve, deny or reset-trust"`
	Notice  string `json:"notice,omitzero" doc:"outcome of a chat command, for the user; before a model call, the system prompt's notice"`
	// WordsUnknown is told at the start and the end of an iteration.
	WordsUnknown bool `json:"wordsUnknown,omitzero" doc:"nobody here has heard the user in this session, which a door began that cannot"`

	Hello *helloNote `json:"hello,omitzero" doc:"of a host that said hello, or whose words could not be proven"`

	// Of a decision.
	Verdict  string          `json:"verdict,omitzero" enum:"allow,confine,confirm,deny"`
	Kind     string          `json:"kind,omitzero" doc:"of a confirm: escalate, danger, taint-escalation or intent-block"`
	Rule     string          `json:"rule,omitzero" doc:"the one rule that decided"`
	Reasons  []policy.Reason `json:"reasons,omitempty"`
	Tool     string          `json:"tool,omitzero"`
	Step     uint64          `json:"step,omitzero"`
	Spent    string          `json:"spent,omitzero" doc:"approval or grant that let the call through"`
	Write    string          `json:"write,omitzero" doc:"id of the write that was kept for review"`
	Approval *approvalNote   `json:"approval,omitzero"`

	LookUps []lookUpNote `json:"lookUps,omitempty" doc:"of a host that looks things up: calls to make first, which no model is shown"`

	TimedOut bool `json:"timedOut,omitzero" doc:"nobody answered while the caller waited and the question has expired; nobody denied it"`

	Opinion *event.Opinion `json:"opinion,omitempty" doc:"what the auditor said"`
	Ruling  *event.Ruling  `json:"ruling,omitempty" doc:"what the external verifier said"`

	Held   *heldNote       `json:"held,omitzero" doc:"after a tool call that asked for it: the result is kept, and this is shown instead"`
	Answer *handles.Answer `json:"answer,omitzero" doc:"of a call of tidemark_extract or tidemark_show: its result; it runs nowhere else"`

	Closed string `json:"closed,omitzero" doc:"after a tool call: why nothing may act in this session until its owner resets its trust"`

	// Of a model call.
	Reason string   `json:"reason,omitzero" doc:"why the turn must not go on"`
	Hidden []string `json:"hidden,omitempty" doc:"tools the model must not see or call now"`
}

// approvalNote is the open question of a held call. What answers it is told only to a host
// that came with the owner's token, and is for the owner's eyes: never for the model.
type approvalNote struct {
	ExpiresAt time.Time `json:"expiresAt"`
	Prompt    string    `json:"prompt" doc:"the question in words, for the owner"`
	Dialog    bool      `json:"dialog,omitzero" doc:"the host's own dialog may answer it: no proof is wanted"`
	Question  string    `json:"question" doc:"all of the question in words, for the owner; it holds nothing that answers it"`
	Ticket    string    `json:"ticket" doc:"GET /v1/approvals/{ticket} tells what became of the question; it answers nothing"`

	ID      string `json:"id,omitzero" doc:"only with the owner's token"`
	Code    string `json:"code,omitzero" doc:"only with the owner's token"`
	Approve string `json:"approve,omitzero" doc:"the chat message that approves it; only with the owner's token"`
	Text    string `json:"text,omitzero" doc:"all of it in words, to be shown to the owner and to nobody else; only with the owner's token"`
}

// helloNote answers a hello.
type helloNote struct {
	Version int    `json:"version" doc:"of the protocol"`
	Ticket  string `json:"ticket,omitzero" doc:"told once, with the first message of a session: for the host's memory and nowhere else"`
	Proof   string `json:"proof" enum:"ticket,process,owner,none" doc:"by what the session is the caller's; none: it is not"`
	Why     string `json:"why,omitzero" doc:"of none: what is missing"`
}

// contextNote is all that can be said where nothing was decided.
func contextNote(l trust.Label) *note { return &note{Taint: l.Level.String()} }

func openingNote(o engine.Opening, hello *helloNote) *note {
	n := contextNote(o.Taint)
	n.TurnID, n.Level, n.Rule, n.Command, n.Notice, n.Hello = o.Turn, o.Level.String(), o.Rule, o.Command, o.Notice, hello
	return n
}

func layerNote(l engine.Layer) *note {
	n := contextNote(l.Taint)
	n.Label, n.Rule, n.Reason, n.Hidden = &l.Taint, l.Rule, l.Reason, l.Hidden
	if l.Notice {
		n.Notice = hook.TaintNotice(l.Taint)
	}
	return n
}

func verdictNote(ctx context.Context, v engine.Verdict) *note {
	n := contextNote(v.Taint)
	n.Label, n.Verdict, n.Kind, n.Rule, n.Reasons = &v.Taint, v.Effect.String(), v.Kind, v.Rule, v.Reasons
	n.Tool, n.Step, n.Spent, n.Write = v.Tool, v.Step, v.Spent, v.Write
	n.TimedOut, n.Opinion, n.Ruling, n.Notice = v.Late, v.Opinion, v.Ruling, v.Notice
	if q := v.Held; q != nil {
		n.Approval = &approvalNote{ExpiresAt: q.Expires, Prompt: q.Prompt, Question: q.Text(), Ticket: ticketOf(q.ID)}
		if vouched(ctx) {
			n.Approval.ID, n.Approval.Code, n.Approval.Approve, n.Approval.Text = q.ID, q.Code, ".approve "+q.Tool+" "+q.Code, v.ForOwner()
		}
	}
	return n
}

// pluginNote says that a plugin blocked before the monitor was asked.
func pluginNote(l trust.Label, plugin string) *note {
	n := contextNote(l)
	n.Verdict, n.Rule = policy.Deny.String(), "plugin:"+plugin
	return n
}
