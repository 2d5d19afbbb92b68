package snapshot_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ordinary is a user who owns nothing on any machine but what a test gives them.
const ordinary = 54323

// Everything holds for a user without rights as it does for root.
func TestAnOrdinaryUserHasTheSameSnapshots(t *testing.T) {
	if os.Getuid() != 0 || testing.Short() {
		t.Skip("every test of this run is one of an ordinary user's, or it is to be short")
	}
	dir, err := os.MkdirTemp("", "kept-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	tmp, program := filepath.Join(dir, "tmp"), filepath.Join(dir, "snapshot.test")
	self, err := os.ReadFile("/proc/self/exe")
	if err := errors.Join(err, os.Chmod(dir, 0o755), os.Mkdir(tmp, 0o755), os.Chown(tmp, ordinary, ordinary), os.WriteFile(program, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.v", "-test.timeout=10m")
	cmd.Dir = tmp
	cmd.Env = append(os.Environ(), "HOME="+tmp, "TMPDIR="+tmp, "USER=ordinary")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What cannot be read cannot be held, so it is guarded, with the folder that closes it.
func TestWhatCannotBeReadIsGuarded(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can read everything")
	}
	s, ws := newStore(t)
	put(t, ws+"/open", "x")
	put(t, ws+"/closed", "x")
	put(t, ws+"/folder/x", "x")
	if err := errors.Join(os.Chmod(ws+"/closed", 0), os.Chmod(ws+"/folder", 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(ws+"/folder", 0o700) })
	if a := take(t, s, ws); strings.Join(a.Guard, " ") != "closed folder" {
		t.Errorf("guarded: %v", a.Guard)
	}
}
