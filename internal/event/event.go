// Package event is what a session's log records, one entry each, and how entries become
// records and are read back. It is pure.
//
// Invariant: an event carries everything its fold needs (resolved labels, not policy
// names), so that replaying a log gives the same state whatever the policy is by then.
package event

import (
	"fmt"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Kind names what an event records.
type Kind string

// The events of a session's log.
const (
	TurnBegan     Kind = "turn.began"        // somebody spoke; Began is set
	ContextSeen   Kind = "context.seen"      // the host listed what is in the context; Seen is set
	ModelCalled   Kind = "model.called"      // an iteration starts; Model is set
	ModelAnswered Kind = "model.answered"    // the model answered; Model is set
	CallDecided   Kind = "call.decided"      // a verdict; Decided is set
	ResultSeen    Kind = "result.seen"       // a result came back; Seen is set
	Answered      Kind = "approval.answered" // a person voted; Answer is set
	TryFailed     Kind = "approval.failed"   // a wrong or stale code; Answer is set
	TrustReset    Kind = "trust.reset"       // the owner cleared the mark; Answer.By says who
	WriteReviewed Kind = "write.reviewed"    // a quarantined write was released or discarded; Answer is set
	GrantRevoked  Kind = "grant.revoked"     // a grant ended early; Answer is set
	TaskPlanned   Kind = "task.planned"      // constraints for this task were drawn up; Task is set
	ContractDrawn Kind = "contract.drawn"    // what a message asks for was understood, or not; Contract is set
	Labelled      Kind = "resource.labelled" // something was written while tainted; Resource is set
	LabelCleared  Kind = "resource.cleared"  // somebody vouches for it; Resource and Answer are set
	TurnSealed    Kind = "turn.sealed"       // the response went out; Seen is the output
	PersonActed   Kind = "person.acted"      // somebody signed in, or a key came or went; Person is set
	PinsChanged   Kind = "pins.changed"      // definitions of an MCP server were seen or accepted; Pins is set
	StandingSaid  Kind = "standing.said"     // something was allowed for good, used or taken back, in a log of its own; Standing is set
	PairSaid      Kind = "pair.said"         // a name and its value are known, or no longer, in a log of its own; Pair is set

	StopSaid       Kind = "stop.said"       // nothing may run any more, or again, in a log of its own; Stop and Answer are set
	SessionSpawned Kind = "session.spawned" // a sub-agent was started; Spawned is set
	ToolsOffered   Kind = "tools.offered"   // what models are offered, in a log of its own; Offered is set
	LogPruned      Kind = "log.pruned"      // something was taken out of records; Pruning is set
	HoldChanged    Kind = "hold.changed"    // something must not be pruned, or may be again; Hold is set
	BoxGiven       Kind = "box.given"       // a ticket for one command in a box, in a log of its own; Box is set
	BoxRedeemed    Kind = "box.redeemed"    // it was used; Box is set
	BoxEnded       Kind = "box.ended"       // the command ended, there and in its session; Box is set
	SessionClosed  Kind = "session.closed"  // its host does not do as told: nothing acts any more; Box is set
)

// Kinds are all of them, in the order of a turn.
func Kinds() []Kind {
	return []Kind{
		TurnBegan, ContextSeen, ModelCalled, ModelAnswered, CallDecided, ResultSeen, Answered, TryFailed, TrustReset, WriteReviewed,
		GrantRevoked, TaskPlanned, ContractDrawn, Labelled, LabelCleared, TurnSealed, PersonActed, PinsChanged, StandingSaid,
		PairSaid, StopSaid, SessionSpawned, ToolsOffered, LogPruned, HoldChanged, BoxGiven, BoxRedeemed, BoxEnded, SessionClosed,
	}
}

// Event is one entry of a session's log. Exactly the payload its Kind names is set.
type Event struct {
	Kind      Kind   `json:"-"` // stored as the record's kind
	Time      int64  `json:"-"` // Unix nanoseconds; stored as the record's time
	Branch    string `json:"branch,omitzero"`
	Turn      string `json:"turn,omitzero"`
	Iteration int    `json:"iteration,omitzero"`
	Late      bool   `json:"late,omitzero"` // arrived after its turn was sealed: taints, but is not in the graph

	Key    string   `json:"key,omitzero"`    // of what is sealed in the session from here on, itself sealed by the operator's; base64
	Pruned []string `json:"pruned,omitzero"` // what was taken out of it since

	Began   *Began   `json:"began,omitzero"`
	Seen    *Seen    `json:"seen,omitzero"`
	Model   *Model   `json:"model,omitzero"`
	Decided *Decided `json:"decided,omitzero"`
	Answer  *Answer  `json:"answer,omitzero"`
	Task    *Task    `json:"task,omitzero"`

	Contract *Contract `json:"contract,omitzero"`
	Resource *Resource `json:"resource,omitzero"`
	Person   *Person   `json:"person,omitzero"`
	Pins     *Pins     `json:"pins,omitzero"`
	Standing *Standing `json:"standing,omitzero"`
	Pair     *Pair     `json:"pair,omitzero"`
	Stop     *Stop     `json:"stop,omitzero"`
	Spawned  *Spawned  `json:"spawned,omitzero"`
	Offered  []Offered `json:"offered,omitzero"`
	Agent    string    `json:"agent,omitzero"` // with Offered: whose host was the first to tell this list
	Pruning  *Pruning  `json:"pruning,omitzero"`
	Hold     *Hold     `json:"hold,omitzero"`
	Box      *Box      `json:"box,omitzero"`
}

// Spawned is that one session was started by another.
type Spawned struct {
	Parent string `json:"parent"`
	Child  string `json:"child"`
}

// Kin is a session that a sub-agent works for, and how many records of it there were when it began:
// what the user had said there by then, they said to it.
type Kin struct {
	Session string `json:"session"`
	At      uint64 `json:"at"`
}

// Offered is the definition of a tool, as a host gave it.
type Offered struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Schema      string `json:"schema,omitzero"`
	ReadOnly    *bool  `json:"readOnly,omitzero"`
	Destructive *bool  `json:"destructive,omitzero"`
	OpenWorld   *bool  `json:"openWorld,omitzero"`
	Host        *bool  `json:"host,omitzero"`
}

