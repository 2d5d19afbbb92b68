package heap_test

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/heap"
)

func TestALargeHeapGrowsByASmallerShare(t *testing.T) {
	for live, want := range map[uint64]int64{0: 26, 16: 42, 96: 122, 100: 126, 400: 458} {
		if got := heap.Limit(live<<20, 0); got != want<<20 {
			t.Errorf("%d MiB in use: got %d MiB, want %d", live, got>>20, want)
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

func TestTheLimitFollowsTheHeap(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer func() {
		debug.SetGCPercent(before)
		debug.SetMemoryLimit(math.MaxInt64)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heap.Keep(ctx)
	small := settled()
	held := make([]byte, 256<<20)
	deadline := time.Now().Add(20 * time.Second)
	for debug.SetMemoryLimit(-1) < small+256<<20 {
		runtime.GC()
		runtime.Gosched() // what follows a collection runs beside it
		if time.Now().After(deadline) {
			t.Fatalf("with 256 MiB more in use the limit is %d MiB, was %d", debug.SetMemoryLimit(-1)>>20, small>>20)
		}
	}
	runtime.KeepAlive(held)
}

// What is beside the heap takes nothing of the heap's room: where thousands of connections are open, their stacks do.
func TestStacksTakeNothingFromTheHeap(t *testing.T) {
	for beside, want := range map[uint64]int64{0: 42, 6: 42, 30: 66, 200: 318} {
		if got := heap.Limit(16<<20, beside<<20); got != want<<20 {
			t.Errorf("%d MiB beside it: got %d MiB, want %d", beside, got>>20, want)
		}
	}
}

func TestTheLimitFollowsTheStacks(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer func() {
		debug.SetGCPercent(before)
		debug.SetMemoryLimit(math.MaxInt64)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heap.Keep(ctx)
	small, gone := settled(), make(chan struct{})
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
	deadline := time.Now().Add(20 * time.Second)
	for debug.SetMemoryLimit(-1) < small+64<<20 {
		runtime.GC()
		runtime.Gosched() // what follows a collection runs beside it
		if time.Now().After(deadline) {
			t.Fatalf("with 64 MiB of stacks the limit is %d MiB, was %d", debug.SetMemoryLimit(-1)>>20, small>>20)
		}
	}
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
