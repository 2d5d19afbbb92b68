// Package scenario reads whole stories about an agent (scenarios/*.txtar) and runs
// them through any door: the same file must bring the same verdicts, whichever way the
// agent speaks. It opens nothing itself: files, stores and doors are handed in, time
// and randomness are the scenario's own.
//
// Invariants:
//   - a run is repeatable: the clock moves only where the file says so, randomness is
//     drawn from the file's name;
//   - the parser is strict: every unknown or useless line is a fault with its place;
//   - every call says which verdict it expects, so no file can pass by testing nothing;
//   - a story whose policy names no preset is told under the preset of the first design
//     and under the shipped one, and says where they answer differently;
//   - an auditor or verifier says what the file makes it say, to the very words a model
//     would be sent, and every answer of the file is asked for.
package scenario

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// The files of an archive that have a meaning of their own. Others are policies to
// reload and pictures or texts that steps refer to.
const (
	policyFile   = "policy.yaml"
	eventsFile   = "events"
	warningsFile = "warnings"
	auditorFile  = "auditor"  // what the auditor answers; without it there is none
	verifierFile = "verifier" // what the verifier answers; without it there is none
)

// Scenario is one parsed file.
type Scenario struct {
	Name  string   // of the file
	Title string   // its first line
	IDs   []string // requirements it proves
	Doors []string // the only doors it can run through; nil for all
	Steps []Step

	fixed   string // the preset that its policy names
	data    []byte
	files   map[string]section
	replies []reply // of the auditor and the verifier, in the order of their files
}

// section is one file of the archive with its place.
type section struct {
	line int // of its first line
	data []byte
}

// padded is the section's text at its own line numbers, so that faults found in it
// point into the archive.
func (s section) padded() []byte {
	return append(bytes.Repeat([]byte("\n"), max(s.line-1, 0)), s.data...)
}

// Through reports whether the scenario can run through the door of that name.
func (s *Scenario) Through(door string) bool {
	return s.Doors == nil || slices.Contains(s.Doors, door)
}

// Parse reads a scenario. The error is a policy.Faults that names every fault with
// its file and line.
func Parse(name string, data []byte) (*Scenario, error) {
	s := &Scenario{Name: name, data: data, files: map[string]section{}}
	d := &decoder{s: s, used: map[string]bool{}}
	d.sections(data)
	s.fixed = s.names(policyFile)
	d.header(txtar.Parse(data).Comment)
	d.events()
	d.script()
	d.unused()
	d.Faults.Sort()
	if err := d.Faults.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// decoder collects the faults of a file.
type decoder struct {
	configfile.Decoder
	s    *Scenario
	used map[string]bool // files steps refer to
	step *Step           // being read
	last string          // session of the step before
	call map[string]bool // ids of calls so far
}

func (d *decoder) at(line int) configfile.Pos {
	return configfile.Pos{File: d.s.Name, Line: line, Col: 1}
}

// sections finds where each file of the archive begins; the archive package keeps
// their bytes but not their lines.
func (d *decoder) sections(data []byte) {
	archive := txtar.Parse(data)
	line, next := 0, 0
	for text := range strings.Lines(string(data)) {
		line++
		if next < len(archive.Files) && isMarker(text, archive.Files[next].Name) {
			f := archive.Files[next]
			if _, twice := d.s.files[f.Name]; twice {
				d.Errorf(d.at(line), "file %q is given twice", f.Name)
			}
			d.s.files[f.Name] = section{line: line + 1, data: f.Data}
			next++
		}
	}
}

func isMarker(line, name string) bool {
	rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "-- ")
	if !ok {
		return false
	}
	rest, ok = strings.CutSuffix(rest, " --")
	return ok && strings.TrimSpace(rest) == name
}

var idPattern = regexp.MustCompile(`^(PRV|CAU|SEQ|VER|HOOK|BEY|WAR|AUD)-[0-9]{2}$`)

// header reads the prose: its first line is the title, "ids:" and "doors:" are lists.
func (d *decoder) header(comment []byte) {
	line := 0
	for text := range strings.Lines(string(comment)) {
		line++
		text = strings.TrimSpace(text)
		if d.s.Title == "" {
			d.s.Title = text
		}
		if list, ok := strings.CutPrefix(text, "ids:"); ok {
			d.s.IDs = append(d.s.IDs, strings.Fields(list)...)
			d.checkIDs(line, list)
		}
		if list, ok := strings.CutPrefix(text, "doors:"); ok {
			d.s.Doors = append(d.s.Doors, strings.Fields(list)...)
		}
	}
	if d.s.Title == "" || strings.HasPrefix(d.s.Title, "ids:") {
		d.Errorf(d.at(1), "the file does not begin with a line that says what it shows")
	}
	if len(d.s.IDs) == 0 {
		d.Hintf(d.at(1), "add a line such as: ids: PRV-07", "no requirement is named")
	}
}

func (d *decoder) checkIDs(line int, list string) {
	for _, id := range strings.Fields(list) {
		if !idPattern.MatchString(id) {
			d.Errorf(d.at(line), "%q is not a requirement id", id)
		}
	}
}

// unused reports files no step refers to: a mistyped name would go unnoticed.
func (d *decoder) unused() {
	for name, f := range d.s.files {
		meant := slices.Contains([]string{policyFile, eventsFile, warningsFile, auditorFile, verifierFile}, name) ||
			d.s.fixed == "" && name == warningsOf(Shipped())
		if !meant && !d.used[name] {
			d.Errorf(d.at(f.line-1), "no step refers to file %q", name)
		}
	}
}

// refer is the archive file a step names.
func (d *decoder) refer(n *configfile.Node) string {
	name, ok := d.Text(n)
	if !ok {
		return ""
	}
	if _, there := d.s.files[name]; !there {
		d.Hintf(n.Pos, fmt.Sprintf("add it at the end: -- %s --", name), "the archive has no file %q", name)
	}
	d.used[name] = true
	return name
}
