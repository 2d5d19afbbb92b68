//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// timed are the lines of scripts/first that say what was typed and how long it took.
var timed = regexp.MustCompile(`^(\$ |\(\d+ s\)|a blocked attack)`)

// firstMinutes: three commands in an empty home, from nothing to a blocked attack on the screen. How long it
// took is printed, and not judged.
func firstMinutes(t *testing.T, r *rig) {
	w := open(t, r, with{bare: true})
	w.kill() // it is about a machine where nothing runs
	w.model.script(r.fetch(w), r.run(w, attack), step{say: done})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	agent := r.command(ctx, w, strings.Replace(summarise, "%s", r.page(w), 1), false)
	script, err := filepath.Abs("../../../scripts/first")
	if err != nil {
		t.Fatal(err)
	}
	alone := t.TempDir() // of the agents in the cache, this one is on the machine
	if err := os.Symlink(agent.Path, filepath.Join(alone, r.name)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, script, append([]string{r.name}, agent.Args[1:]...)...)
	cmd.Dir = w.work
	cmd.Env = append(w.environment(), "FIRST_HOME="+w.home, "PATH="+os.Getenv("E2E_PROGRAMS")+":"+alone+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(out))
	}
	stopped(t, w)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	t.Log(strings.Join(slices.DeleteFunc(lines, func(l string) bool { return !timed.MatchString(l) }), "\n"))
}
