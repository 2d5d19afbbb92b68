//go:build integration && linux

package sqlite_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tidemark/tidemark/internal/store/storetest"
)

// A real file system runs full, and room is made again. The process has a name space of
// its own in which it may mount one.
func TestFileSystemFull(t *testing.T) {
	if os.Getenv(childVariable) != t.Name() {
		cmd := command(t, childVariable, t.Name(), "-test.run=^"+t.Name()+"$")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(dir, "log.db"))
	at := 0
	for full := false; !full; {
		err := s.Append(t.Context(), "s", uint64(at), storetest.Events("turn", at, 1))
		if full = err != nil; !full {
			at++
		}
	}
	wantDown(t, s, uint64(at), "disk is full, free some space")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	wantUp(t, s, uint64(at))
	if n := count(t, s, "s"); n != at+1 {
		t.Errorf("got %d records, want %d", n, at+1)
	}
}
