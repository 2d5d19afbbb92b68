package shim

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

// The bounds on a project's commands that are looked at.
const (
	maxCommands  = 256
	leastOfThese = 16 // bytes of a line that is known by being the same
)

// commanded finds out that a prompt is the text of a project's command: a line of it stands in the command's
// file. The person typed the name of it then; what else they typed stands somewhere in the text.
func (a adapter) commanded(e *catalogue.Event) {
	if a.Commands == "" || e.Given != "" || e.Words == "" {
		return
	}
	root, looked := filepath.Join(cmp.Or(e.Cwd, "."), filepath.FromSlash(a.Commands)), 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // what cannot be read is no command
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what cannot be read is no command
		}
		if looked++; looked > maxCommands {
			return fs.SkipAll
		}
		text, ok := readHead(path)
		if !ok || !shares(e.Words, text) {
			return nil
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, root+string(os.PathSeparator)), filepath.Ext(path))
		e.Given, e.Ran, e.Words = e.Words, strings.Contains(text, "!{"), "/"+strings.ReplaceAll(filepath.ToSlash(name), "/", ":")
		return fs.SkipAll
	})
}

// shares reports whether a line of some words stands in a text.
func shares(words, text string) bool {
	for line := range strings.Lines(words) {
		if line = strings.TrimSpace(line); len(line) >= leastOfThese && strings.Contains(text, line) {
			return true
		}
	}
	return false
}
