package diagnosis

import (
	"net/url"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/reports/losses"
)

// Facts are how things stand on a machine.
type Facts = losses.Facts

// Loss is what is lost without something that others have.
type Loss = losses.Row

// Lost are the rows of what is lost that hold here.
func Lost(f Facts) []Loss { return append([]Loss{}, losses.Here(f)...) }

// OnThisMachine reports whether a server's address is one of this machine alone.
func OnThisMachine(address string) bool {
	at, err := url.Parse(address)
	return err == nil && outbound.Local(at.Hostname())
}
