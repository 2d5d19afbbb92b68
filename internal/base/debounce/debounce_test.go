package debounce_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/internal/base/debounce"
)

// done notes what was done, in order.
type done struct {
	mu   sync.Mutex
	keys []string
}

func (d *done) do(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys = append(d.keys, key)
}

func (d *done) list() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(slices.Values(d.keys))
}

func TestItIsDoneOnceForAllWhoAskedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d done
		g := debounce.New(time.Second, d.do)
		for range 3 {
			g.Ask("a")
		}
		g.Ask("b")
		if got := d.list(); got != nil {
			t.Fatalf("it was done at once: %v", got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := d.list(); !slices.Equal(got, []string{"a", "b"}) {
			t.Fatalf("got %v", got)
		}
		g.Ask("a")
		time.Sleep(time.Second)
		synctest.Wait()
		if got := d.list(); !slices.Equal(got, []string{"a", "a", "b"}) {
			t.Errorf("who asks later: got %v", got)
		}
	})
}

func TestTheEndForgetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d done
		g := debounce.New(time.Hour, d.do)
		g.Ask("a")
		g.Close()
		if got := d.list(); !slices.Equal(got, []string{"a"}) {
			t.Fatalf("got %v", got)
		}
		g.Ask("b")
		if got := d.list(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("after the end: got %v", got)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := d.list(); len(got) != 2 {
			t.Errorf("it was done twice: %v", got)
		}
	})
}
