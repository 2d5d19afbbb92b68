package policy

import (
	"slices"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// Fault is one thing that is wrong in a policy file, and where. The zero Warning is the
// severe one: a file with such a fault is refused.
type Fault struct {
	File    string // as it was given to Parse
	Line    int    // from 1; 0: the file as a whole
	Col     int    // in characters, from 1
	Text    string
	Hint    string // what to do about it; may be empty
	Warning bool   // something was corrected or ignored; the file is accepted
}

// Error is file:line:col: text, with "warning: " before the text of a warning.
func (f Fault) Error() string { return f.located().Error() }

// Faults are all that is wrong in a file, in its order: reading goes on behind the first.
type Faults []Fault

// Error lists the faults, one per line.
func (fs Faults) Error() string { return fs.located().Error() }

// Err is nil when there is nothing but warnings, else a Faults of the errors alone.
func (fs Faults) Err() error {
	errs := slices.DeleteFunc(slices.Clone(fs), func(f Fault) bool { return f.Warning })
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// Warnings are the faults that do not make the file unusable.
func (fs Faults) Warnings() Faults {
	return slices.DeleteFunc(slices.Clone(fs), func(f Fault) bool { return !f.Warning })
}

// Render prints each fault with its line and a caret under the column:
//
//	file:line:col: text
//	    the line
//	    ^
//	  hint: what to do
//
// src is the text of the file the faults are about.
func (fs Faults) Render(src []byte) string { return fs.located().Render(src) }

func (f Fault) located() configfile.Fault {
	out := configfile.Fault{Pos: configfile.Pos{File: f.File, Line: f.Line, Col: f.Col}, Message: f.Text, Hint: f.Hint}
	if f.Warning {
		out.Severity = configfile.Warning
	}
	return out
}

func (fs Faults) located() configfile.Faults {
	out := make(configfile.Faults, len(fs))
	for i, f := range fs {
		out[i] = f.located()
	}
	return out
}

// public is what a reader of files found, in words that need no package of ours.
func public(found configfile.Faults) Faults {
	var out Faults
	for _, f := range found {
		out = append(out, Fault{
			File: f.Pos.File, Line: f.Pos.Line, Col: f.Pos.Col,
			Text: f.Message, Hint: f.Hint, Warning: f.Severity == configfile.Warning,
		})
	}
	return out
}
