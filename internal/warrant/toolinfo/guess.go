package toolinfo

import (
	"strings"
	"sync"
)

// maxGuesses bounds how many unlisted parameters of a tool are remembered: whoever calls it
// chooses their names.
const maxGuesses = 256

// guesses are parameters that a schema does not list, as they were understood by their names.
// Agents use the same ones with every call, and understanding one costs more than finding it.
type guesses struct {
	mu    sync.RWMutex
	texts map[string]Param // guarded by mu
}

// guess is what an unlisted parameter with a text for a value is for.
func (m *Meaning) guess(path string) Param {
	g := m.guesses
	if g == nil || len(path) > maxName {
		return m.param(&field{path: path, types: ofText})
	}
	g.mu.RLock()
	p, known := g.texts[path]
	g.mu.RUnlock()
	if known {
		return p
	}
	path = strings.Clone(path) // it may be part of something long
	p = m.param(&field{path: path, types: ofText})
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.texts == nil {
		g.texts = map[string]Param{}
	}
	if len(g.texts) < maxGuesses {
		g.texts[path] = p
	}
	return p
}
