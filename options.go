package tidemark

import (
	"io"
	"time"

	"github.com/tidemark/tidemark/policy"
)

// Options are what a Monitor may be given. None is required.
type Options struct {
	Policy *policy.Set      // nil: the shipped one (policy.Default)
	Store  *Store           // of the log (store/sqlite, store/postgres); nil: in memory, and gone with the program
	Now    func() time.Time // nil: time.Now
	Rand   io.Reader        // a CSPRNG; nil: crypto/rand

	// Key keeps what the user said knowable after a restart where the log must not hold it: a
	// password stands there as a hash under this key. Empty: no such hashes are kept.
	Key []byte
	// Station is where the program itself stands: what the agent must not reach.
	Station Station

	// Reader understands requests and tools, where the policy asks what calls do; nil: the words alone count.
	Reader Reader
	// Auditor judges intent, and Acts whether the words want an act, where the policy asks for it; nil: nobody does.
	Auditor Auditor
	Acts    ActAuditor
	// Verifier is asked last about calls that would run; nil: nobody is.
	Verifier Verifier

	// MaxSessions bounds how many sessions are kept in memory; the least recently used ones are read back from the log
	// when they speak again. 0 means 20,000.
	MaxSessions int
	// MaxHeard bounds about how many bytes sessions take in memory, all together. 0 means 24 MiB.
	MaxHeard int64
}
