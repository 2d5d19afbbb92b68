// Package memlimit keeps the memory of a server within what it needs: a small heap may grow before
// it is collected, a large one may not grow by as much again, and what a busy hour took goes
// back to the system when nobody speaks.
//
// It reads the runtime's own figures and what the system says of its memory, and sets the collector; it does no other I/O. What it starts
// ends with its context.
package memlimit

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// At Go's default a busy server whose heap is small collects dozens of times a second, and each
// time slows what runs; where the same share is let to a heap that is large, most of the memory
// is waste.
const (
	percent = 400      // of what is in use, by which a small heap may grow
	room    = 18 << 20 // bytes by which a larger one may
	share   = 2        // and the part of it by which a very large one may: each collection looks through all of it
	other   = 8 << 20  // bytes that stacks and the runtime's own take at least
	spare   = 2 << 20  // bytes by which those may grow meanwhile
)

// Limit is how many bytes may be resident while so many of the heap are in use, and so many beside it: stacks, above all,
// of which each connection has two. What is not counted there would be taken from the heap's room, until the collector
// did nothing but run; and since it looks through all of them each time, many of them give the heap more room.
func Limit(live, beside uint64) int64 {
	return int64(live + grow(live, beside) + max(other, beside+spare)) // no machine has so much
}

// grow is by how many bytes the heap may grow before it is collected.
func grow(live, beside uint64) uint64 { return max(room, live/share, beside/2) }

// Percent says the same as the collector wants to hear it, where so many bytes of a heap are in use and it looks through so many: of
// them, and of what is beside them. It is this that has the collector run, and not the limit: to a limit what is free between things
// that are in use counts as used, and a heap with many such holes would be collected without end.
func Percent(live, beside, scanned uint64) int {
	return int(min(percent, grow(live, beside)*100/max(scanned, 1))) // at most percent
}

const (
	look  = 5 * time.Second // between two looks at whether anybody speaks
	quiet = 2 << 20         // bytes that are made between two looks where nobody does
	worth = 16 << 20        // and that must have been made since the last time
)

// Keep does so until the context ends.
func Keep(ctx context.Context) {
	debug.SetGCPercent(percent)
	p := &pace{}
	p.set()
	go func() {
		defer p.over.Store(true)
		tick := time.NewTicker(look)
		defer tick.Stop()
		made := read(allocated)
		since := made
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now := read(allocated)
			if now-made < quiet && now-since > worth {
				debug.FreeOSMemory()
				now = read(allocated)
				since = now
			}
			made = now
		}
	}()
}

// pace sets both anew each time the collector has run. Near the limit the runtime gives back what it
// has spare.
type pace struct{ over atomic.Bool }

func (p *pace) set() {
	if p.over.Load() {
		return
	}
	used, around := read(live), beside()
	held := read("/memory/classes/heap/objects:bytes") + read("/memory/classes/heap/unused:bytes")
	debug.SetGCPercent(Percent(used, around, used+read("/gc/scan/stack:bytes")+read("/gc/scan/globals:bytes")))
	debug.SetMemoryLimit(Limit(used, around) + int64(held-min(held, used))) // with the holes, as they are once all of it is swept
	type mark struct{ p *pace }
	runtime.AddCleanup(&mark{p}, func(p *pace) { p.set() }, p) // nobody holds the mark: it goes with the next collection
}

const (
	allocated = "/gc/heap/allocs:bytes"
	live      = "/gc/heap/live:bytes"
)

// beside is what the runtime has from the system and neither keeps the heap in nor has given back.
func beside() uint64 {
	n := read("/memory/classes/total:bytes")
	for _, part := range []string{"objects", "unused", "free", "released"} {
		n -= min(n, read("/memory/classes/heap/"+part+":bytes"))
	}
	return n
}

func read(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}
