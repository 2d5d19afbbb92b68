package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// rounds is how often each comparison is measured; odd, so that there is a middle.
const rounds = 7

// side measures one side of a comparison once, in nanoseconds per operation.
type side func() (float64, error)

// result is what a comparison gave: the medians of both sides, in nanoseconds, and of
// the quotient of each round.
type result struct{ ours, theirs, ratio float64 }

// compare alternates between both sides, after one round that does not count.
func compare(ours, theirs side) (result, error) {
	var all [3][]float64
	for i := range rounds + 1 {
		a, err := ours()
		if err != nil {
			return result{}, err
		}
		b, err := theirs()
		if err != nil {
			return result{}, err
		}
		if b <= 0 {
			return result{}, fmt.Errorf("compare: the other side took %v ns", b)
		}
		if i > 0 {
			all[0], all[1], all[2] = append(all[0], a), append(all[1], b), append(all[2], a/b)
		}
	}
	return result{median(all[0]), median(all[1]), median(all[2])}, nil
}

// rates turns a quotient of times into one of rates: ours per second over theirs.
func rates(r result, err error) (result, error) {
	if err == nil {
		r.ratio = 1 / r.ratio
	}
	return r, err
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// run is one benchmark as a side.
func run(f func(b *testing.B)) side {
	return func() (float64, error) {
		r := testing.Benchmark(f)
		if r.N == 0 {
			return 0, errors.New("the benchmark failed")
		}
		return float64(r.T.Nanoseconds()) / float64(r.N), nil
	}
}

// clients is how many sessions or connections are busy at once.
const clients = 64

// together runs op from as many goroutines as there are clients; each has its number.
func together(b *testing.B, op func(client int) error) {
	numbers := make(chan int, 2*clients)
	for i := range cap(numbers) {
		numbers <- i
	}
	b.SetParallelism(max(1, clients/procs()))
	b.RunParallel(func(pb *testing.PB) {
		n := <-numbers
		for pb.Next() {
			if err := op(n); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
