package headless

import "net/http"

// Waits reports whether a run waits for a prompt.
func (p *Program) Waits() bool {
	p.waiting.mu.Lock()
	defer p.waiting.mu.Unlock()
	return p.waiting.run != nil
}

// Scripted is the model of a trial.
func Scripted(url string) http.Handler { return &endpoint{url: url} }

// Asks reports whether a path is one at which a model is asked.
func Asks(path string) bool { return wireOf(path) != nil }