// Resource is something that outlives a session and can be read back in another: a
// file, a memory, a record (BEY-02).
type Resource struct {
	Key     string       `json:"key"`            // kind and name, e.g. file:notes.txt
	Hash    *tool.Digest `json:"hash,omitzero"`  // of what was written, where the call shows it
	Label   trust.Label  `json:"label,omitzero"` // of the context it was written from
	Session string       `json:"session,omitzero"`
	Tool    string       `json:"tool,omitzero"`
	Step    uint64       `json:"step,omitzero"`
	Folder  string       `json:"folder,omitzero"` // that was worked in, where the host said it
	What    uint64       `json:"what,omitzero"`   // of a file: what judgement knows of its text
	Before  uint64       `json:"before,omitzero"` // the same of what other sessions wrote there; the fold of labels works it out
}

// Content is what is kept of a piece of text: its hash always, words only where
// the recording policy allows them, redacted first.
type Content struct {
	Hash    tool.Digest `json:"hash"`
	Bytes   int         `json:"bytes"`
	Preview string      `json:"preview,omitzero"` // at most 100 characters
	Text    string      `json:"text,omitzero"`    // whole, only where recording is on
	// Sealed are hashes, under a key of the installation, of what redaction took out of Text:
	// what the user said can be known again, and not be read.
	Sealed []string `json:"sealed,omitzero"`
}

// Began is the start of a turn.
type Began struct {
	Agent   string       `json:"agent,omitzero"`
	Sender  trust.Sender `json:"sender,omitzero"`
	Level   trust.Level  `json:"level"`           // the classification of this turn alone
	Rule    string       `json:"rule"`            // which row of the classification decided
	Label   trust.Label  `json:"label"`           // what the turn brings into the context, parent's taint included
	Parent  string       `json:"parent,omitzero"` // branch this one was forked from
	Bounds  []string     `json:"bounds,omitzero"` // of a sub-agent: as in Decided, of all that its parent has read
	Message *Content     `json:"message,omitzero"`
	Carry   bool         `json:"carry,omitzero"`   // the mark of earlier turns stays (the default scope)
	Auto    bool         `json:"auto,omitzero"`    // we named the turn; the host did not
	Command bool         `json:"command,omitzero"` // its message is a chat command: what was approved before it still holds
	Words   bool         `json:"words,omitzero"`   // its message is the user's own words, and says what they want
	GoesOn  bool         `json:"goesOn,omitzero"`  // of these: they thank or say to go on, and the task is the one of before
	Caution []string     `json:"caution,omitzero"` // cautioned tools whose output the context began with
	// UserUnheard says that the door could not hear what the user said.
	UserUnheard bool `json:"wordless,omitzero"`
	// HostTools are the tools that are the host's own; nil: as before.
	HostTools []string `json:"hostTools,omitzero"`
	// ControlTools are those by which the host's framework steers itself; nil: as before.
	ControlTools []string `json:"controlTools,omitzero"`

	Contract *Contract `json:"contract,omitzero"` // of its message, where the host handed one in
	Trace    string    `json:"trace,omitzero"`    // of what others brought in with it, as in Seen
	Kin      []Kin     `json:"kin,omitzero"`      // of a sub-agent that begins: whom it works for, the eldest first
	Holder   *Holder   `json:"holder,omitzero"`   // whose the session is from now on; nil: as before
	Unproven bool      `json:"unproven,omitzero"` // who spoke could not be proven: what was said counts as nobody's
}

