package console_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe is the checker of accessibility; scripts/console puts it into the cache.
func axe(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	do(t, err)
	dir := os.Getenv("CONSOLE_CACHE")
	if dir == "" {
		dir = filepath.Join(home, ".cache", "tidemark-console")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("no axe-core here: make console installs it")
	}
	return string(raw)
}

const runAxe = `axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r =>
	r.violations.map(v => v.id + ': ' + v.help + ' (' + v.nodes.map(n => n.target.join(' ')).slice(0, 3).join(', ') + ')').join('; '))`

// CON-14 CON-33
func TestAxeFindsNothing(t *testing.T) {
	full(t)
	source := axe(t)
	w := noticed(t)
	q := w.ask("laptop/claude/42")
	hurt := w.asksHostile("H5", hostile["H5"])
	answered := w.ask("laptop/claude/43")
	w.signIn("reader").votes(answered, "deny", nil)
	b := w.browser()
	b.open("/console/login")
	b.audit(source, "login")
	b.signIn("admin")
	pages := append(everyPage(q.Session, q.ID), "/console/q/"+hurt, "/console/q/"+answered.ID, "/console/none",
		"/console/audit?tool=none", "/console/health?try=1")
	for _, scheme := range []string{"light", "dark"} {
		b.prefers(scheme, true)
		for _, width := range []int64{1280, 390} {
			b.size(width, 844)
			for _, path := range pages {
				b.open(path)
				b.audit(source, path+" "+scheme)
			}
		}
	}
}

func (b *tab) audit(source, what string) {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](source))
	if found := js[string](b, runAxe); found != "" {
		b.t.Errorf("%s: %s", what, found)
	}
}

// TestPictures keeps pictures of the pages for the documentation.
func TestPictures(t *testing.T) {
	full(t)
	if os.Getenv("CONSOLE_PICTURES") == "" {
		t.Skip("CONSOLE_PICTURES names no folder: make console with it renews the pictures")
	}
	w := serve(t, "")
	q := w.ask("laptop/claude/42")
	b := w.browser()
	b.signIn("admin")
	b.size(1280, 900)
	for name, path := range map[string]string{
		"sessions": "/console/sessions", "session": "/console/session?key=laptop%2Fclaude%2F42",
		"graph":  "/console/session?show=graph&key=laptop%2Fclaude%2F42",
		"policy": "/console/policy?tool=exec&level=untrusted", "levels": "/console/policy?show=levels", "try": "/console/policy?show=try",
		"audit": "/console/audit/verify", "health": "/console/health",
		"tools": "/console/tools", "keys": "/console/keys", "reports": "/console/reports",
	} {
		b.open(path)
		b.picture(name + "-1280-light")
	}
	b.prefers("dark", false)
	b.open("/console/q/" + q.ID)
	b.picture("question-1280-dark")
}
