// Package renamed finds ids of rules that shipped presets no longer have, in any text that names them: policy files, alerts,
// dashboards, notes. It is pure.
//
// Invariants:
//   - an id that a preset has today is never found;
//   - what is written in the place of an old id is an id that the same preset has.
package renamed

import (
	"bytes"
	_ "embed" // the list
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/policy"
)

//go:embed renamed.txt
var list string

// ids are what looks like the id of a rule of a preset that has a table.
var ids = regexp.MustCompile(`\b(balanced|strict|quiet)\.[a-z]+(-[a-z]+)*(\.[a-z]+)?\b`)

// Use is a place where an old id stands.
type Use struct {
	Line, Col int // from 1; the column in characters
	Old       string
	New       []string // what says the same now; of several a person chooses, and of none they take it out

	from, to int // in the text
}

// known are the cells that say what a rule said, by its name.
func known() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > 1 && f[0] != "#" {
			out[f[0]] = f[1:]
		}
	}
	return out
}

// Find are the places in a text where an old id stands. In YAML, comments are nobody's business.
func Find(file string, src []byte) []Use {
	var out []Use
	became, at := known(), 0
	for n, line := range bytes.SplitAfter(src, []byte("\n")) {
		for _, span := range ids.FindAllIndex(within(file, line), -1) {
			old := string(line[span[0]:span[1]])
			preset, rule, _ := strings.Cut(old, ".")
			cells := became[rule]
			if len(cells) == 0 {
				continue
			}
			u := Use{Line: n + 1, Col: utf8.RuneCount(line[:span[0]]) + 1, Old: old, from: at + span[0], to: at + span[1]}
			u.New = has(preset, cells)
			out = append(out, u)
		}
		at += len(line)
	}
	return out
}

// has are those of the cells that a preset has, by their ids.
func has(preset string, cells []string) []string {
	set, _ := policy.Parse("", []byte("preset: "+preset))
	var out []string
	for _, c := range cells {
		if act, slot, _ := strings.Cut(c, "."); set != nil && set.Needs(act, slot) != "none" {
			out = append(out, preset+"."+c)
		}
	}
	return out
}

// within is the part of a line that counts.
func within(file string, line []byte) []byte {
	if !slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(path.Ext(file))) {
		return line
	}
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
		return nil
	}
	if i := bytes.Index(line, []byte(" #")); i >= 0 {
		return line[:i]
	}
	return line
}

// Rewrite is the text with each old id replaced that has one successor, and the places that are left to a person.
func Rewrite(file string, src []byte) (text []byte, left []Use) {
	at := 0
	for _, u := range Find(file, src) {
		if len(u.New) != 1 {
			left = append(left, u)
			continue
		}
		text = append(append(text, src[at:u.from]...), u.New[0]...)
		at = u.to
	}
	return append(text, src[at:]...), left
}

// Faults say of each place what replaced the id.
func Faults(file string, uses []Use) configfile.Faults {
	var out configfile.Faults
	for _, u := range uses {
		hint := "nothing in this preset says what it said: take it out"
		switch {
		case len(u.New) == 1:
			hint = "tidemark policy migrate writes " + u.New[0]
		case len(u.New) > 1:
			hint = "what it said is said by the cells " + strings.Join(u.New, ", ") + ": name those that you mean"
		}
		out = append(out, configfile.Fault{
			Pos:     configfile.Pos{File: file, Line: u.Line, Col: u.Col},
			Message: fmt.Sprintf("no preset has a rule %s any more", u.Old), Hint: hint,
		})
	}
	return out
}
