// Package trial makes a box and tries each of its promises from inside. It does I/O, in folders that it makes and removes, and tells
// what held.
package trial

import (
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/internal/box"
)

// Row is one thing that was tried.
type Row struct {
	Name string `json:"name"`
	Held bool   `json:"held"`
	Text string `json:"text"`
	Help string `json:"help,omitzero"` // what would bring it, if anything is known to
	// Reduced says of the box that it was made without namespaces, and Text what it loses.
	Reduced bool `json:"reduced,omitzero"`
}

// Around is what of the real machine is tried besides: the monitor's data folder and the address it listens at, if it runs.
type Around struct {
	Data    string
	Monitor string // host and port
	First   string // see box.Want
	Reduced bool   // a reduced box is tried where no whole one can be made
}

// lacking is the row of a machine on which no box can be made. Nothing runs unboxed because of it.
func lacking(err error) Row {
	var l *box.Lack
	if errors.As(err, &l) {
		return Row{Name: "box", Text: fmt.Sprintf("no box can be made here: %s", l.What), Help: l.Help}
	}
	return Row{Name: "box", Text: fmt.Sprintf("no box can be made here: %v", err)}
}
