//go:build harnesses

// Package harnesses_test holds what the LLM proxy knows of harnesses against the packages that
// are published of them: which tags they write, and whether those we know are still there. It is
// a package of tests only, and scripts/harnesses runs it, with the pinned versions or, for a
// nightly run, with the latest ones.
package harnesses_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/tidemark/tidemark/internal/agents/harness"
)

var update = flag.Bool("update", false, "take down the tags that are there now")

// packages is what the harness of a name is made of, as far as it can be read.
type pack struct {
	agent string
	files [][]byte
}

func open(t *testing.T, agent string) *pack {
	t.Helper()
	p := &pack{agent: agent}
	root := filepath.Join(os.Getenv("HARNESSES"), agent)
	if why, err := os.ReadFile(filepath.Join(root, "why")); err == nil {
		t.Skip(string(why))
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains([]string{".md", ".map", ".txt", ".wasm", ".node"}, filepath.Ext(path)) {
			return err
		}
		raw, err := os.ReadFile(path)
		p.files = append(p.files, raw)
		return err
	})
	if err != nil || len(p.files) == 0 {
		t.Fatalf("nothing to look at in %s: %v", root, err)
	}
	return p
}

var (
	opens  = regexp.MustCompile(`<([a-zA-Z][a-zA-Z0-9]*(?:[_-][a-zA-Z0-9]+)+)(?: [a-zA-Z_-]+=|>)`)
	closes = regexp.MustCompile(`</([a-zA-Z][a-zA-Z0-9]*(?:[_-][a-zA-Z0-9]+)+)>`)
)

// tags are the names, of more than one word, that are opened and closed somewhere.
func (p *pack) tags() []string {
	opened, closed := map[string]bool{}, map[string]bool{}
	for _, raw := range p.files {
		for _, m := range opens.FindAllSubmatch(raw, -1) {
			opened[string(m[1])] = true
		}
		for _, m := range closes.FindAllSubmatch(raw, -1) {
			closed[string(m[1])] = true
		}
	}
	var out []string
	for tag := range opened {
		if closed[tag] {
			out = append(out, tag)
		}
	}
	slices.Sort(out)
	return out
}

// holds reports whether a string stands there, in one of the two ways that programs are packed.
func (p *pack) holds(s string) bool {
	var wide []byte
	for _, u := range utf16.Encode([]rune(s)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	// in a program's source a line feed is an escape
	source := []byte(strings.ReplaceAll(s, "\n", `\n`))
	return slices.ContainsFunc(p.files, func(raw []byte) bool {
		return bytes.Contains(raw, []byte(s)) || bytes.Contains(raw, source) || bytes.Contains(raw, wide)
	})
}

var agents = []string{"claude", "codex", "gemini", "opencode", "droid", "cline", "openclaw"}

// A tag that nobody has looked at may carry what the user did not type.
func TestNoHarnessWritesATagThatNobodyHasLookedAt(t *testing.T) {
	for _, agent := range agents {
		t.Run(agent, func(t *testing.T) {
			p := open(t, agent)
			file := filepath.Join("testdata", agent+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(strings.Join(p.tags(), "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			looked := strings.Fields(string(raw))
			for _, b := range harness.Blocks() {
				if b.Agent == "" || b.Agent == agent {
					looked = append(looked, b.Tag)
				}
			}
			for _, tag := range p.tags() {
				if !slices.Contains(looked, tag) {
					t.Errorf("%s is new: is it put into user messages, and whose is it? Name it in internal/agents/harness/blocks.go, "+
						"or take it down here with -update", tag)
				}
			}
		})
	}
}

// A mark that is gone from its harness has another form by now.
func TestTheMarksWeKnowAreStillThere(t *testing.T) {
	for _, agent := range agents {
		t.Run(agent, func(t *testing.T) {
			p := open(t, agent)
			for _, b := range harness.Blocks() {
				if b.Agent == agent && !p.holds(b.Tag) {
					t.Errorf("the tag %s is gone", b.Tag)
				}
			}
			for _, m := range harness.Known() {
				if m.Agent == agent && !strings.HasPrefix(m.Begin, "<") && !p.holds(m.Begin) {
					t.Errorf("%q is gone", m.Begin)
				}
			}
		})
	}
}

// What harnesses share must be somebody's.
func TestTheMarksThatHarnessesShareAreSomebodys(t *testing.T) {
	var all []*pack
	for _, agent := range agents {
		if _, err := os.Stat(filepath.Join(os.Getenv("HARNESSES"), agent, "why")); err == nil {
			t.Skip("not all harnesses are here")
		}
		all = append(all, open(t, agent))
	}
	held := func(s string) bool { return slices.ContainsFunc(all, func(p *pack) bool { return p.holds(s) }) }
	for _, b := range harness.Blocks() {
		if b.Agent == "" && !held(b.Tag) && !old[b.Tag] {
			t.Error(fmt.Sprintf("the tag %s is nobody's any more", b.Tag))
		}
	}
}

// old are tags of versions that people still run.
var old = map[string]bool{"conversation_summary": true, "compaction_summary": true, "environment_details": true}
