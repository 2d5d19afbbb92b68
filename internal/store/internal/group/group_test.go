package group_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/store/internal/group"
)

// first notes how many turns others had had when something was committed.
type first struct {
	turns *atomic.Int64
	at    chan int64
}

func (f first) Commit([]*group.Request) error {
	select {
	case f.at <- f.turns.Load():
	default:
	}
	return nil
}
func (first) Alone(error) bool { return false }
func (first) Taken(error) bool { return false }
func (first) End()             {}

// Where very many want a processor, and each brings something, a record is written when each of them had it about once; it does
// not wait until nothing more comes.
func TestTheWriterStandsBehindOthersOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const others = 20
	turns := &atomic.Int64{}
	f := first{turns: turns, at: make(chan int64, 1)}
	w := group.New(f)
	var all sync.WaitGroup
	done := make(chan struct{})
	for range others {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				for began := time.Now(); time.Since(began) < time.Millisecond; { // it has work to do
				}
				turns.Add(1)
				_ = w.Put(t.Context(), &group.Request{}) // nobody waits for it here
				runtime.Gosched()
			}
		})
	}
	go w.Run()
	if had := <-f.at; had > 3*others {
		t.Errorf("others had %d turns before anything was written, of %d who want one", had, others)
	}
	close(done)
	w.Close()
	all.Wait()
}

// What is put while a batch is written goes into the next one, whole.
func TestWhatComesMeanwhileIsWrittenTogether(t *testing.T) {
	seen := make(chan int, 4)
	hold := make(chan struct{})
	w := group.New(slow{seen, hold})
	go w.Run()
	var all sync.WaitGroup
	put := func() {
		r := &group.Request{}
		if err := w.Put(context.Background(), r); err != nil {
			t.Error(err)
		}
		all.Go(func() {
			if err := w.Wait(r); err != nil {
				t.Error(err)
			}
		})
	}
	put()
	if n := <-seen; n != 1 {
		t.Fatalf("the first batch has %d requests, want 1", n)
	}
	for range 5 {
		put()
	}
	close(hold)
	if n := <-seen; n != 5 {
		t.Errorf("the second batch has %d requests, want 5", n)
	}
	all.Wait()
	w.Close()
}

type slow struct {
	seen chan int
	hold chan struct{}
}

func (s slow) Commit(batch []*group.Request) error {
	s.seen <- len(batch)
	<-s.hold
	return nil
}
func (slow) Alone(error) bool { return false }
func (slow) Taken(error) bool { return false }
func (slow) End()             {}