// Item is one source in a census of the context.
type Item struct {
	Kind  string      `json:"kind"` // system_prompt, user_message, tool_result, compacted_history
	Tool  string      `json:"tool,omitzero"`
	Trust trust.Level `json:"trust"`
	Index int         `json:"index"`
}

// Seen is content that entered the context, or (for TurnSealed) left it.
type Seen struct {
	CallID    string       `json:"callId,omitzero"`
	Tool      string       `json:"tool,omitzero"`
	Digest    *tool.Digest `json:"digest,omitzero"` // of the call, where known
	Step      uint64       `json:"step,omitzero"`
	Label     trust.Label  `json:"label"`
	Content   *Content     `json:"content,omitzero"`
	Source    bool         `json:"source,omitzero"`    // a taint source fired (SEQ-03)
	Sensitive bool         `json:"sensitive,omitzero"` // a sensitive read
	Error     bool         `json:"error,omitzero"`
	Author    string       `json:"author,omitzero"`  // who wrote it, where its server says so (AUD-01)
	Readers   string       `json:"readers,omitzero"` // who may read it besides the user: everybody, or names; empty: nobody
	From      string       `json:"from,omitzero"`    // child session or branch whose result this is
	Census    []Item       `json:"census,omitzero"`
	Blocked   bool         `json:"blocked,omitzero"` // the emission was blocked
	Reason    string       `json:"reason,omitzero"`
	Caution   bool         `json:"caution,omitzero"`  // what follows it is audited (CAU-02)
	LookUp    string       `json:"lookUp,omitzero"`   // the name that we looked up ourselves: no agent has read it; empty: of others
	Held      *Held        `json:"held,omitzero"`     // it is kept from the agent, or a value of what is; nil: the agent reads it
	Steered   bool         `json:"steered,omitzero"`  // it is nobody's words: the host's framework wrote it about itself
	Refused   string       `json:"refused,omitzero"`  // it is nobody's words: a broker's refusal, which began nothing, and nothing else
	Words     bool         `json:"words,omitzero"`    // ContextSeen: the content is the user's own words
	GoesOn    bool         `json:"goesOn,omitzero"`   // of these: as in Began
	Contract  *Contract    `json:"contract,omitzero"` // of those words, where the host handed one in
	// Trace is what judgement needs of the content after a restart, in base64: the content itself, sealed under
	// the session's key, or hashes under a key of the installation. Empty: nothing was kept.
	Trace string `json:"trace,omitzero"`
	// HostTools are the tools that are the host's own, said later in a turn; nil: as before.
	HostTools []string `json:"hostTools,omitzero"`
	// ControlTools are those by which the host's framework steers itself, said later in a turn; nil: as before.
	ControlTools []string `json:"controlTools,omitzero"`
	Holder       *Holder  `json:"holder,omitzero"`   // as in Began
	Unproven     bool     `json:"unproven,omitzero"` // as in Began
}

