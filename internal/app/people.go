package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/people/webpush"
	"github.com/tidemark/tidemark/internal/store/postgres"
)

// left takes away what somebody has whose token was revoked.
func (a *App) left(ctx context.Context, whose, by string) error {
	if a.push == nil {
		return webpush.Forget(a.opts.Paths.Push(), whose) // it may be switched on again
	}
	return a.push.Left(ctx, whose, by)
}

// openTokens reads or makes the tokens. Those a failed start made would never be seen by
// anybody, so it is remembered whether there was a file.
func (a *App) openTokens() (err error) {
	_, missing := os.Stat(a.opts.Paths.Tokens())
	a.Tokens, a.NewTokens, err = accounts.OpenTokens(a.opts.Paths.Tokens())
	a.unshown = err == nil && a.NewTokens && errors.Is(missing, os.ErrNotExist)
	return err
}

// shareSignIns has other servers of the log know who is signed in here, and finish what was begun here: a plain load balancer
// sends a browser to any of them.
func (a *App) shareSignIns(key []byte) (signin.Book, error) {
	if a.shared == nil {
		return nil, nil
	}
	book, err := signin.NewSharedBook(a.waited(), key)
	if err != nil {
		return nil, fmt.Errorf("share sign-ins: %w", err)
	}
	a.keys.Share(datafolder.Derive(key, "proofs"), signin.NewUsedOnce(a.waited(), signin.NonceShelf))
	if a.external.Provider != nil {
		a.external.Provider.Share(datafolder.Derive(key, "tickets"), signin.NewUsedOnce(a.waited(), signin.TicketShelf))
	}
	return book, nil
}

func (a *App) waited() postgres.Waited { return postgres.NewWaited(a.shared, a.patient) }

// openPush makes what tells browsers. They are this server's own, however many servers there are.
func (a *App) openPush() error {
	c := a.config.Channels.Push
	if c == nil {
		return nil
	}
	c.Path, c.Now, c.Record, c.Who = a.opts.Paths.Push(), time.Now, a.keys.Record, &a.config.Approvals.Who
	var err error
	if a.push, err = webpush.New(*c); err != nil {
		return err
	}
	a.external.PerServer.Add(&channels.Way{
		Name: "push", Detail: "notices in browsers, without buttons", Asker: a.push, Run: a.push.Run, Check: a.push.Check,
		Denies: true, Due: a.push.Due,
	})
	return nil
}
