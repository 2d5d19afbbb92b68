package torture_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// injected are errors that the kernel gives to the server's own calls, by strace. Those of the whole process are hit: the log, its write-ahead
// log and the file beside it. strace counts calls of each thread by itself, and the server has several.
var injected = []struct {
	name, calls, rule string
	fails             bool // something must be refused
}{
	{"every 4th fsync fails (EIO)", "fsync,fdatasync", "error=EIO:when=3+4", true},
	{"every 9th write fails (EIO)", "pwrite64", "error=EIO:when=80+9", true},
	{"every 11th write finds the disk full (ENOSPC)", "pwrite64", "error=ENOSPC:when=80+11", true},
	{"writes fail for a while (ENOSPC)", "pwrite64", "error=ENOSPC:when=80..200", true},
	{"the disk turns read-only for a while (EROFS)", "pwrite64", "error=EROFS:when=80..200", true},
	{"every fsync takes 50 ms longer", "fsync,fdatasync", "delay_enter=50000", false},
}

// SEQ-09 BEY-12: a disk that fails, is full, slow or read-only has calls refused and loses nothing that was acknowledged, and neither does
// a crash in the middle of it.
func TestDisk(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace here (Debian: apt-get install strace)")
	}
	cycles := many("TORTURE_ROUNDS", 1, 10)
	f, dice := &faults{}, rand.New(rand.NewPCG(rand.Uint64(), 0))
	var rows [][]string
	for _, fault := range injected {
		if !long() && fault.rule != injected[2].rule {
			continue
		}
		began := time.Now()
		g := newSiege(newHouse(t, ""), f, dice.Uint64N(1e6))
		g.house.must(t).kill() // the log is there before anything fails
		// So many the crashes alone cost; where the dice gave a server hardly anything to do, it is tried again.
		tried := func(n int) bool { return !fault.fails || g.fails.Load() > int64(crowd*n) }
		n := 0
		for ; n < cycles || !tried(n) && n < cycles+20; n++ {
			g.house.under = []string{
				strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + fault.calls, "-e", "inject=" + fault.calls + ":" + fault.rule,
			}
			if err := g.cycle(t, dice); err != nil && !long() {
				t.Logf("%s: %v", fault.name, err) // a start may fail, and says why
			}
			g.house.under = nil
			s := g.house.must(t)
			if err := g.look(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			s.kill()
			if err := g.examine(t.Context(), true); err != nil {
				t.Fatal(err)
			}
		}
		if !tried(n) {
			t.Errorf("%s: only %d acts failed, so nothing was tried", fault.name, g.fails.Load())
		}
		say("%s: %d acknowledged, %d not", fault.name, g.acked.Load(), g.fails.Load())
		rows = append(rows, []string{
			fault.name, strconv.Itoa(n), strconv.FormatInt(g.acked.Load(), 10), strconv.FormatInt(g.fails.Load(), 10), strconv.FormatInt(g.log.after, 10),
			time.Since(began).Round(time.Second).String(), strconv.Itoa(f.count()),
		})
	}
	table(t, "disk faults, and kill -9 after each", []string{"fault", "cycles", "acknowledged", "refused or unknown", "records", "took", "violations"}, rows)
	f.none(t)
}

// SEQ-09 BEY-12: a disk that is full refuses everything, says so, and goes on when there is room again.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	f, dice := &faults{}, rand.New(rand.NewPCG(rand.Uint64(), 0))
	g := newSiege(newHouse(t, ""), f, dice.Uint64N(1e6))
	data := filepath.Join(disk, "data")
	if err := os.CopyFS(data, os.DirFS(g.house.data)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(data, "tokens.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.house.data = data
	s := g.house.must(t)
	for round := range many("TORTURE_ROUNDS", 1, 5) {
		pressFor(t, g, s, time.Second/2)
		fill(t, filepath.Join(disk, "filling"))
		pressFor(t, g, s, time.Second)
		if err := s.call(t.Context(), http.MethodGet, "/readyz", nil, nil); err == nil {
			t.Error("the disk is full, and the server says that it can decide")
		}
		if err := s.call(t.Context(), http.MethodGet, "/healthz", nil, nil); err != nil {
			t.Errorf("the process lives and says it does not: %v", err)
		}
		if err := os.Remove(filepath.Join(disk, "filling")); err != nil {
			t.Fatal(err)
		}
		if err := ready(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if err := g.look(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if err := g.examine(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		say("round %d: %d acknowledged, %d not", round+1, g.acked.Load(), g.fails.Load())
	}
	f.none(t)
	if g.fails.Load() == 0 {
		t.Error("nothing was refused while the disk was full")
	}
}

// fill leaves no room on a disk.
func fill(t testing.TB, file string) {
	t.Helper()
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for size := 64 << 10; size > 0; size /= 2 {
		for err = error(nil); err == nil; {
			_, err = out.Write(make([]byte, size))
		}
	}
}

func pressFor(t testing.TB, g *siege, s *server, d time.Duration) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	g.press(ctx, s)
}