// Model is one call of the model.
type Model struct {
	Name      string   `json:"name,omitzero"`
	Removed   []string `json:"removed,omitzero"` // tools hidden from it (layer 1)
	Calls     []string `json:"calls,omitzero"`   // tools it asked for
	Rule      string   `json:"rule,omitzero"`    // rule that blocked the turn
	Blocked   bool     `json:"blocked,omitzero"`
	Stopped   bool     `json:"stopped,omitzero"` // everything was stopped, so it was not asked; the turn is not over by that
	Reason    string   `json:"reason,omitzero"`
	LatencyMs int64    `json:"latencyMs,omitzero"`
	TokensIn  int64    `json:"tokensIn,omitzero"`
	TokensOut int64    `json:"tokensOut,omitzero"`
	Content   *Content `json:"content,omitzero"`  // the full context, where a rule asks for it
	Cautious  []string `json:"cautious,omitzero"` // tools that ask for caution in their own definition, new ones only (CAU-08)

	Output []tool.Digest `json:"output,omitzero"` // what the client got, part by part

	// Tools names the log that holds the definitions it was offered; nil: those of before. Zero: none
	// are kept.
	Tools *tool.Digest `json:"tools,omitzero"`
}

// Decided is a verdict.
type Decided struct {
	CallID  string            `json:"callId,omitzero"`
	Tool    string            `json:"tool"` // normalised
	Digest  tool.Digest       `json:"digest"`
	Call    *tool.Call        `json:"-"`             // the call itself, where Digest is still to be taken
	Args    string            `json:"args,omitzero"` // redacted, as the policy has them kept; sealed where a tilde comes first
	Keeping *Keeping          `json:"-"`             // says what Args is to be, where that is still to be made
	Step    uint64            `json:"step"`
	Effect  string            `json:"effect"`        // allow, confine, confirm, deny
	Kind    string            `json:"kind,omitzero"` // escalate, danger, taint-escalation, intent-block
	Rule    string            `json:"rule"`
	Reason  string            `json:"reason,omitzero"`
	Level   trust.Level       `json:"level"`  // the mark it was judged against
	Policy  string            `json:"policy"` // version of the policy set
	Expect  trust.Level       `json:"expect"` // what its response will bring if it runs
	ExpectS trust.Sensitivity `json:"expectSensitivity"`
	Source  bool              `json:"source,omitzero"`  // its response will be a taint source
	Private bool              `json:"private,omitzero"` // its response will be a sensitive read
	Spent   string            `json:"spent,omitzero"`   // approval spent or grant used
	Ask     *Ask              `json:"ask,omitzero"`
	Write   *Write            `json:"write,omitzero"`   // a memory write held for review
	Caution bool              `json:"caution,omitzero"` // what follows its response is audited
	Opinion *Opinion          `json:"opinion,omitzero"` // the auditor's, where it was asked
	Ruling  *Ruling           `json:"ruling,omitzero"`  // the verifier's, where it was asked
	Shadow  *Shadow           `json:"shadow,omitzero"`  // what a candidate policy would have said
	Item    *Covering         `json:"item,omitzero"`    // of the mandate: the one that covers it, or comes closest
	Warrant string            `json:"warrant,omitzero"` // what stood behind it: the act, and each slot with its evidence (WAR-12)
	Gated   bool              `json:"gated,omitzero"`   // the host asks again before it runs: that answer counts
	Dialog  string            `json:"dialog,omitzero"`  // of a held call: the host whose own dialog is to ask about it
	Trace   string            `json:"trace,omitzero"`   // of the files it writes, as in Seen; empty: nothing need be known
	// Run is the start of the server that may show its result before that is in the log; empty: nobody does. A
	// result that another start has not recorded is lost, and what it was expected to bring counts.
	Run string `json:"run,omitzero"`
	// Ticket is that of a call that runs in a box, hashed; nil: of others.
	Ticket *tool.Digest `json:"ticket,omitzero"`
	// LookUp is the name that we look up by it ourselves; empty: the agent wants the call. No agent reads what it brings.
	LookUp string `json:"lookUp,omitzero"`
	// Returns says that it starts a sub-agent that is to return a value of a closed shape.
	Returns bool `json:"returns,omitzero"`
	// Temp are files and folders below /tmp that an allowed call of the host's own puts there: boxes of the session show them.
	Temp []string `json:"temp,omitzero"`
	// Marks and Bounds are what rules of the policy want known of the call later, if it runs: that it did, and whose readers may read it.
	Marks  []string `json:"marks,omitzero"`
	Bounds []string `json:"bounds,omitzero"`
}

