// Package sdkcompat_test lets the official clients of the model providers judge the proxy:
// they are what it must satisfy, and nobody here wrote them. It is a package of tests
// only. The Go clients of this module run with every test run, against an upstream that
// does what none should; under the build tag "judges" (scripts/judges) those of npm and
// the Go client of Gemini join in, and a mock upstream made by others.
//
// Whatever the upstream does: no client hangs, nothing of the proxy is left running, no
// client is given a call that was not allowed, and text arrives as it was sent.
package sdkcompat_test

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// panel is who judges; TestMain fills it once.
var panel struct {
	judges []judge
	other  *elsewhere
	busy   float64 // the most seen so far of how much longer things take than they would alone
}

func TestMain(m *testing.M) {
	before := goleak.IgnoreCurrent()
	other, err := openElsewhere()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	panel.other, panel.judges = other, append(inProcess(), other.judges...)
	code := m.Run()
	if err := other.close(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the clients:", err)
		code = max(code, 1)
	}
	if err := goleak.Find(before); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// modes are how an answer can be asked for.
var modes = []struct {
	name   string
	stream bool
}{{"whole", false}, {"streamed", true}}

// What clients get of time in ms, on a machine that has nothing else to do.
const (
	deadline = 40_000 // of every client
	soon     = 15_000 // no client may take longer by itself
)

// inNoHurry is a time on this machine as busy as it was seen to be: a client that is given a tenth of a
// processor does not hang because it takes ten times as long.
func inNoHurry(ms int) int { return int(float64(ms) * max(1, panel.busy)) }

// tools are offered in every conversation; policy refuses the last.
var tools = []string{"look", "note", "wire"}

// atOnce bounds how many conversations run side by side.
func atOnce() int { return min(8, 2*runtime.NumCPU()) }

// each runs do for all inputs, some side by side, and keeps their order.
func each[T, R any](list []T, do func(T) R) []R {
	panel.busy = max(panel.busy, busy())
	out := make([]R, len(list))
	places := make(chan struct{}, atOnce())
	var running sync.WaitGroup
	for i, v := range list {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			out[i] = do(v)
		})
	}
	running.Wait()
	return out
}

// wellBehaved fails the test where a client hung or contradicts itself.
func wellBehaved(t *testing.T, r result) {
	t.Helper()
	if r.Expired || r.MS > inNoHurry(soon) {
		t.Errorf("%s: took %d ms, deadline passed: %v", r.ID, r.MS, r.Expired)
	}
	if r.Error != nil && r.Error.Kind == "rig" {
		t.Errorf("%s: %s", r.ID, r.Error.Message)
	}
	for i, round := range r.Rounds {
		if round.Whole && round.Text != round.Final {
			t.Errorf("%s, answer %d: the deltas say %q, the whole %q", r.ID, i, round.Text, round.Final)
		}
	}
	if r.Stray > 0 {
		t.Errorf("%s: %d errors that no program could catch", r.ID, r.Stray)
	}
}
