package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store"
)

// countingLog counts how often the log is read.
type countingLog struct {
	httpapi.Log
	reads atomic.Int64
}

func (c *countingLog) Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	c.reads.Add(1)
	return c.Log.Since(ctx, q)
}

// HOOK-17: however many watch, a record is read once for all of them, and those who did not ask for it are not even woken.
func TestWatchersShareOneReader(t *testing.T) {
	counted := &countingLog{}
	w := open(t, "", func(o *httpapi.Options) { counted.Log = o.Log; o.Log = counted })
	const watchers, records = 20, 30
	var all []*listener
	for i := range watchers {
		query := ""
		if i > 0 {
			query = "?kind=trust.reset"
		}
		all = append(all, w.listen(t, query, ""))
	}
	w.say("first", "Hello.")
	all[0].next() // everybody has caught up, or will by reading twice at most
	before := counted.reads.Load()
	for i := range records {
		w.say(fmt.Sprint("s", i), "Hello.")
		all[0].next()
	}
	if n := counted.reads.Load() - before; n > 3*records+2*watchers {
		t.Errorf("%d records were read %d times for %d watchers", records, n, watchers)
	}
	w.call(adminToken, http.MethodPost, "/v1/sessions/s1/reset-trust", "{}")
	for i, l := range all[1:] {
		if e := l.next(); e.data["kind"] != "trust.reset" {
			t.Errorf("watcher %d got %v", i+1, e.data)
		}
	}
}
