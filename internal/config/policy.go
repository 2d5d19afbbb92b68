package config

import (
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/policy"
)

// Policy reads the policy of a file of ours, and nothing else that stands in it.
func Policy(file string, src []byte) (*policy.Set, configfile.Faults) {
	set, faults := policy.Parse(file, src)
	return set, located(faults)
}

// read is the tree and the policy of either kind of file. A file that cannot be read at
// all has no tree.
func (d *decoder) read(file string, src []byte) (*configfile.Node, *policy.Set, configfile.Faults) {
	if isOpenClaw(file, src) {
		return d.readOpenClaw(file, src)
	}
	root, faults := configfile.Parse(file, src)
	if root == nil {
		return nil, nil, faults
	}
	set, more := Policy(file, src)
	return root, set, append(faults, more...)
}

// located are the policy's faults among those of the rest of the file.
func located(faults policy.Faults) configfile.Faults {
	var out configfile.Faults
	for _, f := range faults {
		at := configfile.Fault{Pos: configfile.Pos{File: f.File, Line: f.Line, Col: f.Col}, Message: f.Text, Hint: f.Hint}
		if f.Warning {
			at.Severity = configfile.Warning
		}
		out = append(out, at)
	}
	return out
}
