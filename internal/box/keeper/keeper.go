// Package keeper is the process of a user, on the machine their agents run on, that owns the boxes of their sessions: one box for each
// session and workspace, made at the first command that is to run in one.
//
// It does I/O and judges nothing. Invariants:
//   - no ticket, no run: every command of an agent is redeemed with the monitor first, once, by its own bytes;
//   - who asks is the same user, by the kernel's word; what runs in a box cannot reach the socket;
//   - a box is opened only after a snapshot of its workspace was taken, and what the snapshot does not hold cannot be changed in it;
//   - where anything fails nothing is run, and the answer says why;
//   - nothing leaves a box that the policy does not name or a person has not let: where nobody answers, it is refused;
//   - boxes end with the keeper, however it ends; what they leave is found and listed at the next start.
package keeper

import (
	"context"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/ordered"
	"github.com/tidemark/tidemark/internal/box/relay"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// Redeemer gives leave to run one command, or says why not. A *Refusal is a no that was meant.
type Redeemer interface {
	Redeem(ctx context.Context, t Ticket) (Grant, error)
}

// Ticket is what a command brings.
type Ticket struct {
	Ticket  string `json:"ticket"`
	Command string `json:"command_sha256"` // of the line as it would be run
	Process int    `json:"pid"`            // who brought it
}

// Grant is the leave to run one command in a box.
type Grant struct {
	Session   string   `json:"session"`
	Call      string   `json:"call"`
	Step      uint64   `json:"step"` // which call of the session it is
	Workspace string   `json:"workspace"`
	Settings  Settings `json:"settings"`
	Taint     string   `json:"taint"`
	Leaves    bool     `json:"leaves"`  // it is a plain command that leaves this machine: the broker runs it
	Covered   bool     `json:"covered"` // and nobody need be asked
	Temp      []string `json:"temp"`    // what calls of the session put below /tmp outside the box
	Ordered   []string `json:"ordered"` // of another line: the parts that leave and for which nobody need be asked, by their SHA-256
	Lists     []string `json:"lists"`   // of it, or its parts, by SHA-256: what installs from a list as the owner's own words order

	Ticket string `json:"-"` // by which it was had
}

// Writer says what the monitor let the session's own file tools write, for the ticket of a command that was begun.
type Writer interface {
	Written(ctx context.Context, ticket string) ([]Written, error)
}

// Written is what one call of them leaves of one file.
type Written struct {
	Step  uint64         `json:"step"`
	Path  string         `json:"path"`
	Whole bool           `json:"whole"` // it holds Text afterwards; else Edits are made in it
	Text  string         `json:"text"`
	Edits []ordered.Edit `json:"edits"`
}

// Settings are what the policy says of boxes. What is not said is not given.
type Settings struct {
	Write []string `json:"write"`
	Read  []string `json:"read"`
	Hide  []string `json:"hide"`
	Guard []string `json:"guard"`
	Ports []int    `json:"ports"`
	Hosts []string `json:"hosts"`
	Layer string   `json:"layer"`
}

// Refusal is a ticket that is not good, with the reason for whoever brought it.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// Ended is how a command that was redeemed ended, and what its box kept from happening so far.
type Ended struct {
	Ticket string      `json:"ticket"`
	Exit   int         `json:"exit"`
	Report *box.Report `json:"report"`

	Refused outgoing.Refusal `json:"refused,omitzero"` // why the broker began nothing of it; empty: it may have
}

// Aside is a file or a folder that a box put aside which has ended: a person says whether it is put back or thrown away.
type Aside struct {
	ID        string `json:"id"`
	Session   string `json:"session,omitzero"`
	Workspace string `json:"workspace,omitzero"`
	Path      string `json:"path,omitzero"` // where it was, below the workspace, or whole if it is of the home; empty: nobody knows
	Home      string `json:"home,omitzero"` // the home folder that it is of
	Sum       string `json:"sum,omitzero"`  // of a file of the home folder: what is in its place, by its SHA-256; empty: nothing
	Kept      string `json:"kept"`          // where it is
}

// AsideID is how something that was put aside is called, by where it is kept: its box's folder and a number.
func AsideID(kept string) string {
	number := filepath.Dir(kept)
	return filepath.Base(filepath.Dir(filepath.Dir(number))) + "/" + filepath.Base(number)
}

// Snapshot is what was kept of a workspace before anything ran in it.
type Snapshot struct {
	Name  string   // under which it can be brought back
	Guard []string // what it does not hold, below the workspace
}

// Options say how a keeper works.
type Options struct {
	Data     string // the monitor's data folder: socket, boxes and what they leave
	Home     string // of the user
	First    string // the program that becomes the first process of boxes; this one, if none is named
	Redeemer Redeemer
	Ended    func(context.Context, Ended) error // may be nil
	Asker    Asker                              // nil: what commands want of others is refused
	Writer   Writer                             // nil: all that comes to a guarded place is put aside
	Relay    relay.Options                      // how others are reached; Let, Hosts and Ports are the keeper's own
	CAFile   string                             // certificates of registries that programs would not believe otherwise
	// SignIn is what signs the user in at a service that the broker asks, found with programs in these folders; nil: nobody can.
	SignIn func(ctx context.Context, host, programs string) (string, error)
	Closed func() []int // ports of this machine that no box reaches, whatever a policy says; may be nil
	// Take takes a snapshot of a workspace for a session.
	Take func(session, workspace string) (Snapshot, error)
	// Used is told that a command has ended in a box whose workspace was kept under this name; it may be nil.
	Used func(snapshot string)
	// Idle is how long a box lives in which nothing is run, and how long a keeper lives without a box.
	Idle time.Duration
	Say  func(format string, args ...any) // for the log
}

// DefaultIdle is for how long boxes wait for the next command.
const DefaultIdle = 2 * time.Hour
