package auditor

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// A breaker opens after failures in a row, lets one through after a while, and that one decides; one that nobody waited for
// decides nothing, and holds up no other.
func TestABreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaker{log: slog.New(slog.DiscardHandler)}
		sent := 0
		says := func(err error) error {
			_, got := b.do(func() (string, error) { sent++; return "", err })
			return got
		}
		want := func(state string, requests int) {
			t.Helper()
			if got := b.state(); got != state || sent != requests {
				t.Fatalf("it is %s after %d requests, want %s after %d", got, sent, state, requests)
			}
		}
		down := errors.New("down")
		for range tripAfter - 1 {
			_ = says(down)
		}
		_ = says(nil) // not in a row
		_ = says(context.Canceled)
		for range tripAfter - 1 {
			_ = says(down)
		}
		want(breakerClosed, 2*tripAfter)
		_ = says(down)
		want(breakerOpen, 2*tripAfter+1)
		if err := says(nil); !errors.Is(err, ErrOpen) {
			t.Errorf("while it is open: %v", err)
		}
		time.Sleep(openFor)
		want(breakerHalf, 2*tripAfter+1)
		_, _ = b.do(func() (string, error) {
			sent++
			if err := says(nil); !errors.Is(err, ErrOpen) {
				t.Errorf("beside the one that tries: %v", err)
			}
			return "", context.Canceled
		})
		want(breakerHalf, 2*tripAfter+2)
		_ = says(down)
		want(breakerOpen, 2*tripAfter+3)
		time.Sleep(openFor)
		func() {
			defer func() { _ = recover() }()
			_, _ = b.do(func() (string, error) { sent++; panic("x") })
		}()
		want(breakerOpen, 2*tripAfter+4)
		time.Sleep(openFor)
		_ = says(nil)
		want(breakerClosed, 2*tripAfter+5)
	})
}
