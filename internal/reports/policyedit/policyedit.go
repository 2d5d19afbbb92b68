// Package policyedit writes a suggestion of the report into the text of a policy file, for a person who looks at it before
// anything is saved.
//
// It is pure. Invariants:
//   - of the file nothing else changes: comments and order stay, and the result is read again and compared;
//   - a suggestion that no longer fits the policy in force is none;
//   - where the file is written in a way that cannot be changed so, nothing is guessed.
package policyedit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/explain"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Errors of a draft.
var (
	ErrNone   = errors.New("this suggestion is no change of the policy")
	ErrFit    = errors.New("this suggestion no longer fits the policy")
	ErrByHand = errors.New("the file is written in a way that cannot be changed here: change it by hand")
)

// Of is the policy file with what a suggestion wants. set is the policy in force.
func Of(file string, src []byte, set *policy.Set, s *report.Suggestion) ([]byte, error) {
	if s.Change == nil {
		return nil, fmt.Errorf("%w: %s", ErrNone, s.Text)
	}
	root, faults := configfile.Parse(file, src)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if why := stale(set, s); why != "" {
		return nil, fmt.Errorf("%w: %s", ErrFit, why)
	}
	e := edit{lines: linesOf(src)}
	within, err := e.change(root, s.Change)
	if err != nil {
		return nil, err
	}
	out := []byte(strings.Join(e.lines, "\n") + "\n")
	after, faults := configfile.Parse(file, out)
	switch {
	case faults.Err() != nil:
		return nil, fmt.Errorf("%w: %s", ErrByHand, s.Change)
	case slices.Equal(flat(root), flat(after)):
		return nil, fmt.Errorf("%w: the file says so already", ErrFit)
	case !only(flat(root), flat(after), within):
		return nil, fmt.Errorf("%w: %s", ErrByHand, s.Change)
	}
	return out, nil
}

func linesOf(src []byte) []string {
	text := strings.TrimRight(string(src), "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// stale says why the policy in force is not the one that the suggestion is about; empty where it is.
func stale(set *policy.Set, s *report.Suggestion) string {
	rule := s.Rule
	if rest, ok := strings.CutPrefix(rule, "agents."); ok {
		agent, _, _ := strings.Cut(rest, ".")
		set = set.For(agent)
	}
	if byLevel := strings.Contains(rule, "taintPolicy.") || strings.Contains(rule, "toolOverrides."); byLevel && !asks(set, s) {
		return fmt.Sprintf("calls of %s are no longer asked about by %s", s.Tool, rule)
	}
	if s.Kind == "caution-off" && !set.Traits(tool.Name(s.Tool), nil).Caution {
		return fmt.Sprintf("what follows %s is no longer audited", s.Tool)
	}
	return ""
}

// asks reports whether calls of the tool are asked about by the rule, at some level.
func asks(set *policy.Set, s *report.Suggestion) bool {
	for _, level := range trust.Levels() {
		if x := explain.Tool(set, s.Tool, level, nil); x.Mode == "confirm" && x.Rule == s.Rule {
			return true
		}
	}
	return false
}

// flat is all that a file says, a line for each value. Entries of a list are known by their name, or by themselves:
// where they stand does not matter.
func flat(n *configfile.Node) []string {
	var out []string
	collect(n, "", &out)
	slices.Sort(out)
	return out
}

func collect(n *configfile.Node, path string, out *[]string) {
	if n.Empty() {
		return
	}
	switch n.Kind {
	case configfile.Map:
		for _, k := range n.Keys {
			collect(k.Value, path+"/"+k.Name, out)
		}
	case configfile.List:
		for _, item := range n.List {
			name := ""
			if v := item.Get("name"); v != nil {
				name = v.Text
			}
			collect(item, path+"/["+name+"]", out)
		}
	default:
		*out = append(*out, fmt.Sprintf("%s=%d:%s", path, n.Kind, n.Text))
	}
}

// only reports whether what differs is below a place.
func only(before, after []string, within string) bool {
	for _, pair := range [][2][]string{{before, after}, {after, before}} {
		rest := slices.Clone(pair[1])
		for _, line := range pair[0] {
			if i := slices.Index(rest, line); i >= 0 {
				rest = slices.Delete(rest, i, i+1)
			} else if !strings.HasPrefix(line, within+"/") && !strings.HasPrefix(line, within+"=") {
				return false
			}
		}
	}
	return true
}
