package app

import (
	"errors"
	"os"

	"github.com/tidemark/tidemark/internal/people/accounts"
)

// openTokens reads or makes the tokens. Those a failed start made would never be seen by
// anybody, so it is remembered whether there was a file.
func (a *App) openTokens() (err error) {
	_, missing := os.Stat(a.opts.Paths.Tokens())
	a.Tokens, a.NewTokens, err = accounts.OpenTokens(a.opts.Paths.Tokens())
	a.unshown = err == nil && a.NewTokens && errors.Is(missing, os.ErrNotExist)
	return err
}
