package telemetry

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tidemark/tidemark/internal/event"
)

// figures are the metrics, since the start. Labels are bounded: no caller can make more of them.
type figures struct {
	since     int64
	decisions map[verdict]int64
	tokens    map[usage]*histogram
	took      map[string]*histogram // by model
	mcp       *histogram
}

type verdict struct{ effect, kind string }

type usage struct{ model, kind string }

// maxModels bounds how many models are told apart.
const maxModels = 100

// The buckets that the conventions name.
var (
	tokenBounds = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	timeBounds  = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
)

func newFigures(now time.Time) figures {
	return figures{
		since: now.UnixNano(), decisions: map[verdict]int64{}, tokens: map[usage]*histogram{}, took: map[string]*histogram{},
		mcp: newHistogram(timeBounds),
	}
}

func (f *figures) empty() bool { return len(f.decisions) == 0 && len(f.took) == 0 }

func (f *figures) decided(d *event.Decided) { f.decisions[verdict{d.Effect, d.Kind}]++ }

func (f *figures) ran(took time.Duration) { f.mcp.add(took.Seconds()) }

func (f *figures) answered(m *event.Model) {
	name := m.Name
	if f.took[name] == nil && len(f.took) >= maxModels {
		name = "other"
	}
	if f.took[name] == nil {
		f.took[name] = newHistogram(timeBounds)
	}
	f.took[name].add(float64(m.LatencyMs) / 1000)
	for kind, n := range map[string]int64{"input": m.TokensIn, "output": m.TokensOut} {
		if n <= 0 {
			continue
		}
		at := usage{name, kind}
		if f.tokens[at] == nil {
			f.tokens[at] = newHistogram(tokenBounds)
		}
		f.tokens[at].add(float64(n))
	}
}

// histogram counts values by size.
type histogram struct {
	bounds []float64
	counts []uint64 // one more than bounds
	count  uint64
	sum    float64
}

func newHistogram(bounds []float64) *histogram {
	return &histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

func (h *histogram) add(v float64) {
	i, _ := slices.BinarySearch(h.bounds, v) // a value on a bound belongs below it, which is where it is found
	h.counts[i]++
	h.count++
	h.sum += v
}

// point is the histogram as the protocol has it.
func (h *histogram) point(since, now int64, attrs ...attr) histogramPoint {
	p := histogramPoint{
		Attributes: attrs, Start: strconv.FormatInt(since, 10), Time: strconv.FormatInt(now, 10),
		Count: strconv.FormatUint(h.count, 10), Sum: h.sum, Bounds: h.bounds,
	}
	for _, n := range h.counts {
		p.Counts = append(p.Counts, strconv.FormatUint(n, 10))
	}
	return p
}

// sorted are the keys of a map in an order that stays.
func sorted[K comparable, V any](m map[K]V, less func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(m), less)
}
