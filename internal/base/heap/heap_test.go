package heap_test

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/heap"
)

func TestALargeHeapGrowsByASmallerShare(t *testing.T) {
	for live, want := range map[uint64]int64{0: 26, 16: 42, 96: 122, 100: 126, 400: 458} {
		if got := heap.Limit(live << 20); got != want<<20 {
			t.Errorf("%d MiB in use: got %d MiB, want %d", live, got>>20, want)
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
	small := debug.SetMemoryLimit(-1)
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
