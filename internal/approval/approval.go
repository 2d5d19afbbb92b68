// Package approval is the state machine of questions: a call is held, a person
// answers, the answer is spent. Each step takes state and the time and gives state;
// it is pure and imports only trust and tool.
//
// Invariants:
//   - a question has exactly one outcome: approved, denied, expired or dead;
//   - an approval lets exactly one call through, the one that was asked about;
//   - a grant never covers a context less trusted than the one it was given in;
//   - five wrong codes kill every code that was live at the time.
package approval

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// MaxTries is how many wrong codes a session's live questions survive.
const MaxTries = 5

// MaxOpen is how many questions of a session can be open at once.
const MaxOpen = 256

// State is where a question stands. The zero value is Pending: nothing is let through.
type State uint8

// The states of a question.
const (
	Pending State = iota
	Approved
	Dead    // too many wrong codes
	Denied  // a person said no
	Spent   // its approval has let the call through
	Granted // answered with a grant
	Moot    // the call was let through or given up, or its content reviewed, without an answer
	Lost    // pushed out by newer questions
)

var stateNames = [...]string{"pending", "approved", "dead", "denied", "spent", "approved", "moot", "lost"}

// String is the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[Dead]
}

// Request is one held call and the question about it.
type Request struct {
	ID       string
	Branch   string
	Tool     string // normalised
	Digest   tool.Digest
	Policy   string // version of the policy that asked
	Level    trust.Level
	Step     uint64
	Kind     string // escalate, danger, taint-escalation or intent-block
	Rule     string
	Reason   string
	Args     string // redacted summary for people
	CodeHash tool.Digest
	Asked    int64 // Unix nanoseconds
	Expires  int64
	CodeEnds int64 // when the code is over; 0: with the question
	State    State
	Tries    int
	Keeps    Kept     // what a grant made from it leaves as it is
	Until    int64    // when an approval lapses unspent
	By       string   // who approved it
	Agreed   []string // who approves, where it takes several people and they are not enough yet
	Dialog   string   // the host whose own dialog asks about it; "": none
	People   int      // how many people a rule of the policy wants; 0: as many as the rules for people say
}

// CodeLives is until when the code of a question answers it.
func (r *Request) CodeLives() int64 {
	if r.CodeEnds == 0 {
		return r.Expires
	}
	return min(r.CodeEnds, r.Expires)
}

func (r *Request) live(now int64) bool { return r.State == Pending && now < r.Expires }

// Grant lets calls like those that were asked about through for a while. It never covers a
// call that is dangerous by itself.
type Grant struct {
	ID      string
	Branch  string
	Tools   []string
	Ceiling trust.Level
	Policy  string
	Until   int64 // 0 when Turn
	Turn    bool  // ends with the turn
	Where   Where // what arguments may be that the person freed; all of them must fit
	Keeps   []Kept
	By      string // who gave it
	Calls   int    // how many calls it lets through yet; 0: as many as come
	Task    bool   // ends with the task
	Last    int64  // of a task: when a call was last decided
	Seen    int    // of a task: how many calls were decided since
	Times   int    // how many calls it let through
	Used    int64  // when it last did; 0: never
}

// The bounds of a task.
const (
	TaskLife  = 12 * time.Hour
	TaskIdle  = 2 * time.Hour
	TaskCalls = 200 // of all that are decided, whatever lets them through
)

// over reports whether the grant has ended.
func (g *Grant) over(now int64) bool {
	return !g.Turn && now >= g.Until || g.Task && (now >= g.Last+int64(TaskIdle) || g.Seen >= TaskCalls)
}

// String says for people what the grant lets through.
func (g *Grant) String() string {
	parts := make([]string, 0, len(g.Keeps))
	for i := range g.Keeps {
		k := g.Keeps[i].Without(g.Where)
		if g.Task {
			parts = append(parts, k.Opens(g.Calls))
			continue
		}
		parts = append(parts, k.Tool+" "+k.String())
	}
	return strings.Join(parts, "; ")
}

func (g *Grant) covers(c Held, now int64) bool {
	if c.Danger || g.Branch != c.Branch || g.Policy != c.Policy || c.Level < g.Ceiling || g.over(now) {
		return false
	}
	if c.Counts != nil && !c.Counts(g.By) {
		return false
	}
	similar := func(k Kept) bool {
		if k.Act != "" && (k.Act != c.Act || k.Grave() || c.Open) {
			return false // another act, one that is approved call by call, or one that would carry, run or put what nobody saw
		}
		return k.fits(c.Tool, c.Args, g.Where, c.Among)
	}
	return slices.Contains(g.Tools, c.Tool) && g.Where.Fits(c.Args) && slices.ContainsFunc(g.Keeps, similar)
}

// Held is a call that needs an approval.
type Held struct {
	Counts func(by string) bool // whether somebody's approval would be enough for it; nil: anybody's
	Branch string
	Tool   string
	Digest tool.Digest
	Policy string
	Level  trust.Level
	Args   *tool.Args // for grants; nil fits none
	Danger bool       // dangerous by itself: only a yes to this very call counts

	Act   string // what it does, where it is judged by a mandate
	Open  bool   // what it carries, runs, puts or proves itself by is missing: that is seen by a person each time
	Among Among  // tells values of lists; nil: nobody can

	Agent   string                 // whose call it is
	Pin     string                 // the definition of its tool
	Vouched func(path string) bool // whether the user said what stands there, or it is theirs; nil: nobody knows
}

// Closed is a question that has its outcome.
type Closed struct {
	Request
	Reason string
	At     int64
	over   bool // the turn it was denied in has ended
}

// The errors of answering. All but ErrUsage count as one wrong try when a code was given.
var (
	ErrNoMatch = errors.New("no open question has this code")
	ErrExpired = errors.New("the code has expired")
	ErrDead    = errors.New("the code is dead after too many wrong tries")
	ErrTool    = errors.New("the code belongs to another tool")
	ErrGone    = errors.New("the question is no longer open")
)

// NewCode draws a code of 8 hex characters.
func NewCode(random io.Reader) (string, error) {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("draw approval code: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// HashCode binds a code to its session, so that the log holds no code and a code
// means nothing elsewhere.
func HashCode(session, code string) tool.Digest {
	b := binary.AppendUvarint(nil, uint64(len(session)))
	b = append(append(b, session...), code...)
	return sha256.Sum256(b)
}

func sameCode(a, b tool.Digest) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }
