// Package given is what a policy file lets run for good: one act of named tools, with every aim, object, sum and other argument
// written down as it must stand in the call. It is what a person's lasting answer is, written by whoever writes the policy. It is pure.
//
// Invariants:
//   - a call is covered only if each of its arguments is accounted for: listed to the letter, within its bound, said by the user, or
//     a text that is looked at elsewhere; a name that nobody thought of is none of that;
//   - no entry covers what is dangerous, secret, faulty, run, or proves who one is.
package given

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/warrant"
)

// Mandate is one entry of a file. The zero Mandate covers nothing.
type Mandate struct {
	Rule    string // how the log and the commands name it: standing.NAME
	Act     warrant.Deed
	Tools   []string // normalised; no patterns
	Pins    []string // definitions of those tools; empty: whatever they are
	Agents  []string // empty: every agent
	Aims    []string
	Objects []string
	UpTo    []Bound
	With    []Fixed
	Calls   int64  // in one session
	Pos     string // in the file
}

// Bound is the most that a number of the call may be, by the parameter's name.
type Bound struct {
	Path string
	Most float64
}

// Fixed is an argument that is always one of these.
type Fixed struct {
	Path   string
	Values []string
}

// Call is a call that lacks nothing but what a mandate gives.
type Call struct {
	Agent, Tool, Pin string
	Args             string   // as JSON
	Free             []string // paths of texts that people write and read; what they carry was looked at
	Found            *warrant.Warrant
	Approved         int64 // calls of the tool that ran in this session because somebody let them
}

// Acts are what a file can give for good. What removes, runs, lets others in or is not understood is seen by a person each time.
func Acts() []warrant.Deed {
	return []warrant.Deed{warrant.Read, warrant.Tidy, warrant.Create, warrant.Change, warrant.Send, warrant.Pay}
}

// Covers reports whether it lets a call run.
func (m *Mandate) Covers(c *Call) bool {
	w := c.Found
	switch {
	case w == nil || m.Act == warrant.Unknown || w.Deed != m.Act || w.Danger || w.Barred():
		return false
	case !slices.Contains(m.Tools, c.Tool) || len(m.Pins) > 0 && !slices.Contains(m.Pins, c.Pin):
		return false
	case !m.of(c.Agent) || c.Approved >= m.Calls:
		return false
	}
	leaves := strictjson.Flat(c.Args)
	for i := range w.Slots {
		if !m.slot(&w.Slots[i], leaves) {
			return false
		}
	}
	aims, named := 0, 0
	for _, l := range leaves {
		if !m.leaf(l, c) {
			return false
		}
		switch kinds := kindsAt(l, w); {
		case slices.Contains(kinds, warrant.Aim):
			aims++ // it is listed: leaf has looked
		case slices.Contains(kinds, warrant.Object) && slices.Contains(m.Objects, l.Text):
			named++
		}
	}
	if m.Act == warrant.Pay && aims != 1 || aims+named == 0 {
		return false // one sum is for one payee, and nothing is for whoever it is
	}
	return m.complete(leaves)
}

// of reports whether it is for an agent. What is said of claude holds for claude@laptop too.
func (m *Mandate) of(agent string) bool {
	name, _, _ := strings.Cut(agent, "@")
	return len(m.Agents) == 0 || slices.Contains(m.Agents, agent) || slices.Contains(m.Agents, name)
}

// complete reports whether what is bounded or fixed stands in the call, once: a tool's own default is nobody's word, and two sums are
// more than one.
func (m *Mandate) complete(leaves []strictjson.Leaf) bool {
	once := func(path string) bool {
		n := 0
		for _, l := range leaves {
			if bare(l.Path) == path {
				n++
			}
		}
		return n == 1
	}
	for _, b := range m.UpTo {
		if !once(b.Path) {
			return false
		}
	}
	for _, f := range m.With {
		if !once(f.Path) {
			return false
		}
	}
	return true
}

// slot reports whether a slot of the call is one that the entry speaks of, or that the user does.
func (m *Mandate) slot(s *warrant.Slot, leaves []strictjson.Leaf) bool {
	if s.Fault || s.Secret {
		return false
	}
	switch s.Kind {
	case warrant.Act, warrant.Cargo, warrant.Place:
		return true // what is missing of texts and places holds the call before anybody looks here
	case warrant.Aim:
		return slices.Contains(m.Aims, s.Value) || m.whole(s.Path, leaves, m.Aims)
	case warrant.Object:
		return vouched(s) || slices.Contains(m.Objects, s.Value) || m.whole(s.Path, leaves, m.Objects) || m.said(s.Path)
	case warrant.Measure:
		return vouched(s) || m.said(s.Path)
	}
	return false // a command, a key
}

// whole reports whether every argument at a path is listed to the letter: then so is each part of it.
func (m *Mandate) whole(path string, leaves []strictjson.Leaf, listed []string) bool {
	found := false
	for _, l := range leaves {
		if path != "" && bare(l.Path) == bare(path) {
			if found = slices.Contains(listed, l.Text); !found {
				return false
			}
		}
	}
	return found
}

// said reports whether the entry bounds or fixes what stands at a path; the argument itself is looked at with the others.
func (m *Mandate) said(path string) bool {
	p := bare(path)
	return path != "" && (slices.ContainsFunc(m.UpTo, func(b Bound) bool { return b.Path == p }) ||
		slices.ContainsFunc(m.With, func(f Fixed) bool { return f.Path == p }))
}

// leaf reports whether one argument is accounted for.
func (m *Mandate) leaf(l strictjson.Leaf, c *Call) bool {
	path := bare(l.Path)
	for _, b := range m.UpTo {
		if b.Path == path {
			return within(l.Text, b.Most)
		}
	}
	for _, f := range m.With {
		if f.Path == path {
			return slices.Contains(f.Values, l.Text)
		}
	}
	if nothing(l.Text) {
		return true
	}
	if !plainPath.MatchString(l.Path) {
		return false // a name can be a value
	}
	known := slices.Contains(c.Free, l.Path)
	for i := range c.Found.Slots {
		s := &c.Found.Slots[i]
		if s.Path == "" || bare(s.Path) != path {
			continue
		}
		if known = m.holds(s, l.Text); !known {
			return false
		}
	}
	return known
}

// kindsAt are the kinds of slots that an argument stands in.
func kindsAt(l strictjson.Leaf, w *warrant.Warrant) []warrant.Kind {
	var out []warrant.Kind
	for i := range w.Slots {
		if s := &w.Slots[i]; s.Path != "" && bare(s.Path) == bare(l.Path) && !nothing(l.Text) {
			out = append(out, s.Kind)
		}
	}
	return out
}

// holds reports whether a whole argument may stand where a slot is.
func (m *Mandate) holds(s *warrant.Slot, text string) bool {
	switch s.Kind {
	case warrant.Aim:
		return slices.Contains(m.Aims, text)
	case warrant.Object:
		return slices.Contains(m.Objects, text) || vouched(s)
	case warrant.Measure, warrant.Place:
		return vouched(s)
	case warrant.Cargo:
		return true
	}
	return false
}

// vouched reports whether the user said it, or it is theirs.
func vouched(s *warrant.Slot) bool { return s.Has >= warrant.Own && !s.Secret && !s.Fault }

// number is a sum in digits alone: what stands beside one may be another currency, an exponent another sum, and three digits behind a
// point thousands.
var number = regexp.MustCompile(`^[0-9]{1,15}(\.[0-9]{1,2})?$`)

func within(text string, most float64) bool {
	if !number.MatchString(text) {
		return false
	}
	n, err := strconv.ParseFloat(text, 64)
	return err == nil && n <= most
}

// nothing reports whether an argument says nothing.
func nothing(text string) bool {
	return text == "" || text == "false" || text == "null" || text == "[]" || text == "{}"
}

// plainPath is a path of names that programs give their parameters.
var plainPath = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\[[0-9]*\])*(\.[A-Za-z_][A-Za-z0-9_]*(\[[0-9]*\])*)*$`)

var places = regexp.MustCompile(`\[[0-9]*\]`)

// bare is a path without the places in lists.
func bare(path string) string { return places.ReplaceAllString(path, "") }

// String says for people what it lets through.
func (m *Mandate) String() string {
	var parts []string
	list := func(before string, values []string) {
		if len(values) > 0 {
			parts = append(parts, before+" "+strings.Join(values, " or "))
		}
	}
	list("to", m.Aims)
	list("on", m.Objects)
	for _, b := range m.UpTo {
		parts = append(parts, fmt.Sprintf("%s up to %v", b.Path, b.Most))
	}
	for _, f := range m.With {
		list(f.Path, f.Values)
	}
	out := m.Act.String() + " with " + strings.Join(m.Tools, " or ")
	if len(parts) > 0 {
		out += ": " + strings.Join(parts, ", ")
	}
	who := "every agent"
	if len(m.Agents) > 0 {
		who = strings.Join(m.Agents, ", ")
	}
	return fmt.Sprintf("%s; %d in a session, for %s; what its texts carry is still looked at", out, m.Calls, who)
}
