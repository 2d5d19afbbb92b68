package headless

// Waits reports whether a run waits for a prompt.
func (p *Program) Waits() bool {
	p.waiting.mu.Lock()
	defer p.waiting.mu.Unlock()
	return p.waiting.run != nil
}
