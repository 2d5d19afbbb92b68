package catalogue_test

import (
	"path"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

// A forgotten field would be found by a person whose agent is not guarded.
func TestEveryEntryIsWhole(t *testing.T) {
	for _, s := range catalogue.Setups() {
		for what, missing := range map[string]bool{
			"a title":                            s.Title == "",
			"a program":                          len(s.Programs) == 0,
			"a place for its hooks":              s.Place == catalogue.Places{},
			"a place where calls are decided":    len(s.Gate.Path) == 0 && s.Script == nil && s.Name != "opencode", // its plugin is in install
			"how it fails open":                  len(s.Open) == 0 && s.Since == nil,
			"answers for what it can read":       s.Read != nil && (s.Pass == nil || s.Refuse == nil),
			"tools, though its calls are known":  s.Proxied && s.Tools == nil,
			"a hook, or a plugin inside it":      (s.Read == nil) != s.Inside(),
			"a question to try its hook with":    s.Read != nil && (s.Probe == nil || s.Refused == nil),
			"the folders it trusts, in a file":   s.Trusts != nil && s.Config == catalogue.Place{},
			"switches for the files it watches":  len(s.Watched) > 0 && len(s.Switches) == 0,
			"a word on the holes of its plugins": s.Inside() && len(s.Holes) == 0,
		} {
			if missing {
				t.Errorf("%s: the entry lacks %s", s.Name, what)
			}
		}
		for _, w := range s.Watched {
			if path.IsAbs(w) || path.Clean(w) != w || strings.HasPrefix(w, "..") {
				t.Errorf("%s: %s is no file below a folder", s.Name, w)
			}
		}
	}
}

// A table must not give a name of ours to what is not one.
func TestTablesNameOnlyToolsThatPolicyKnows(t *testing.T) {
	for _, s := range catalogue.Setups() {
		if s.Tools == nil {
			continue
		}
		if s.Tools.Agent != s.Name {
			t.Errorf("%s: its tools are %q's", s.Name, s.Tools.Agent)
		}
		for theirs, ours := range s.Tools.Names {
			// A tool of Claude Code that bears a name of ours gets a mark: so it is seen that policy knows it.
			if name, _ := catalogue.Canonical("claude", ours, nil); name != "claude__"+ours {
				t.Errorf("%s: %s is called %q, which policy does not know", s.Name, theirs, ours)
			}
		}
	}
}

// An agent's commands go to boxes, or it is said why not; none is there whose trial would have to show it and cannot be made.
func TestWhoseCommandsAreBoxed(t *testing.T) {
	for _, s := range catalogue.Setups() {
		way := s.Rewrite != nil || s.Prefix != nil
		if s.Unboxed == "" && (!way || s.Trial == nil) {
			t.Errorf("%s: nothing says why its commands are not boxed", s.Name)
		}
		if s.Unboxed != "" && way && s.Trial != nil {
			t.Errorf("%s: its commands could be boxed", s.Name)
		}
	}
}
