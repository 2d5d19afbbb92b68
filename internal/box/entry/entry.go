// Package entry is the way to the box keeper, the process of a user that owns the boxes of their agents' sessions: what is said on
// its socket, and the small program that has one command run in a session's box (tidemark-hook box).
//
// It does I/O and decides nothing. Invariants:
//   - the socket is found in the data folder and by nothing of the environment, which repositories and content can shape;
//   - it and its folder are this user's, and what listens there runs as this user, or nothing is said;
//   - where anything fails nothing was run, the exit code is 125, and standard error says why.
package entry

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/box"
)

// What a keeper can be asked for.
const (
	Run   = "run"   // run a line in the box of the session that the ticket is for
	Shell = "shell" // run a shell in a box, to look
	List  = "list"  // say which boxes there are, and what was left of others
	End   = "end"   // end a session's boxes, or all and the keeper
)

// Request is what a client says first. Lines, folders and variables are bytes: they come through as they are.
type Request struct {
	Do      string   `json:"do"`
	Ticket  string   `json:"ticket,omitzero"`
	Session string   `json:"session,omitzero"` // for shell and end; "" is a box for the folder, or everything
	Line    []byte   `json:"line,omitzero"`
	Dir     []byte   `json:"dir,omitzero"`
	Env     [][]byte `json:"env,omitzero"`
	Around  *Around  `json:"around,omitzero"` // what an agent puts around each of its lines; nil: nothing
	Screen  bool     `json:"screen,omitzero"` // the client sits at a terminal, and wants one in the box
	Rows    uint16   `json:"rows,omitzero"`
	Columns uint16   `json:"columns,omitzero"`
}

// Around is what an agent puts around the lines that it has a shell run. It runs in the box like the line, and no ticket is asked for it.
type Around struct {
	Before []byte `json:"before,omitzero"` // text for the shell
	Quiet  bool   `json:"quiet,omitzero"`  // the line has nothing to read
	Where  bool   `json:"where,omitzero"`  // the folder it ended in is written to a fourth file
}

// Passed is what a client says while its command runs.
type Passed struct {
	Signal int `json:"signal"`
}

// Text is what the shell is given: the line whose hash the ticket is for, and what is around it.
func (r *Request) Text() string {
	line, a := string(r.Line), r.Around
	if a == nil {
		return line
	}
	text := string(a.Before) + "\neval '" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	if a.Quiet {
		text += " < /dev/null"
	}
	if a.Where { // the line itself has no such file
		text += " 3>&- && pwd -P >&3"
	}
	return text
}

// Files is how many files come with it.
func (r *Request) Files() int {
	if r.Around != nil && r.Around.Where {
		return 4
	}
	return 3
}

// Answer is what the keeper says: at most once that a terminal comes along, and once how things ended.
type Answer struct {
	Given  bool     `json:"given,omitzero"`
	Again  bool     `json:"again,omitzero"` // this keeper ends, and another has to be asked; nothing was done
	Exit   int      `json:"exit"`
	Reason string   `json:"reason,omitzero"` // why nothing was run
	Notes  []string `json:"notes,omitzero"`  // what whoever ran the command should know besides
	Boxes  []Open   `json:"boxes,omitzero"`
	Left   []Left   `json:"left,omitzero"`
}

// Open is a box as it stands.
type Open struct {
	Session   string      `json:"session"`
	Workspace string      `json:"workspace"`
	Opened    time.Time   `json:"opened"`
	Used      time.Time   `json:"used"` // when the last command began or ended
	Running   int         `json:"running"`
	Commands  int         `json:"commands"`
	Processes int         `json:"processes"`       // in the box, jobs in the background included
	Memory    int64       `json:"memory"`          // of the box's first process, in bytes
	Aside     []box.Aside `json:"aside,omitempty"` // what was put aside so far
	Snapshot  string      `json:"snapshot,omitzero"`
}

// Left is what is left of a box that has ended.
type Left struct {
	Session   string    `json:"session,omitzero"`
	Workspace string    `json:"workspace,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Cut       bool      `json:"cut,omitzero"` // its keeper was ended before it could end it
	Folder    string    `json:"folder,omitzero"`
	Aside     []string  `json:"aside,omitempty"`   // files that wait for a person, where they are kept
	Layer     int       `json:"layer,omitzero"`    // files of the home folder's layer that went with it
	Snapshot  string    `json:"snapshot,omitzero"` // what undo can bring back
	Fault     string    `json:"fault,omitzero"`    // what went wrong when it ended
}

// Socket is where the keeper of a data folder listens.
func Socket(data string) string { return filepath.Join(data, "box.sock") }

// Log is where a keeper that was started on demand writes what it has to say.
func Log(data string) string { return filepath.Join(data, "keep.log") }