// Unread makes it the record of a call by which we look a name up ourselves, where there is one: it brings the agent nothing.
func (d *Decided) Unread(name string) {
	if d.LookUp = name; name != "" {
		d.Expect, d.ExpectS, d.Source, d.Private, d.Caution = trust.System, trust.Public, false, false, false
	}
}

// Shadow is the answer of a policy that runs beside the one in force and never acts
// (BEY-05).
type Shadow struct {
	Policy string `json:"policy"`
	Effect string `json:"effect"`
	Kind   string `json:"kind,omitzero"`
	Rule   string `json:"rule"`
}

// Opinion is what the auditor said about a call, or why it could not.
type Opinion struct {
	Kind    string `json:"kind"`   // caution, consistency, bound
	Answer  string `json:"answer"` // consistent, inconsistent, unsure; of bound: asked, step, neither, unsure
	Reason  string `json:"reason,omitzero"`
	Model   string `json:"model,omitzero"`
	Prompt  string `json:"prompt,omitzero"` // version of the prompt
	Source  string `json:"source,omitzero"` // tool whose output was in play
	Failed  string `json:"failed,omitzero"` // why there is no answer
	Cached  bool   `json:"cached,omitzero"`
	Settled string `json:"settled,omitzero"` // what became of it: allow, block, ask, warn
	TookMs  int64  `json:"tookMs,omitzero"`
	// Of bound: the hash of the words, the tool and where its values come from; the words it quotes; the item that it
	// gave, for this one call.
	Key   string `json:"key,omitzero"`
	Quote string `json:"quote,omitzero"`
	Item  string `json:"item,omitzero"`
}

// Ruling is what the external verifier said about a call.
type Ruling struct {
	Allow  bool   `json:"allow"`
	By     string `json:"by"` // webhook, telegram, cache, failMode
	Reason string `json:"reason,omitzero"`
	Failed bool   `json:"failed,omitzero"` // nobody answered: the fail mode did
	Cached bool   `json:"cached,omitzero"`
	TookMs int64  `json:"tookMs,omitzero"`
}

// Task is a set of constraints for one task, drawn up from the user's words alone.
type Task struct {
	Words  int    `json:"words"` // how many of the user's messages it covers
	Rules  string `json:"rules,omitzero"`
	Model  string `json:"model,omitzero"`
	Prompt string `json:"prompt,omitzero"`
	Failed string `json:"failed,omitzero"` // why there are none
}

// Seal takes the digest of the call, at the latest when the verdict is recorded. Most
// verdicts need it nowhere else, so that a decision does not wait for it.
func (d *Decided) Seal() {
	if k := d.Keeping; k != nil {
		if d.Keeping = nil; k.args != nil {
			d.Args = k.args(d)
		}
	}
	if d.Call != nil {
		d.Digest, d.Call = d.Call.Digest(), nil
	}
}

// Ask is a question put to the owner.
type Ask struct {
	ID       string      `json:"id"`
	CodeHash tool.Digest `json:"codeHash"`      // SHA-256 of the code
	Code     string      `json:"code,omitzero"` // itself, sealed under the session's key; base64
	Expires  int64       `json:"expires"`       // Unix nanoseconds
	Args     string      `json:"args,omitzero"` // redacted summary, what the person sees
	Replaces string      `json:"replaces,omitzero"`
	Bodies   string      `json:"bodies,omitzero"` // Args with what is written to a file, where that is asked about; sealed

	CodeExpires int64 `json:"codeExpires,omitzero"` // of the code; 0: with the question

	// Evidence, as the person saw it.
	Words   []Said         `json:"words,omitzero"`   // the user's latest messages, shortened
	Sources []trust.Source `json:"sources,omitzero"` // what made the context distrusted
	Act     string         `json:"act,omitzero"`     // what the call would do
	People  int            `json:"people,omitzero"`  // how many people must approve, where a rule of the policy says so
	Values  []Shown        `json:"values,omitzero"`  // its slots and what stands behind each, those that lack something first
	Plan    []string       `json:"plan,omitzero"`    // of the first question of a task: what the user's words gave, item by item
	Unread  string         `json:"unread,omitzero"`  // why no model has read the latest message: none, late or failed
	Carries []Carried      `json:"carries,omitzero"` // what its texts hold of results

	Keeps *Kept `json:"keeps,omitzero"` // what a grant made from it leaves as it is

	Pairs []Pair `json:"pairs,omitzero"` // what a yes confirms besides
}

