package session

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/tool"
)

// maxShown bounds of how many results that are kept from the agent it is known what the agent got instead. What is forgotten and told
// again counts as content.
const maxShown = 4096

// keptBack notes a result that is kept from the agent, or a value that was extracted from one.
func (s *State) keptBack(seen *event.Seen) {
	if seen.Held == nil {
		return
	}
	if s.shown == nil || len(s.shown) >= maxShown {
		s.shown = map[tool.Digest]bool{}
	}
	s.shown[seen.Held.Shown] = true
	if !seen.Held.Extracted || seen.Digest == nil {
		return
	}
	if s.extracted == nil {
		s.extracted = map[tool.Digest]int{}
	}
	s.extracted[*seen.Digest]++
}

// Extracted is how many values were extracted from a source.
func (s *State) Extracted(source tool.Digest) int { return s.extracted[source] }

// Shown reports whether a content is nothing but what the agent got instead of a result that is kept from it: another door of the same
// agent tells of it.
func (s *State) Shown(content []byte) bool {
	if len(s.shown) == 0 {
		return false
	}
	if s.shown[tool.DigestOf(content)] {
		return true
	}
	found := 0
	for _, l := range strictjson.Flat(string(content)) {
		switch {
		case slices.ContainsFunc(strings.FieldsFunc(l.Path, notLetter), func(name string) bool { return !blockNames[name] }):
			return false // what members are called can be read too
		case s.shown[tool.DigestOf([]byte(l.Text))]:
			found++
		case l.Text != "text":
			return false
		}
	}
	return found == 1
}

// blockNames are what the members of a block of text are called, in every protocol.
var blockNames = map[string]bool{"content": true, "type": true, "text": true}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }
