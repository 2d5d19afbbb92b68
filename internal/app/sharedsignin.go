package app

import (
	"fmt"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/store/postgres"
)

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
