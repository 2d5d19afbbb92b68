// Package outsider_test builds a program of a module that is not ours, against this tree:
// what it cannot name, nobody outside can.
package outsider_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	// What the program imports: without it a result that is cached would outlive a change.
	_ "github.com/tidemark/tidemark/hook"
	_ "github.com/tidemark/tidemark/store/sqlite"
)

const root = "../../.."

// The module needs nothing that this one does not: it is given our checksums, and no way
// to the network.
func TestAModuleOfSomebodyElsesCanUseThisOne(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/host")); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	goTool(t, dir, "mod", "edit", "-replace", "github.com/tidemark/tidemark="+here)
	goTool(t, dir, "vet", ".")
	want, err := os.ReadFile("testdata/host/want.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), goTool(t, dir, "run", ".")); diff != "" {
		t.Errorf("the host says (-want +got):\n%s", diff)
	}
}

func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off", "GOPROXY=off", "GOSUMDB=off")
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, faults.String())
	}
	return out.String()
}
