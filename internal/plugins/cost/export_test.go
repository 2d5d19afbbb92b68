package cost

// Branches is how many branches of all sessions are known.
func (g *Guard) Branches() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, a := range g.sessions {
		n += len(a.turns)
	}
	return n
}
