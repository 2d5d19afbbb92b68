package backoff_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/backoff"
)

func TestPausesGrowToTheirBound(t *testing.T) {
	for _, g := range []backoff.Growing{{}, {First: time.Second, Most: 30 * time.Second}, {First: time.Microsecond, Most: time.Microsecond}} {
		first, most := g.First, g.Most
		if first == 0 {
			first, most = 500*time.Millisecond, time.Minute
		}
		for range 2 {
			want := first
			for i := range 40 {
				got := g.Next()
				if got < want/2 || got > want+want/2 {
					t.Fatalf("pause %d of %+v is %s, want about %s", i, g, got, want)
				}
				want = min(want+want/2+1, most)
			}
			g.Reset()
		}
	}
}
