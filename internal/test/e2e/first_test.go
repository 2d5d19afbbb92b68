//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
	cmd := exec.CommandContext(ctx, script, agent.Args...)
	cmd.Dir = w.work
	cmd.Env = append(w.environment(), "FIRST_HOME="+w.home,
		"PATH="+os.Getenv("E2E_PROGRAMS")+":"+filepath.Join(cache(), "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(out))
	}
	stopped(t, w)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	t.Log(lines[len(lines)-1])
}
