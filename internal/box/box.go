// Package box runs commands where they can do no harm: in namespaces of their own, with a view of the machine that is made for them,
// and no way out of it. It is for commands of agents that have read what strangers wrote: reading what a command line does cannot be
// won, holding what it may touch can.
//
// What a box promises, whoever runs it, root or not:
//
//   - The workspace can be changed, but for what runs elsewhere or later (data/places.txt). What of that is there cannot be changed,
//     renamed or covered; what comes into being is put aside. Nothing is created to guard a path.
//   - Of the home folder, dot files are shown where a list names them. Nothing in it can be changed; writes to caches go to a layer.
//   - The rest of the machine can be read as far as it holds programs, and not be changed. No socket of it can be reached.
//   - No process outside can be seen, signalled or traced. There is no network but the box's own loopback; what leaves it is carried
//     by who was named for that (Want.Out), outside, connection by connection.
//   - A command has no rights that its caller has besides those over its own files, and can gain none.
//   - The environment is chosen by name. Nothing of the rest is in any process of the box.
//   - Where any of this cannot be had, no command runs, and the error says what the machine lacks (Lack).
//   - When the owner of a box ends, however it ends, so does every process of the box, and every mount.
//
// A box is made by the program that links this package starting itself once more: Become stands first in its main.
package box

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tidemark/tidemark/internal/box/ordered"
)

// Exit codes of what did not come to run, as other programs that run programs have them.
const (
	ExitNoBox      = 125 // no box could be made, so nothing was run
	ExitNotStarted = 126 // the command is there and could not be started
	ExitNotFound   = 127 // there is no such command
)

// Want says what a box is for.
type Want struct {
	Workspace string            // the folder that may be changed
	Home      string            // whose dot files, caches and keys there are
	State     string            // a folder of the caller's for this box alone: its layer and what is put aside. It is made
	Hide      []string          // what must not be seen besides: the monitor's data
	Read      []string          // what may be read besides
	Write     []string          // what may be changed besides
	Guard     []string          // what of the workspace must not be changed besides, below it
	Env       []string          // the caller's environment
	Keep      []string          // names of variables that are given besides
	Own       []string          // folders below the home folder that are the box's own: nothing of what is there is in them
	Files     map[string]string // what stands in those from the beginning, by paths below the home folder
	Layer     string            // what of the home folder is a layer: LayerCaches, LayerHome or LayerNone; empty: the caches
	Terminal  string            // the device of the caller's terminal, if commands are given it
	Reduced   bool              // a reduced box will do where no whole one can be made
	Out       Way               // who carries what leaves it; nil: nothing does
	Spare     *Spare            // a first process that waits already; nil: one is started. It is used at most once
	// Ordered are the calls of the session's own file tool that the monitor let; nil: nothing that comes to a guarded place was ordered.
	Ordered func(context.Context) ([]ordered.Order, error)
	First   string // the program that becomes the box's first process: it calls Become. This one, if none is named
}

// Command is one command to run in a box.
type Command struct {
	Args  []string
	Dir   string
	Files [3]*os.File // its standard input, output and error
	// Beside is another file that it has open, as number 3; nil: there is none, as with Screen.
	Beside *os.File
	Env    []string // its caller's environment, if it is not the one the box was made for
	// Leads has it lead a session of its own: signals go to it and to what it started, as the terminal would send them.
	Leads bool
	// Screen gives it a terminal of this size that is made in the box, in place of Files. Job.Terminal is the near end of it.
	Screen *Size
}

// Size is that of a terminal.
type Size struct{ Rows, Columns uint16 }

// Exit is how a command ended. If a signal ended it, Code is 128 and the signal, as shells have it.
type Exit struct {
	Code   int
	Signal int
}

// Report is what a box kept from happening, as far as it can know.
type Report struct {
	Workspace string   `json:"workspace"`
	Home      string   `json:"home,omitempty"` // where what was changed of the home folder belongs, if that is a layer
	Aside     []Aside  `json:"aside"`          // files that would run elsewhere or later, in the order in which they were found
	Dropped   int      `json:"dropped"`        // how many more of them were removed, because enough were kept
	Layer     []Layer  `json:"layer"`          // folders of the home folder that were written to, in the layer only
	Withheld  []string `json:"withheld"`       // names of variables that commands were not given
	NotShown  []string `json:"notShown"`       // folders that should be shown and could not be
	Unrouted  int      `json:"unrouted"`       // packets for which there was no way out
	LeftIn    string   `json:"leftIn"`         // the folder that keeps what was put aside, if anything was
	Watching  bool     `json:"watching"`       // whether what came was put aside at once, not at the end only
	Reduced   bool     `json:"reduced"`        // there were no namespaces: see Box.Reduced
	Processes int      `json:"processes"`      // processes that were still running when the box ended
}

// Aside is a file that was taken out of the workspace until a person says yes.
type Aside struct {
	Path string `json:"path"` // where it was, below the workspace; whole, if that was in another folder
	Kept string `json:"kept"` // where it is now
	Was  string `json:"was,omitempty"`
	Sum  string `json:"sum,omitempty"` // of a file of the home folder: the SHA-256 of what is there in its place; empty: nothing was
}

// Layer is a folder over which a layer lay that was written to.
type Layer struct {
	Path  string `json:"path"`
	Files int    `json:"files"`
}

// Lack says what a machine lacks so that no box can be made on it.
type Lack struct {
	What string // what is missing
	Help string // what would bring it, if anything is known to
	Err  error
}

func (l *Lack) Error() string {
	text := "no box can be made here, so nothing was run: " + l.What
	if l.Err != nil {
		text += fmt.Sprintf(" (%v)", l.Err)
	}
	if l.Help != "" {
		text += "; " + l.Help
	}
	return text
}

func (l *Lack) Unwrap() error { return l.Err }

// errEnded is what a box answers that is closed, or whose processes were ended by somebody else.
var errEnded = errors.New("the box has ended")
