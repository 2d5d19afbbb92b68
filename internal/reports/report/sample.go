package report

import (
	"math"
	"slices"
)

// How many values are kept; up to so many, quantiles are exact.
const (
	maxSample     = 10_000 // of a report
	maxPartSample = 1_000  // of a part, of which there are many
)

// sample keeps values: all of them or, of more, each with the same chance. The draw is
// the same each time: a report of the same log is the same report.
type sample struct {
	seen uint64
	kept []int64
	draw uint64
}

func (s *sample) add(v int64) {
	s.seen++
	if len(s.kept) < maxPartSample {
		s.kept = append(s.kept, v)
		return
	}
	if at := s.next() % s.seen; at < maxPartSample {
		s.kept[at] = v
	}
}

// join adds another sample. Where there is no room for all of both, or one of them stands for more than it kept, each gives as many as
// it stands for, evenly from the least to the most.
func (s *sample) join(o *sample, most int) {
	all := s.seen + o.seen
	if o.seen == 0 {
		return
	}
	if whole := s.seen == uint64(len(s.kept)) && o.seen == uint64(len(o.kept)); whole && len(s.kept)+len(o.kept) <= most {
		s.kept, s.seen = append(s.kept, o.kept...), all
		return
	}
	room := min(most, len(s.kept)+len(o.kept))
	theirs := int(float64(room) * float64(o.seen) / float64(all))
	theirs = min(max(theirs, 1), len(o.kept))
	s.kept, s.seen = append(evenly(s.kept, min(room-theirs, len(s.kept))), evenly(o.kept, theirs)...), all
}

// evenly is n of the values, from the least to the most.
func evenly(values []int64, n int) []int64 {
	sorted := slices.Sorted(slices.Values(values))
	out := make([]int64, 0, n)
	for i := range n {
		out = append(out, sorted[(2*i+1)*len(sorted)/(2*n)])
	}
	return out
}

// next is a draw of 64 bits: a counter, mixed.
func (s *sample) next() uint64 {
	s.draw += 0x9e3779b97f4a7c15
	x := s.draw
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// quantile is the smallest value that a share q of all values does not exceed; of the
// middle of an even number, the mean of the two.
func (s *sample) quantile(q float64) int64 {
	n := len(s.kept)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s.kept))
	if q == 0.5 && n%2 == 0 {
		low, high := sorted[n/2-1], sorted[n/2]
		return low + (high-low)/2
	}
	at := int(math.Ceil(q*float64(n))) - 1
	return sorted[min(max(at, 0), n-1)]
}
