//go:build unix

// Package growth_test doubles every kind of input at every door of a whole server, and fails where the work for it grows faster than the
// input does.
//
// What is measured is the time of processors that this process was given, client, server and upstreams together: waiting, and other programs,
// count for nothing. Only the ratio of sizes within one run is held against a bound, never a time. A size is measured several times
// and the least counts; a curve that is too steep is measured again before it fails. "make torture" goes on to sizes of megabytes.
package growth_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// steepest is how steep a curve may be: 1 is linear, 2 quadratic. Between the two are sorting, stacks that grow, caches that are too small for what
// is large, and noise.
const steepest = 1.5

// thorough reports whether this is "make torture".
var thorough = os.Getenv("TORTURE") != ""

// How large inputs become: until the work is well above what a request of that kind takes anyway, or the input has so many bytes.
var enough, widest = func() (time.Duration, int) {
	if thorough {
		return time.Second, 4 << 20
	}
	return 12 * time.Millisecond, 128 << 10
}()

// few are those of some kinds that every door tries in an ordinary run; "make torture" tries all of them everywhere.
func few[V any](all map[string]V, names ...string) map[string]V {
	if thorough {
		return all
	}
	out := map[string]V{}
	for _, name := range names {
		out[name] = all[name]
	}
	return out
}

// processor is what this process was given of processors.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// input is something that is made ready, and then done. Its size is in bytes.
type input struct {
	size int
	act  func()
}

// kinds are kinds of input, of n parts each.
type kinds map[string]func(n int) input

// texts are kinds of text, each sent by the same way.
func texts(all map[string]func(n int) string, send func(text string)) kinds {
	out := kinds{}
	for name, of := range all {
		out[name] = func(n int) input {
			text := of(n)
			return input{len(text), func() { send(text) }}
		}
	}
	return out
}

// point is what an input of some size took.
type point struct {
	n    int
	took time.Duration
}

// curve measures inputs of growing size: up to larger ones, and more often, where that was done before and did not tell.
func curve(of func(n int) input, again int) []point {
	var out []point
	size := -1
	of(1).act() // what is done once, the first time
	by := 4
	if thorough {
		by = 2
	}
	for n := 1; ; n *= by {
		in := of(n)
		if n > 1 && (in.size > widest<<again || in.size == size || out[len(out)-1].took > enough<<(3*again)) {
			return out
		}
		size = in.size
		out = append(out, point{n, least(1+2*again, n, of)})
		if n == 1 {
			n = 16
		}
	}
}

// least is the least of several measures. The collector runs between them, and not in them.
func least(times, n int, of func(n int) input) time.Duration {
	out := time.Duration(math.MaxInt64)
	for range times {
		in := of(n)
		runtime.GC()
		percent := debug.SetGCPercent(-1)
		before := processor()
		in.act()
		out = min(out, processor()-before)
		debug.SetGCPercent(percent)
	}
	return out
}

// steep is the exponent of a curve, from where it is above what any request takes to its highest point: 0 where it is not far above that, as what is
// bounded is.
func steep(all []point) float64 {
	byTime := func(a, b point) int { return cmp.Compare(a.took, b.took) }
	any, top := slices.MinFunc(all, byTime).took, slices.MaxFunc(all, byTime)
	if top.took-any < enough/3 {
		return 0
	}
	for _, p := range all {
		if over := p.took - any; over > max(any, time.Millisecond) {
			if top.n < 4*p.n { // too few points to tell
				return 0
			}
			return math.Log(float64(top.took-any)/float64(over)) / math.Log(float64(top.n)/float64(p.n))
		}
	}
	return 0
}

// linear fails where any of the kinds grows faster than its input does.
func linear(t *testing.T, all kinds) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			var points []point
			for again := range 3 { // most are told by the first; what grows only up to a bound is told by larger inputs
				if points = curve(all[name], again); steep(points) <= steepest {
					t.Logf("%.2f%s", steep(points), shown(points))
					return
				}
			}
			t.Errorf("grows by the power of %.2f:%s", steep(points), shown(points))
		})
	}
}

func shown(all []point) string {
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, " %d:%.1fms", p.n, float64(p.took.Microseconds())/1000)
	}
	return b.String()
}

// numbered is n parts, each with its number.
func numbered(n int, part string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(part, "#", fmt.Sprint(i)))
	}
	return b.String()
}
