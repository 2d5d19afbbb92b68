package conversation

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"sync"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// session is one of the monitor's: the conversations that belong together and what is known of them.
type session struct {
	name   string // of the session
	visits int    // guarded by the follower's mu; requests that are not over

	mu       sync.Mutex
	recalled bool                        // guarded by mu; the log was read back
	begun    map[string]bool             // guarded by mu; branches the monitor knows
	prompted bool                        // guarded by mu; instructions were looked at
	prompts  map[tool.Digest]trust.Label // guarded by mu; what texts of instructions bring
	top      *node                       // guarded by mu; before any message
	count    int                         // guarded by mu; messages
	branches []*branch                   // guarded by mu; the latest last
	calls    map[string]*called          // guarded by mu; by id
	unnamed  map[string][]*called        // guarded by mu; of the latest answer, by name, where a format gives calls no id
	made     map[tool.Digest]bool        // guarded by mu; sums of calls without an id
}

// node is a beginning of a conversation: everything up to one message.
type node struct {
	session *session
	branch  *branch
	sum     tool.Digest           // of the message
	label   trust.Label           // of everything up to it
	spoken  bool                  // a model has answered on the way to it
	acted   bool                  // calls of an answer to it were let through
	open    int                   // requests that end here and are not over
	only    *node                 // what follows it, as long as that is one
	next    map[tool.Digest]*node // all that do, once there are two
}

// after is what follows with a message; nil: nothing that is known.
func (n *node) after(sum tool.Digest) *node {
	if n.only != nil && n.only.sum == sum {
		return n.only
	}
	return n.next[sum]
}

// follow notes what follows. Nearly every message is followed by one other.
func (n *node) follow(child *node) {
	if n.only == nil && n.next == nil {
		n.only = child
		return
	}
	if n.next == nil {
		n.next = map[tool.Digest]*node{n.only.sum: n.only}
		n.only = nil
	}
	n.next[child.sum] = child
}

// branch is a context of its own within the session.
type branch struct {
	name string
	at   *node       // where its latest request ended
	mark trust.Level // what the monitor held it for then
	turn string      // the turn that was begun last
}

// called is a call that was let through.
type called struct {
	name string // ours
	args []byte // ours; nil where it was read back from the log
	sum  tool.Digest
}

// The bounds of one session. Beyond them it starts over, and what is in the log is read back.
const (
	maxMessages = 20_000
	maxBranches = 512
	maxCalls    = 10_000
)

func newSession(name string) *session {
	r := &session{
		name: name, begun: map[string]bool{}, calls: map[string]*called{},
		unnamed: map[string][]*called{}, made: map[tool.Digest]bool{}, prompts: map[tool.Digest]trust.Label{},
	}
	r.top = &node{session: r, label: nothing()}
	return r
}

// nothing is the label that adds nothing to another.
func nothing() trust.Label { return trust.Label{Level: trust.System, Sensitivity: trust.Public} }

// walk follows messages from a node as far as they are known.
func walk(from *node, sums []tool.Digest) (*node, int) {
	for i, s := range sums {
		n := from.after(s)
		if n == nil {
			return from, i
		}
		from = n
	}
	return from, len(sums)
}

// add makes the node of a message.
func (n *node) add(m *format.Message, sum tool.Digest, label trust.Label, b *branch) *node {
	child := &node{session: n.session, branch: b, sum: sum, label: label, spoken: n.spoken || m.Role == format.Assistant}
	n.follow(child)
	n.session.count++
	return child
}

// choose finds the branch that a request belongs to which is known up to k and goes on
// with rest. It goes on where a branch stands; a harness that has pruned its history still
// has the latest message of the branch in it. Anything else is a new branch.
func (r *session) choose(k *node, rest []tool.Digest) (*branch, error) {
	other := len(rest) == 0 && (k.acted || k.open > 0) // somebody has asked this before and goes on with it
	if b := k.branch; b != nil && b.at == k && !other {
		return b, nil
	}
	for _, b := range slices.Backward(r.branches) {
		if b.at != r.top && slices.Contains(rest, b.at.sum) {
			return b, nil
		}
	}
	b := &branch{at: k}
	if len(r.branches) > 0 {
		var id [6]byte
		if _, err := rand.Read(id[:]); err != nil {
			return nil, fmt.Errorf("name branch: %w", err)
		}
		b.name = "fork-" + hex.EncodeToString(id[:])
	}
	r.branches = append(r.branches, b)
	return b, nil
}

// trim starts over a session that holds too much. In the log it goes on.
func (r *session) trim() {
	if r.count < maxMessages && len(r.branches) < maxBranches && len(r.calls)+len(r.made) < maxCalls {
		return
	}
	fresh := newSession(r.name)
	r.top, r.count, r.branches, r.calls, r.recalled = fresh.top, 0, nil, fresh.calls, false
	r.begun, r.unnamed, r.made = fresh.begun, fresh.unnamed, fresh.made
	r.top.session = r
}

// digest is what a text is known by. Clients trim what they send back.
func digest(text string) tool.Digest { return tool.DigestOf([]byte(trimmed(text))) }

// fetched stands before the address of a part that has one. No kind looks like it.
const fetched = 0xff

// sumOf is what a message is known by: who says what, not how it was written down.
func sumOf(m *format.Message) tool.Digest {
	h := sha256.New()
	_, _ = h.Write([]byte{byte(m.Role)}) // a hash never fails
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.URL != "" { // the same words with another's picture are another message
			_, _ = h.Write([]byte{fetched})
			writeText(h, p.URL)
		}
		_, _ = h.Write([]byte{byte(p.Kind)})
		for _, s := range []string{p.Text, p.CallID, p.Name} {
			writeText(h, s)
		}
		writeText(h, string(p.Args))
	}
	var out tool.Digest
	h.Sum(out[:0])
	return out
}

func writeText(h hash.Hash, s string) {
	var n [binary.MaxVarintLen64]byte
	_, _ = h.Write(n[:binary.PutUvarint(n[:], uint64(len(s)))])
	_, _ = h.Write([]byte(s))
}
