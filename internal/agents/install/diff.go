package install

import (
	"bytes"
	"fmt"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff is the change as a unified diff.
func (c Change) Diff() string {
	from, to := c.Path, c.Path
	if c.Old == nil {
		from = "/dev/null"
	}
	if c.New == nil {
		to = "/dev/null"
	}
	if c.Old != nil && c.New != nil && c.before != c.Mode {
		from, to = fmt.Sprintf("%s (mode %o)", from, c.before), fmt.Sprintf("%s (mode %o)", to, c.Mode)
	}
	text := diff.Diff(from, c.Old, to, c.New)
	if text == nil { // its mode alone
		return fmt.Sprintf("--- %s\n+++ %s\n", from, to)
	}
	_, text, _ = bytes.Cut(text, []byte("\n")) // a line with the command, which nobody ran
	return string(text)
}