// Kept is what further calls must have in common with the one that was asked about.
type Kept struct {
	Tool  string                 `json:"tool"`
	Salt  string                 `json:"salt"`
	Fixed map[string]tool.Digest `json:"fixed,omitzero"` // path of an argument to its salted value
	Free  []string               `json:"free,omitzero"`  // paths of arguments that may be others

	Act   string             `json:"act,omitzero"`   // what the call does, where it is judged by a mandate
	Most  map[string]float64 `json:"most,omitzero"`  // path of a measure to the most it may be
	Lists map[string]string  `json:"lists,omitzero"` // path of an object to the list that it may be another one of
	Aims  []string           `json:"aims,omitzero"`  // paths that say who it is for, where nobody new is among them
}

// Write is a blocked write to a memory file, kept whole so that nothing is lost. Args
// are the exact bytes as a string: as a JSON value they would be written in another
// form, and be another call.
type Write struct {
	ID   string `json:"id"`
	Path string `json:"path"`
	Args string `json:"args"`
}

// Answer is what a person said.
type Answer struct {
	By      string      `json:"by"`               // owner, or the approver's name
	Via     string      `json:"via,omitzero"`     // chat, http, cli, dialog
	IDs     []string    `json:"ids,omitzero"`     // questions, writes or grants it is about
	Verdict string      `json:"verdict,omitzero"` // approve, deny, agree, withdraw; release, discard
	Grant   *Grant      `json:"grant,omitzero"`
	Until   int64       `json:"until,omitzero"` // when an approval lapses unspent, Unix nanoseconds
	Reason  string      `json:"reason,omitzero"`
	Policy  string      `json:"policy,omitzero"`  // version under which a write was released
	Level   trust.Level `json:"level,omitzero"`   // TrustReset: the level the context goes back to
	Trace   string      `json:"trace,omitzero"`   // of the values that were turned down, as in Seen
	Proof   *Proof      `json:"proof,omitzero"`   // that a person said it
	Lasting string      `json:"lasting,omitzero"` // id of what it allows for good, in the log of its own
	What    string      `json:"what,omitzero"`    // what it is about: each tool and what its call would do, redacted
}

// Agree is the verdict of an approval that needs another person's.
const Agree = "agree"

// Withdraw closes a question without an answer: whoever wanted the call has given it up.
const Withdraw = "withdraw"

// Grant lets further calls through.
type Grant struct {
	ID      string      `json:"id"`
	Tools   []string    `json:"tools"`          // normalised names it covers
	Ceiling trust.Level `json:"ceiling"`        // never covers a context less trusted than this
	Until   int64       `json:"until,omitzero"` // Unix nanoseconds; 0 with Turn set
	Turn    bool        `json:"turn,omitzero"`  // ends with the turn
	Task    bool        `json:"task,omitzero"`  // ends with the task
	Policy  string      `json:"policy"`         // dies when the policy changes
	Calls   int         `json:"calls,omitzero"` // how many it lets through; 0: as many as come
	// Where are the arguments that the person freed: path to pattern. All must fit.
	Where map[string]string `json:"where,omitzero"`
	Keeps []Kept            `json:"keeps,omitzero"` // the calls it was given for
}

// Body encodes the event as a record's body.
func (e *Event) Body() ([]byte, error) {
	if e.Decided != nil {
		e.Decided.Seal()
	}
	return strictjson.Marshal(e)
}

// Record is the event as a record, not yet linked to a chain.
func (e *Event) Record(session string) (audit.Record, error) {
	body, err := e.Body()
	if err != nil {
		return audit.Record{}, fmt.Errorf("encode %s: %w", e.Kind, err)
	}
	return audit.Record{Session: session, Time: e.Time, Kind: string(e.Kind), Body: body}, nil
}

// FromRecord decodes a record. Unknown kinds and malformed bodies are errors: a log
// that cannot be read must not give a session less tainted than it was.
func FromRecord(r audit.Record) (Event, error) {
	e := Event{Kind: Kind(r.Kind), Time: r.Time}
	if err := strictjson.Unmarshal(r.Body, &e); err != nil {
		return Event{}, fmt.Errorf("record %d of session %q: %w", r.Seq, r.Session, err)
	}
	if err := e.Check(); err != nil {
		return Event{}, fmt.Errorf("record %d of session %q: %w", r.Seq, r.Session, err)
	}
	return e, nil
}
