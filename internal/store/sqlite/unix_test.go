//go:build unix

package sqlite_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

const childVariable = "TIDEMARK_TEST_CHILD"

// inChild runs the test again in a process of its own, for what would disturb the others.
// It says whether this is that process.
func inChild(t *testing.T, user *syscall.Credential) bool {
	t.Helper()
	if os.Getenv(childVariable) == t.Name() {
		return true
	}
	cmd := command(t, childVariable, t.Name(), "-test.run=^"+t.Name()+"$")
	if user != nil {
		// The other user may not get at the file by its name.
		binary, err := os.Open(cmd.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer binary.Close()
		cmd.Path, cmd.ExtraFiles = "/dev/fd/3", []*os.File{binary}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// The kernel refuses to let the files grow, as on a full disk.
func TestDiskFull(t *testing.T) {
	if !inChild(t, nil) {
		return
	}
	s, path := started(t, sqlite.Options{})
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit := func(size uint64) {
		t.Helper()
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: old.Max}); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int64{0, 100} {
		limit(uint64(info.Size() + room))
		wantDown(t, s, 2, "disk")
	}
	if n := count(t, s, "s"); n != 2 {
		t.Errorf("while the disk is full %d records can be read, want 2", n)
	}
	limit(old.Cur)
	wantUp(t, s, 2)
}

// A user who may not write the log is told so, and what to do.
func TestReadOnlyFile(t *testing.T) {
	var user *syscall.Credential
	if os.Geteuid() == 0 { // root may write everything, so somebody else must try
		user = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	if !inChild(t, user) {
		return
	}
	for _, test := range []struct {
		name      string
		file, dir os.FileMode
		says      string
	}{
		{"a file that can only be read", 0o400, 0o700, "this user must be able to write"},
		{"a file that cannot be read", 0o000, 0o700, "check that both exist and that this user may write them"},
		{"a directory that can only be read", 0o600, 0o500, "this user must be able to write"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, path := started(t, sqlite.Options{})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			chmod(t, path, test.file)
			chmod(t, filepath.Dir(path), test.dir)
			_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			wantSays(t, "open", err, test.says)
			chmod(t, filepath.Dir(path), 0o700)
			chmod(t, path, 0o600)
			wantUp(t, open(t, path), 2)
		})
	}
	t.Run("a file that can only be read, in use", func(t *testing.T) {
		s, path := started(t, sqlite.Options{})
		chmod(t, path, 0o400)
		if err := s.Append(t.Context(), "s", 2, storetest.Events("turn", 2, 1)); err != nil {
			t.Errorf("append to a file that is still open for writing: %v", err)
		}
	})
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
