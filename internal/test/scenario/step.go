package scenario

import (
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// Verb is what a step does.
type Verb string

// The verbs, in the order a newcomer meets them.
const (
	VerbTurn    Verb = "turn"    // somebody starts a turn
	VerbSay     Verb = "say"     // a turn by the same sender as the session's last one
	VerbSpawn   Verb = "spawn"   // a sub-agent's session starts
	VerbFork    Verb = "fork"    // a branch starts from what another branch holds
	VerbModel   Verb = "model"   // the model is about to be asked
	VerbWants   Verb = "wants"   // the model answered with these calls
	VerbCall    Verb = "call"    // one call is about to run
	VerbResult  Verb = "result"  // something came back
	VerbEnd     Verb = "end"     // the answer goes out
	VerbAnswer  Verb = "answer"  // an approver votes, by question and not by code
	VerbReview  Verb = "review"  // an approver releases or discards a held write
	VerbReset   Verb = "reset"   // an administrator resets the trust of a context
	VerbRevoke  Verb = "revoke"  // an administrator ends the latest grant
	VerbWait    Verb = "wait"    // the clock moves
	VerbReload  Verb = "reload"  // another policy comes into force
	VerbRestart Verb = "restart" // the monitor is lost and built again from its log
	VerbState   Verb = "state"   // look at a context
	VerbGraph   Verb = "graph"   // look at the picture of a turn
)

// Step is one entry of the events file.
type Step struct {
	Pos    configfile.Pos
	Verb   Verb
	Ref    engine.Ref
	Turn   engine.Turn
	Model  engine.ModelCall
	Calls  []string // of wants
	Call   tool.Call
	Result *Result
	End    engine.Ending
	Vote   Vote
	Wait   time.Duration
	File   string             // of reload
	Expect []Expectation      // under ByLevels, and under every preset without a line of its own
	Under  map[string]Answers // by preset: where it answers something else

	expectLine int             // where expect begins; 0 for none
	given      map[string]bool // of turn, say and spawn: which fields the file names
}

// Result is what a call brings back, in the call's own step or in one of its own.
type Result struct {
	Of      string // id of the call it belongs to
	Tool    string // of a result no call in this file asked for
	Args    []byte
	Content string
	From    string // the sub-agent session it came from
	Failed  bool
}

// Vote is what a person at the desk does about the nth question or write of the run;
// 0 is the latest.
type Vote struct {
	Number  int
	Yes     bool // approve, release
	Minutes int
	Where   map[string]string // of approve with minutes: argument to pattern
	Reason  string
}

// Expectation is one thing a step expects.
type Expectation struct {
	Key   string
	Value *configfile.Node
}
