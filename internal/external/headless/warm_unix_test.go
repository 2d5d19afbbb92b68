//go:build unix

package headless_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/headless"
	"github.com/tidemark/tidemark/internal/test/headlesstest"
)

// ready is a prompt of the kind that programs are made ready for.
var ready = auditor.Prompt{System: "instructions-7", User: "words-7 Mail Petra", Schema: `{"type":"object"}`, Kind: auditor.KindContract}

// runs are the folders of runs that are there, once there are so many and one of them waits, or none.
func runs(t *testing.T, p *headless.Program, folder string, want int) []string {
	t.Helper()
	for { // the test's own time limit ends this
		list, _ := filepath.Glob(filepath.Join(folder, "run-*"))
		if len(list) == want && p.Waits() == (want > 0) {
			return list
		}
		time.Sleep(time.Millisecond)
	}
}

// MAN-12: a program is started before there are words, has seen none while it waits, answers one message, and the next one waits then.
func TestAProgramIsStartedAhead(t *testing.T) {
	p, folder, _ := made(t, "good")
	p.Warm(ready)
	p.Warm(ready) // one is enough
	first := runs(t, p, folder, 1)[0]
	for range 3 {
		if got, err := p.Ask(t.Context(), ready); err != nil || got.Text != contract {
			t.Fatalf("Ask = %+v, %v", got, err)
		}
		next := runs(t, p, folder, 1)[0]
		if next == first {
			t.Error("one run answers two messages")
		}
		first = next
	}
	if got, err := p.Ask(t.Context(), prompt); err != nil || got.Text != contract || runs(t, p, folder, 1)[0] != first {
		t.Errorf("a prompt of another kind: %+v, %v", got, err)
	}
	other := ready
	other.System = "instructions-8"
	if got, err := p.Ask(t.Context(), other); err != nil || got.Text != contract || runs(t, p, folder, 1)[0] != first {
		t.Errorf("other instructions are no business of the one that waits: %+v, %v", got, err)
	}
	p.Close()
	runs(t, p, folder, 0)
	p.Warm(ready)
	if _, err := p.Ask(t.Context(), ready); err != nil {
		t.Errorf("closed, it still answers what it is asked: %v", err)
	}
	runs(t, p, folder, 0)
}

// MAN-12: twenty at once: one of them has the run that waits, and no answer is another's.
func TestTwentyAtOnceWithOneAhead(t *testing.T) {
	p, folder, _ := made(t, "good")
	defer p.Close()
	p.Warm(ready)
	runs(t, p, folder, 1)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := p.Ask(t.Context(), ready); err != nil || got.Text != contract {
				t.Errorf("Ask = %+v, %v", got, err)
			}
		})
	}
	wg.Wait()
	runs(t, p, folder, 1)
}

// MAN-12: nobody who waits is left behind: it ends when no message comes, when the program was changed, and one that died is not asked.
func TestWhatWaitsEnds(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		p, folder, _ := madeWith(t, "good", func(o *headless.Options) { o.Idle = time.Millisecond })
		defer p.Close()
		p.Warm(ready)
		runs(t, p, folder, 0)
		if got, err := p.Ask(t.Context(), ready); err != nil || got.Text != contract {
			t.Errorf("Ask = %+v, %v", got, err)
		}
	})
	t.Run("changed", func(t *testing.T) {
		p, folder, answer := made(t, "good")
		defer p.Close()
		p.Warm(ready)
		runs(t, p, folder, 1)
		headlesstest.Program(t, filepath.Dir(answer), "claude", "tools", answer)
		if _, err := p.Ask(t.Context(), ready); err == nil || !strings.Contains(err.Error(), "not tried") {
			t.Errorf("Ask: %v, want it refused", err)
		}
		runs(t, p, folder, 0)
	})
	t.Run("killed", func(t *testing.T) {
		p, folder, answer := made(t, "where")
		defer p.Close()
		if err := os.Remove(answer + ".pid"); err != nil { // of its trial
			t.Fatal(err)
		}
		p.Warm(ready)
		runs(t, p, folder, 1)
		var pid int
		for pid == 0 { // until it has said who it is
			text, _ := os.ReadFile(answer + ".pid")
			_, _ = fmt.Sscan(string(text), &pid)
			time.Sleep(time.Millisecond)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			time.Sleep(time.Millisecond)
		}
		for tries := 0; ; tries++ { // its end may not be known yet: then the message is one that failed
			got, err := p.Ask(t.Context(), ready)
			if err == nil && got.Text == contract {
				break
			}
			if tries > 1 {
				t.Fatalf("Ask = %+v, %v", got, err)
			}
		}
	})
	t.Run("left by a server that was killed", func(t *testing.T) {
		p, folder, _ := made(t, "good")
		defer p.Close()
		old, young := filepath.Join(folder, "run-old"), filepath.Join(folder, "run-young")
		for _, dir := range []string{old, young} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		long := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(old, long, long); err != nil {
			t.Fatal(err)
		}
		p.Warm(ready)
		for _, err := os.Stat(old); err == nil; _, err = os.Stat(old) {
			time.Sleep(time.Millisecond)
		}
		if _, err := os.Stat(young); err != nil {
			t.Error("what another run may use is gone")
		}
	})
}

// A program that is started otherwise than it was tried is not asked.
//
// MAN-12
func TestAnotherWayToStartIsTriedAgain(t *testing.T) {
	p, _, _ := madeWith(t, "good", func(o *headless.Options) { o.Proof.Revision-- })
	if _, err := p.Ask(t.Context(), prompt); err == nil || !strings.Contains(err.Error(), "started otherwise") {
		t.Errorf("Ask: %v, want it refused", err)
	}
}
