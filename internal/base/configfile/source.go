// Package configfile knows where things stand in a configuration file: positions,
// faults with a caret under the column, and a small tree of a YAML (or JSON) file
// whose every value remembers its place. It is pure: it is handed bytes and a file
// name that is only printed.
//
// Invariants:
//   - Parse never panics and never runs away: size, tokens and depth are capped;
//   - a tree has no aliases, anchors, tags, duplicate keys or second document;
//   - a Decoder collects every fault, it does not stop at the first.
package configfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in a file. Line and Col count from 1, Col in characters; a Pos
// without a line means the file as a whole.
type Pos struct {
	File string
	Line int
	Col  int
}

// String is file:line:col.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

func (p Pos) compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// Severity says whether a fault makes the file unusable. The zero value does.
type Severity uint8

// The severities.
const (
	Error   Severity = iota // the file is refused
	Warning                 // something was corrected or ignored; the file is accepted
)

// String is the severity's name.
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Fault is one thing that is wrong in a file.
type Fault struct {
	Pos      Pos
	Severity Severity
	Message  string
	Hint     string // what to do about it; may be empty
}

// Error is file:line:col: message, with "warning: " before the message of a warning.
func (f Fault) Error() string {
	if f.Severity == Warning {
		return f.Pos.String() + ": warning: " + f.Message
	}
	return f.Pos.String() + ": " + f.Message
}

// Faults are all faults of a file.
type Faults []Fault

// Sort orders the faults by position; those at one place keep their order.
func (fs Faults) Sort() {
	slices.SortStableFunc(fs, func(a, b Fault) int { return a.Pos.compare(b.Pos) })
}

// Only is the faults of that severity.
func (fs Faults) Only(s Severity) Faults {
	var out Faults
	for _, f := range fs {
		if f.Severity == s {
			out = append(out, f)
		}
	}
	return out
}

// Error lists the faults, one per line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Err is nil when nothing but warnings was found, else a Faults of the errors alone.
func (fs Faults) Err() error {
	if errs := fs.Only(Error); len(errs) > 0 {
		return errs
	}
	return nil
}
