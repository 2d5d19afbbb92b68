package mcptest

import (
	"context"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/store/memory"
)

// AcceptAll are Pins that keep nothing.
type AcceptAll struct{}

var _ judge.Pins = AcceptAll{}

// List implements judge.Pins.
func (AcceptAll) List(_ context.Context, _ judge.Server, _ string, result []byte) ([]byte, error) {
	return result, nil
}

// Hello implements judge.Pins.
func (AcceptAll) Hello(_ context.Context, _ judge.Server, result []byte) ([]byte, error) {
	return result, nil
}

// Same implements judge.Pins.
func (AcceptAll) Same(context.Context, judge.Server, string, []byte) (bool, error) { return false, nil }

// Call implements judge.Pins.
func (AcceptAll) Call(context.Context, judge.Server, string) (string, error) { return "", nil }

// Await implements judge.Pins. Nobody ever accepts anything.
func (AcceptAll) Await(ctx context.Context, _ judge.Server, seen int) (int, error) {
	if seen < 0 {
		return 0, nil
	}
	<-ctx.Done()
	return 0, ctx.Err()
}

// Review opens pins that accept nothing without a person.
func Review(t testing.TB) *pins.Keeper {
	t.Helper()
	k, err := pins.Open(t.Context(), pins.Options{Store: memory.New(), Now: time.Now, Mode: pins.Review})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Accept is a person who looks at everything that a server holds back, and accepts it.
func Accept(t testing.TB, k *pins.Keeper, server string) {
	t.Helper()
	v, err := k.Review(t.Context(), server, "")
	if err != nil || len(v.Items) == 0 {
		t.Fatalf("review: %+v, %v", v, err)
	}
	if _, err := k.Accept(t.Context(), pins.Acceptance{Server: server, Seen: v.Seen, By: "test", Via: "http"}); err != nil {
		t.Fatal(err)
	}
}
