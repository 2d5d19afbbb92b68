// Package report is the learning report (CAU-11): what was asked, what people answered,
// what the auditor and the verifier said, and what a person may want to change because
// of it. It is pure: a fold over the records of the log.
//
// Invariants:
//   - nothing is applied: a suggestion is a sentence with its evidence, for a person;
//   - what would widen what an agent may do is said to widen, and is never suggested for
//     contexts that hold untrusted or external content, nor for a rule anybody said no to;
//   - memory is bounded however long the log is;
//   - the records of one session come in order; sessions may come one after another or
//     mixed.
package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Report is the fold's result.
type Report struct {
	From        time.Time     `json:"from,omitzero"` // time of the first record counted
	To          time.Time     `json:"to,omitzero"`   // what expired is judged as of then
	Totals      Totals        `json:"totals"`
	Questions   []Row         `json:"questions"`   // most asked first
	Auditor     []AuditRow    `json:"auditor"`     // most asked first
	Verifier    []VerifierRow `json:"verifier"`    // by name
	Shadow      []ShadowRow   `json:"shadow"`      // where a candidate policy differs, most calls first
	Items       []ItemRow     `json:"items"`       // what the mandate of each session let run, or lacked
	Suggestions []Suggestion  `json:"suggestions"` // for a person to decide
}

// Suggested is the suggestion with an id; nil: there is none.
func (r *Report) Suggested(id string) *Suggestion {
	i := slices.IndexFunc(r.Suggestions, func(s Suggestion) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &r.Suggestions[i]
}

// Totals are sums over all rules. Calls is Allowed + Held + Denied, and Asked is Yes +
// No + Expired + Pending.
type Totals struct {
	Calls   int `json:"calls"`
	Allowed int `json:"allowed"`
	// Confined are those of Allowed that ran in a box.
	Confined int `json:"confined,omitzero"`
	Held     int `json:"held"`
	Denied   int `json:"denied"`

	// Of the allowed calls; one may be in several.
	ByApproval int `json:"byApproval"` // an approval of the exact call was spent
	ByGrant    int `json:"byGrant"`
	ByAuditor  int `json:"byAuditor"` // the auditor had nothing against it
	ByVerifier int `json:"byVerifier"`

	Asked   int `json:"asked"` // questions, however often the call was tried
	Yes     int `json:"yes"`
	No      int `json:"no"`
	Expired int `json:"expired"`
	Pending int `json:"pending"`

	WrongCodes int `json:"wrongCodes"`
	Grants     int `json:"grants"`  // made
	Revoked    int `json:"revoked"` // grants ended early

	Shadowed int `json:"shadowed"` // calls a candidate policy was asked about too
	Differ   int `json:"differ"`   // of those
}

// Row is one rule, tool and kind of question. Rules that only let calls through have none.
type Row struct {
	Rule string `json:"rule"`
	Tool string `json:"tool"`
	Kind string `json:"kind,omitzero"`

	Held    int `json:"held"`   // calls
	Denied  int `json:"denied"` // calls refused without a question
	Asked   int `json:"asked"`  // questions
	Yes     int `json:"yes"`
	No      int `json:"no"`
	Expired int `json:"expired"` // nobody answered in time
	Pending int `json:"pending"`
	Unused  int `json:"unused"` // said yes to, but the call never came

	YesShare float64 `json:"yesShare"` // of those answered
	MedianMs int64   `json:"medianMs"` // until the answer
	P90Ms    int64   `json:"p90Ms"`

	streak int // most questions in one session, all answered yes
}

// Answered is how many questions a person answered.
func (r *Row) Answered() int { return r.Yes + r.No }

// ItemRow is one item of a session's mandate and one tool: how often it let a call run, or was what came closest to one that was
// asked about. Without an id it is the questions about a tool that no item is for.
type ItemRow struct {
	Session string   `json:"session,omitzero"`
	ID      string   `json:"id,omitzero"` // as the log and the question name it
	Giver   string   `json:"giver,omitzero"`
	Tool    string   `json:"tool"`
	Missing []string `json:"missing,omitzero"` // the slots that it did not hold
	Allowed int      `json:"allowed"`
	Asked   int      `json:"asked"`
}

// AuditRow is one tool whose output was in play and one tool that was then proposed.
type AuditRow struct {
	Source string `json:"source"`
	Tool   string `json:"tool"`

	Asked        int `json:"asked"` // Consistent + Inconsistent + Unsure + Failed
	Consistent   int `json:"consistent"`
	Inconsistent int `json:"inconsistent"`
	Unsure       int `json:"unsure"`
	Failed       int `json:"failed"`
	Cached       int `json:"cached"`     // of those asked
	Blocked      int `json:"blocked"`    // because of what it said; failures are not among them
	Overridden   int `json:"overridden"` // blocked, then approved by a person
}

// VerifierRow is who gave the external verifier's answers.
type VerifierRow struct {
	By      string `json:"by"`
	Allowed int    `json:"allowed"`
	Denied  int    `json:"denied"`
	Failed  int    `json:"failed"` // of both: nobody answered, the fail mode did
	Cached  int    `json:"cached"` // of both
}

// Suggestion is a change a person may want to make. It is never made for them.
type Suggestion struct {
	ID       string `json:"id"`   // stands for its kind, rule and tool
	Kind     string `json:"kind"` // allow, restrict, caution-off, auditor, verifier, ttl, grant
	Rule     string `json:"rule,omitzero"`
	Tool     string `json:"tool,omitzero"`
	Text     string `json:"text"`     // what to change, and what that does
	Evidence string `json:"evidence"` // the numbers behind it
	Widens   bool   `json:"widens"`   // the agent could do more

	Change *Change `json:"change,omitempty"` // of the policy file; nil: it is about something else
}

// Change is what a suggestion would change in a policy file.
type Change struct {
	Path []string `json:"path"` // the key; below rules the name of a rule, or nothing for a new one
	To   string   `json:"to"`   // what it would say; of a rule its effect. restrict stands for hide, as programs know it
	Tool string   `json:"tool"` // for which tool
}

// Rule is the name of the rule that would be another, and where the list of rules stands: in the file, or in an agent's part
// (agents.intern.rules). Not ok: it is about a key.
func (c *Change) Rule() (list []string, name string, ok bool) {
	at := 0
	if len(c.Path) > 2 && c.Path[0] == "agents" {
		at = 2
	}
	if at >= len(c.Path) || c.Path[at] != "rules" {
		return nil, "", false
	}
	return c.Path[:at+1], strings.Join(c.Path[at+1:], "."), true
}

// Word is what the file would say.
func (c *Change) Word() string {
	if c.To == "restrict" {
		return "hide"
	}
	return c.To
}

// String is the change in words.
func (c *Change) String() string {
	switch _, name, rule := c.Rule(); {
	case !rule:
		return strings.Join(c.Path, ".") + ": " + c.Word()
	case name == "":
		return fmt.Sprintf("a rule with tools: [%s] and effect: %s in %s", c.Tool, c.Word(), strings.Join(c.Path, "."))
	}
	return fmt.Sprintf("effect: %s for %s in %s", c.Word(), c.Tool, strings.Join(c.Path, "."))
}
