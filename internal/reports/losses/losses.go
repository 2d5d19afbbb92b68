// Package losses says what is lost where something that others have is not there: a model, a box, a server on this machine. It is pure; the
// table is data, each cell with the test that shows it.
package losses

import (
	_ "embed" // the table is part of the program
	"strings"
)

//go:embed losses.txt
var table string

// Cell is what is then, in one column.
type Cell struct {
	Column string `json:"column"`
	Text   string `json:"text"`
	test   string
}

// Row is one situation.
type Row struct {
	Where string `json:"where"`
	Cells []Cell `json:"cells"`
}

// Facts are how things stand here. The zero Facts have nothing.
type Facts struct {
	Model  bool   // one is set up to read words
	Box    string // whole or reduced; anything else: none
	Remote bool   // the server is on another machine
	System string // as GOOS has it
}

// Table is all rows, in the order of the file.
func Table() []Row {
	var out []Row
	for line := range strings.Lines(table) {
		parts := strings.Split(strings.TrimSpace(line), " | ")
		if len(parts) != 4 {
			continue
		}
		if len(out) == 0 || out[len(out)-1].Where != parts[0] {
			out = append(out, Row{Where: parts[0]})
		}
		last := &out[len(out)-1]
		last.Cells = append(last.Cells, Cell{parts[1], parts[2], parts[3]})
	}
	return out
}

// Here are the rows that hold here.
func Here(f Facts) []Row {
	holds := map[string]bool{
		"no model": !f.Model, "remote server": f.Remote, "Windows": f.System == "windows", "macOS": f.System == "darwin",
	}
	if f.System != "windows" && f.System != "darwin" { // those have rows of their own
		holds["reduced"], holds["no box"] = f.Box == "reduced", f.Box != "whole" && f.Box != "reduced"
	}
	var out []Row
	for _, r := range Table() {
		if holds[r.Where] {
			out = append(out, r)
		}
	}
	return out
}
