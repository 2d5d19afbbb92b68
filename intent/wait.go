package intent

import (
	"context"
	"time"
)

type waitedKey struct{}

// WithWaited says how long a call has waited for readings of its message.
func WithWaited(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, waitedKey{}, d)
}

// Waited is how long a call has waited for readings of its message before: whoever reads has it wait that much less, so that a call
// which needs the message read twice does not wait twice.
func Waited(ctx context.Context) time.Duration {
	d, _ := ctx.Value(waitedKey{}).(time.Duration)
	return d
}
