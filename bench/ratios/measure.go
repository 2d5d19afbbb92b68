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

// compare alternates between both sides, after one round that does not count, and gives
// the median of ours over theirs.
func compare(ours, theirs side) (float64, error) {
	var quotients []float64
	for i := range rounds + 1 {
		a, err := ours()
		if err != nil {
			return 0, err
		}
		b, err := theirs()
		if err != nil {
			return 0, err
		}
		if b <= 0 {
			return 0, fmt.Errorf("compare: the other side took %v ns", b)
		}
		if i > 0 {
			quotients = append(quotients, a/b)
		}
	}
	slices.Sort(quotients)
	return quotients[len(quotients)/2], nil
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
