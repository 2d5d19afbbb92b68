package archtest_test

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

var (
	decisionFile  = regexp.MustCompile(`^(\d{4})-[a-z0-9-]+\.md$`)
	decisionState = regexp.MustCompile(`(?m)^state: (proposed|accepted|replaced by \d{4})$`)
)

// checkDecisions wants decision notes numbered without gaps, with a state and the three
// parts every note has.
func checkDecisions(t *tree) []string {
	out := t.findings()
	entries, err := fs.ReadDir(t.files, "docs/decisions")
	if err != nil {
		out.in("docs/decisions", "%v", err)
		return out.list
	}
	for i, e := range entries {
		name := path.Join("docs/decisions", e.Name())
		m := decisionFile.FindStringSubmatch(e.Name())
		if m == nil {
			out.in(name, "want NNNN-words.md")
			continue
		}
		if want := fmt.Sprintf("%04d", i+1); m[1] != want {
			out.in(name, "want number %s", want)
		}
		data, err := fs.ReadFile(t.files, name)
		if err != nil {
			out.in(name, "%v", err)
			continue
		}
		if !decisionState.Match(data) {
			out.in(name, "no line \"state: proposed\", \"state: accepted\" or \"state: replaced by NNNN\"")
		}
		for _, part := range []string{"## What", "## Why", "## Details"} {
			if !strings.Contains(string(data), "\n"+part+"\n") {
				out.in(name, "no part %q", part)
			}
		}
	}
	return out.list
}
