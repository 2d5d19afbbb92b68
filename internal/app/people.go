package app

import (
	"context"

	"github.com/tidemark/tidemark/internal/people/webpush"
)

// left takes away what somebody has whose token was revoked.
func (a *App) left(ctx context.Context, whose, by string) error {
	if a.push == nil {
		return webpush.Forget(a.opts.Paths.Push(), whose) // it may be switched on again
	}
	return a.push.Left(ctx, whose, by)
}
