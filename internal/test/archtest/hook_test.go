package archtest_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hookLinks is all that the hook program may link besides the standard library. It is
// started for every call of an agent, so what it links is paid for at every call: no
// installer, no engine, no store.
var hookLinks = []string{
	"cmd/tidemark-hook", "hook", "internal/agents/catalogue", "internal/agents/harness", "internal/agents/settings", "internal/agents/shim",
	"internal/agents/project",                                                   // what a project sets for an agent is looked at before every call
	"internal/base/afar",                                                        // the way to a server on another machine
	"internal/base/peer",                                                        // where the server's socket is, on which it sees whose hook speaks
	"internal/base/filelock", "internal/base/launch", "internal/base/fileowner", // to start the server where none runs
	"internal/box", "internal/box/frame", "internal/box/ordered", "golang.org/x/sys/unix", // to be the first process of a box
	"internal/box/entry",     // to have a command run in one
	"internal/agents/prefix", // to start an agent's commands, where they are to be told apart
	"internal/base/serverproof", "internal/base/strictjson", "internal/base/text", "tool", "trust",
	"github.com/go-json-experiment/json", "github.com/go-json-experiment/json/jsontext",
	"golang.org/x/sys/windows", // for the lock, there
}

func TestTheHookProgramLinksLittle(t *testing.T) {
	links := map[string]bool{}
	linked(repository(t), "cmd/tidemark-hook", links)
	got := slices.Sorted(maps.Keys(links))
	for _, name := range got {
		if !slices.Contains(hookLinks, name) {
			t.Errorf("cmd/tidemark-hook links %s: keep it out, or say here that every call pays for it", name)
		}
	}
	for _, name := range hookLinks {
		if !links[name] {
			t.Errorf("cmd/tidemark-hook does not link %s any more: take it off the list", name)
		}
	}
}

// linked adds a package and what it needs: ours by folder, those of others by path.
func linked(t *tree, dir string, out map[string]bool) {
	if out[dir] {
		return
	}
	out[dir] = true
	for _, p := range t.pkgs {
		if p.dir != dir {
			continue
		}
		for _, f := range p.code() {
			for _, spec := range f.ast.Imports {
				name, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					continue // the parser has accepted it
				}
				if to, ok := ours(name); ok {
					linked(t, to, out)
				} else if host, _, _ := strings.Cut(name, "/"); strings.Contains(host, ".") {
					out[name] = true
				}
			}
		}
	}
}
