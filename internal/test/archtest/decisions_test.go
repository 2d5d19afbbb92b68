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
	decisionState = regexp.MustCompile(`(?m)^state: (?:proposed|accepted|replaced by (\d{4}))$`)
	superseded    = regexp.MustCompile(`(?m)^Superseded (?:in part )?by (.*)$`)
	supersededBy  = regexp.MustCompile(`^\[decision (\d+)\]\((\d{4})(-[a-z0-9-]+\.md)\): .+\.$`)
)

// checkDecisions wants decision notes numbered without gaps, with a state and the three
// parts every note has. What took the place of one, or of a part of it, stands at its top.
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
		state := decisionState.FindSubmatch(data)
		if state == nil {
			out.in(name, "no line \"state: proposed\", \"state: accepted\" or \"state: replaced by NNNN\"")
		} else {
			checkSuperseded(t, out, name, string(data), string(state[1]))
		}
		for _, part := range []string{"## What", "## Why", "## Details"} {
			if !strings.Contains(string(data), "\n"+part+"\n") {
				out.in(name, "no part %q", part)
			}
		}
	}
	return out.list
}

// checkSuperseded wants each line that says what came in place of a decision to link a later one that exists, above its
// first part; replaced is the one of its state, if there is any.
func checkSuperseded(t *tree, out *findings, name, text, replaced string) {
	top, _, _ := strings.Cut(text, "\n## ")
	own, told := path.Base(name)[:4], false
	for _, line := range superseded.FindAllStringSubmatch(text, -1) {
		m := supersededBy.FindStringSubmatch(line[1])
		if m == nil {
			out.in(name, "want \"Superseded by [decision N](NNNN-words.md): what changed.\"")
			continue
		}
		later := path.Join(path.Dir(name), m[2]+m[3])
		switch {
		case !strings.Contains(top, line[0]):
			out.in(name, "superseded by %s: say it at the top", m[2])
		case fmt.Sprintf("%04s", m[1]) != m[2] || !exists(t, later):
			out.in(name, "superseded by %s: there is no such decision", m[1])
		case m[2] <= own:
			out.in(name, "superseded by %s, which is no later one", m[2])
		}
		told = told || m[2] == replaced
	}
	if replaced != "" && !told {
		out.in(name, "replaced by %s: no line \"Superseded by\" says what changed", replaced)
	}
}
