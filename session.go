package tidemark

import (
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant/grounds"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// live is one conversation: its lock and the state its log gives.
type live struct {
	mu     sync.Mutex
	name   string
	loaded bool              // guarded by mu; false: the log must be read before anything is decided
	state  *session.State    // guarded by mu
	codes  map[string]string // guarded by mu; plain codes of open questions, never stored
	tools  []tool.Definition // guarded by mu; what the host offers the model, as far as it said since we started

	grounds  *grounds.Context            // guarded by mu; what was said and read, where a rule may ask; nil: nobody has
	meant    map[string]*meaning.Meaning // guarded by mu; tools that were understood
	spoken   map[uint64]string           // guarded by mu; the user's messages by their place in the log, as far as they were read
	latest   *meaning.Meaning            // guarded by mu; the one of them looked at last
	facts    facts                       // guarded by mu; scratch, of the call being judged
	standing map[string]*grounds.Grounds // guarded by mu; what the calls of open questions stand on
	input    policy.Input                // guarded by mu; scratch, so that a decision does not allocate one
	work     *step                       // guarded by mu; what the next decision works on
	used     atomic.Int64                // when it was last used, in sessions made since
}
