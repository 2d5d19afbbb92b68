// Package torture_test breaks things on purpose and looks whether anything that was promised is gone: servers and databases
// are killed, disks fail, connections are cut, several servers work on one session at once.
//
// "make torture" runs it at length, part by part, each with a table; without TORTURE in the environment each part is a short
// one, for the ordinary test run. What stands between a client and the truth here is real: the program as it is given
// to people, PostgreSQL from the system's packages, the kernel's own errors.
package torture_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/columns"
)

// long reports whether this is "make torture".
func long() bool { return os.Getenv("TORTURE") != "" }

// many is how often something is done: few in an ordinary run, and else what the environment says, or a default.
func many(name string, few, def int) int {
	if !long() {
		return few
	}
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return def
}

// built is the program, built once for all parts that need it.
var built = sync.OnceValues(func() (string, error) {
	if p := os.Getenv("TORTURE_PROGRAM"); p != "" {
		return p, nil
	}
	folder, err := os.MkdirTemp("", "torture-bin-")
	if err != nil {
		return "", err
	}
	release := exec.Command("scripts/release", folder)
	release.Dir = filepath.Join("..", "..", "..")
	if out, err := release.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("build the program: %w: %s", err, out), os.RemoveAll(folder))
	}
	return filepath.Join(folder, "tidemark"), nil
})

func TestMain(m *testing.M) {
	if os.Getenv(watchURL) != "" {
		os.Exit(beWatchers())
	}
	code := m.Run()
	if p, err := built(); err == nil && os.Getenv("TORTURE_PROGRAM") == "" {
		_ = os.RemoveAll(filepath.Dir(p)) // a folder of this run alone
	}
	os.Exit(code)
}

// say shows how far a long run is.
func say(format string, args ...any) {
	if long() {
		fmt.Printf(time.Now().Format("15:04:05 ")+format+"\n", args...)
	}
}

// table shows what a part did.
func table(t testing.TB, title string, head []string, rows [][]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("\n" + title + "\n")
	if err := columns.Write(&b, append([][]string{head}, rows...)); err != nil {
		t.Fatal(err)
	}
	if long() {
		fmt.Println(b.String())
		return
	}
	t.Log(b.String())
}

// faults are what went wrong, found by anybody at any time.
type faults struct {
	mu   sync.Mutex
	list []string
}

func (f *faults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, fmt.Sprintf(format, args...))
	say("VIOLATION %s", f.list[len(f.list)-1])
}

// none fails the test where there are any.
func (f *faults) none(t testing.TB) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.list) > 0 {
		t.Errorf("%d violations:\n%s", len(f.list), strings.Join(f.list[:min(len(f.list), 20)], "\n"))
	}
}

func (f *faults) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.list)
}
