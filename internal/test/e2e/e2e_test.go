//go:build e2e

// Package e2e_test runs the real agents, without a terminal, against a scripted model on
// loopback and a real server with its shipped policy. It is a package of tests only, and
// only under its build tag: scripts/e2e installs the agents, builds the programs and
// starts it.
//
// Every run has a home, a workspace, a data folder and a server to itself, and reaches
// nothing but loopback.
package e2e_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// table collects what came of each agent and story.
type table struct {
	rows map[string]map[string]string
}

func (b *table) set(agent, story, what string) {
	if b.rows[agent] == nil {
		b.rows[agent] = map[string]string{}
	}
	if b.rows[agent][story] = what; what != "FAILED" { // or not done yet
		fmt.Fprintf(os.Stderr, "%s %s: %s\n", agent, story, what)
	}
}

// print shows the table, and why rows are missing.
func (b *table) print() {
	var out, why strings.Builder
	fmt.Fprintf(&out, "\n%-15s", "")
	for _, r := range rigs() {
		fmt.Fprintf(&out, " %-8s", r.name)
	}
	for _, s := range stories {
		fmt.Fprintf(&out, "\n%-15s", s.name)
		for _, r := range rigs() {
			cell, reason, skipped := strings.Cut(b.rows[r.name][s.name], ": ")
			if line := fmt.Sprintf("\n%s skipped: %s", r.name, reason); skipped && !strings.Contains(why.String(), line) {
				why.WriteString(line)
			}
			fmt.Fprintf(&out, " %-8s", cmp.Or(cell, "-"))
		}
	}
	fmt.Println(out.String() + why.String())
}

func TestAgents(t *testing.T) {
	if os.Getenv("E2E_CACHE") == "" || os.Getenv("E2E_PROGRAMS") == "" {
		t.Fatal("run this with make e2e, which installs the agents")
	}
	b := &table{rows: map[string]map[string]string{}}
	defer b.print()
	for _, r := range rigs() {
		t.Run(r.name, func(t *testing.T) {
			if why := missing(r.name); why != "" {
				for _, s := range stories {
					b.set(r.name, s.name, "skipped: "+why)
				}
				t.Skip(why)
			}
			for _, s := range stories {
				if !s.concerns(r.name) {
					continue
				}
				t.Run(s.name, func(t *testing.T) { // not entered where a filter leaves it out
					if why := r.lacks[s.name]; why != "" {
						b.set(r.name, s.name, "skipped: "+why)
						t.Skip(why)
					}
					b.set(r.name, s.name, "FAILED")
					s.run(t, r)
					if !t.Failed() {
						b.set(r.name, s.name, "ok")
					}
				})
			}
		})
	}
}

// missing says why an agent cannot be run, "" if it can.
func missing(name string) string {
	if _, err := os.Stat(binary(name)); err == nil {
		return ""
	}
	why, err := os.ReadFile(filepath.Join(cache(), name, "why"))
	if err != nil {
		return "it is not installed"
	}
	return strings.TrimSpace(string(why))
}
