package pins_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/pins"
)

// A server beside others hears of what they hold and accept before it lets a call through, not when it next lists.
// MCP-25, BEY-10
func TestAServerBesideOthersKnowsWhatTheyHoldAndAccept(t *testing.T) {
	here := open(t, pins.First)
	here.opts.Shared = true
	here.again()
	there := &rig{t: t, store: here.store, opts: here.opts}
	there.again()
	here.want("at first", here.lists(read), "read_file")
	if why := there.refused("read_file"); why != "" {
		t.Fatalf("what another server saw first: %s", why)
	}
	there.want("a change seen there", there.lists(strings.Replace(read, "Reads", "Steals", 1)))
	if why := here.refused("read_file"); !strings.Contains(why, "not what was accepted") {
		t.Fatalf("a call here: got %q, want it refused", why)
	}
	seen, err := here.Await(t.Context(), files, -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := there.accepts("read_file"); err != nil {
		t.Fatal(err)
	}
	if n, err := here.Await(t.Context(), files, seen); err != nil || n == seen {
		t.Errorf("who waits here is not told what was accepted there: %d, %v", n, err)
	}
	if why := here.refused("read_file"); why != "" {
		t.Errorf("after the acceptance: %s", why)
	}
}

// A log that can no longer be read lets nothing through.
func TestACallIsNotLetThroughOnALogThatCannotBeRead(t *testing.T) {
	r := open(t, pins.First)
	log := &unread{Store: r.store}
	r.opts.Store, r.opts.Shared = log, true
	r.again()
	r.lists(read)
	log.broken = true
	if why, err := r.Call(t.Context(), files, "read_file"); err == nil {
		t.Errorf("got %q and no error", why)
	}
}

// unread is a log that stops answering.
type unread struct {
	engine.Store
	broken bool
}

func (u *unread) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	if u.broken {
		return func(yield func(audit.Record, error) bool) { yield(audit.Record{}, engine.ErrUnavailable) }
	}
	return u.Store.Load(ctx, session, after)
}
