package memlimit_test

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/memlimit"
)

func TestALargeHeapGrowsByASmallerShare(t *testing.T) {
	for live, want := range map[uint64]int64{0: 26, 16: 42, 96: 152, 100: 158, 400: 608} {
		if got := memlimit.Limit(live<<20, 0); got != want<<20 {
			t.Errorf("%d MiB in use: got %d MiB, want %d", live, got>>20, want)
		}
	}
}

// The collector is told the same as a part of what it looks through.
func TestTheCollectorIsToldAShare(t *testing.T) {
	for _, x := range []struct {
		live, beside, scanned uint64
		want                  int
	}{{0, 0, 0, 400}, {2, 0, 3, 400}, {9, 0, 9, 200}, {16, 0, 18, 100}, {400, 0, 400, 50}, {16, 200, 50, 200}} {
		if got := memlimit.Percent(x.live<<20, x.beside<<20, x.scanned<<20); got != x.want {
			t.Errorf("%d MiB in use, %d beside it, %d looked through: got %d %%, want %d", x.live, x.beside, x.scanned, got, x.want)
		}
	}
}

// settled is the limit once nothing is left of what other tests took.
func settled() int64 {
	for last, same := int64(0), 0; ; {
		runtime.GC()
		time.Sleep(10 * time.Millisecond) // what follows a collection runs beside it
		now := debug.SetMemoryLimit(-1)
		if same++; max(now-last, last-now) > 1<<20 {
			last, same = now, 0
		}
		if same == 5 {
			return now
		}
	}
}

// begin has the limit kept until the test ends, and says what it is before anything was taken.
func begin(t *testing.T) (small int64) {
	t.Helper()
	before := debug.SetGCPercent(100)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		debug.SetGCPercent(before)
		debug.SetMemoryLimit(math.MaxInt64)
	})
	memlimit.Keep(ctx)
	return settled()
}

// grows waits until the limit is so much larger.
func grows(t *testing.T, small, by int64) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for debug.SetMemoryLimit(-1) < small+by {
		runtime.GC()
		runtime.Gosched() // what follows a collection runs beside it
		if time.Now().After(deadline) {
			t.Fatalf("with %d MiB more in use the limit is %d MiB, was %d", by>>20, debug.SetMemoryLimit(-1)>>20, small>>20)
		}
	}
}

func TestTheLimitFollowsTheHeap(t *testing.T) {
	small := begin(t)
	held := make([]byte, 256<<20)
	grows(t, small, 256<<20)
	runtime.KeepAlive(held)
}

// What is beside the heap takes nothing of the heap's room: where thousands of connections are open, their stacks do.
func TestStacksTakeNothingFromTheHeap(t *testing.T) {
	for beside, want := range map[uint64]int64{0: 42, 6: 42, 30: 66, 200: 318} {
		if got := memlimit.Limit(16<<20, beside<<20); got != want<<20 {
			t.Errorf("%d MiB beside it: got %d MiB, want %d", beside, got>>20, want)
		}
	}
}

func TestTheLimitFollowsTheStacks(t *testing.T) {
	small, gone := begin(t), make(chan struct{})
	defer close(gone)
	var deep sync.WaitGroup
	for range 2000 {
		deep.Add(1)
		go func() {
			var frame [32 << 10]byte
			wait(&frame, &deep, gone)
		}()
	}
	deep.Wait()
	grows(t, small, 64<<20)
}

// wait has its stack hold what it is given for as long as it takes.
//
//go:noinline
func wait(frame *[32 << 10]byte, there *sync.WaitGroup, gone <-chan struct{}) {
	frame[0]++
	there.Done()
	<-gone
	frame[1]++
}

// Holes are what others left free between what is in use: they go to nobody until what is beside them goes too. Where they took the
// heap's room, a server that let many conversations go did nothing but collect.
func TestHolesTakeNothingFromTheHeap(t *testing.T) {
	begin(t)
	const size, every = 128, 8
	kept := make([]*[size]byte, 0, 1<<20/every)
	for i := range 1 << 20 {
		if one := new([size]byte); i%every == 0 {
			kept = append(kept, one)
		} else {
			last = one
		}
		if i == 0 {
			debug.SetGCPercent(-1) // until all of them are there
			debug.SetMemoryLimit(math.MaxInt64)
		}
	}
	debug.SetGCPercent(400)
	settled()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const made = 128 << 20
	for range made / 1024 {
		last = new([1024]byte)
	}
	runtime.ReadMemStats(&after)
	if got := after.NumGC - before.NumGC; got > made/(8<<20) {
		t.Errorf("the collector ran %d times while %d MiB were made beside holes of %d MiB", got, made>>20, (before.HeapInuse-before.HeapAlloc)>>20)
	}
	runtime.KeepAlive(kept)
}

var last any // what was made last, so that it is made
