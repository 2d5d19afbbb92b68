// Package approvalproof tells a person who approves from a program that has their token: by a
// passkey that signs what is approved, or by a secret that is on no disk.
//
// It reads and writes a log of its own, in which every key that came or went and every
// sign-in at the console is a record, and does no other I/O.
//
// Invariants:
//   - once a passkey is enrolled nothing else approves, whatever the configuration says;
//   - a proof is over what is approved, to the byte, and counts once;
//   - the first key is for whoever may approve already; every other needs a key that is there, to sign it or to invite whose it will be,
//     or a recovery code of that very person;
//   - a denial needs no proof.
package approvalproof

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// LogName is the log in which keys and sign-ins are recorded.
const LogName = store.Own + "people"

// Want is what proves an approval. The zero Want is what the keys say: a passkey where one
// is enrolled, else nothing.
type Want string

// The wants.
const (
	None    Want = ""
	Typed   Want = "typed"
	Passkey Want = "passkey"
)

// Options are what a Keeper needs.
type Options struct {
	Store engine.Store
	Now   func() time.Time
	Rand  io.Reader
	Want  Want
	// Shared says that other servers write the log too: it is read each time before an answer.
	Shared bool
	// Inviters is how many key holders must sign an invitation, where there are as many; 0: one.
	Inviters int
	// Also are the channels (telegram) whose answers count as proof of the person.
	Also []string
}

// Keeper knows the keys of people and checks proofs. It is safe for concurrent use.
type Keeper struct {
	store engine.Store
	now   func() time.Time
	rand  io.Reader
	want  Want
	also  []string

	shared   bool
	inviters int
	fresh    fresh

	mu      sync.Mutex
	state   State       // guarded by mu
	nonces  nonces      // guarded by mu
	origins []string    // guarded by mu; where browsers reach us
	tries   []time.Time // guarded by mu; when wrong secrets were typed
	joins   []time.Time // guarded by mu; when wrong codes of machines came
}

// Open reads the log of people.
func Open(ctx context.Context, o Options) (*Keeper, error) {
	if o.Store == nil || o.Now == nil || o.Rand == nil {
		return nil, errors.New("open keys: store, clock and randomness are needed")
	}
	k := &Keeper{store: o.Store, now: o.Now, rand: o.Rand, want: o.Want, also: o.Also, shared: o.Shared, inviters: o.Inviters}
	return k, k.load(ctx)
}

// load reads what is new in the log.
// Preconditions: mu is held, or nobody else has the Keeper yet.
func (k *Keeper) load(ctx context.Context) error {
	for rec, err := range k.store.Load(ctx, LogName, k.state.Version) {
		if err != nil {
			return fmt.Errorf("read keys: %w", err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("read keys: %w", err)
		}
		k.state.Apply(&e)
	}
	return nil
}

// again reads what another process wrote since: a key that was enrolled there is asked for here too. However many ask at once, one
// reads for all of them, so that nobody is refused because others answer too.
func (k *Keeper) again() error {
	return k.fresh.read(func() error {
		k.mu.Lock()
		defer k.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), readLimit)
		defer cancel()
		return k.load(ctx)
	})
}

// readLimit bounds how long the log of people may take; without it nothing is proven.
const readLimit = 10 * time.Second

// look is again where there are other servers.
func (k *Keeper) look() error {
	if !k.shared {
		return nil
	}
	return k.again()
}

// Tokens are those of people, as every server of the log knows them: what another one added or took away counts.
func (k *Keeper) Tokens() ([]Token, error) {
	if err := k.look(); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state.tokens, nil
}

// Record writes what a person did.
func (k *Keeper) Record(ctx context.Context, p event.Person) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.append(ctx, p)
}

// append writes a record, after whatever another process wrote meanwhile.
// Preconditions: mu is held.
func (k *Keeper) append(ctx context.Context, p event.Person) error {
	const attempts = 4
	var err error
	for range attempts {
		e := &event.Event{Kind: event.PersonActed, Time: k.now().UnixNano(), Person: &p}
		if err = k.store.Append(ctx, LogName, k.state.Version, []*event.Event{e}); err == nil {
			k.state.Apply(e)
			return nil
		}
		if !errors.Is(err, engine.ErrConflict) {
			break
		}
		if err := k.load(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("record %s: %w", p.Act, err)
}

// SetOrigins says at which addresses browsers reach the console.
func (k *Keeper) SetOrigins(origins []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.origins = slices.Clone(origins)
}

// Required is what an approval needs now. Where that cannot be found out, the most.
func (k *Keeper) Required() Want {
	if k.look() != nil {
		return Passkey
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.required()
}

// required is what an approval needs by what was read.
// Preconditions: mu is held.
func (k *Keeper) required() Want {
	if len(k.state.Keys) > 0 || k.want == Passkey {
		return Passkey
	}
	if k.want == Typed || k.state.Secret != "" {
		return Typed
	}
	return None
}

// Takes reports whether an approval through a channel counts without a proof of its own.
func (k *Keeper) Takes(channel string) bool {
	return k.Required() == None || slices.Contains(k.also, channel)
}

// State is what the log says now.
func (k *Keeper) State() State {
	_ = k.look() // what is known already is shown then
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.state
	s.Keys = slices.Clone(s.Keys)
	return s
}

// needs says in words what is missing and where to get it.
func needs(w Want) error {
	if w == Typed {
		return fmt.Errorf("%w: type the secret in the console (tidemark console)", engine.ErrProof)
	}
	return fmt.Errorf("%w: answer in the console with the passkey (tidemark console); denying works here too", engine.ErrProof)
}

// Prove implements engine.Prover.
func (k *Keeper) Prove(v *engine.Vote, said string) (*event.Proof, error) {
	if err := k.again(); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.required() != None && slices.Contains(k.also, v.Via) {
		return &event.Proof{Kind: v.Via, Said: said}, nil
	}
	return k.check(said, v.Proof, v.Secret)
}

// Check looks at a proof that somebody wants what said says. Where none is required it is
// nil. What it returns is what the log keeps.
func (k *Keeper) Check(said string, p *event.Proof, secret string) (*event.Proof, error) {
	if err := k.again(); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.check(said, p, secret)
}

// check is Check by what was read.
// Preconditions: mu is held.
func (k *Keeper) check(said string, p *event.Proof, secret string) (*event.Proof, error) {
	switch w := k.required(); {
	case w == None:
		return nil, nil
	case w == Typed && secret != "":
		return k.typed(said, secret)
	case w == Passkey && p != nil && p.Kind == string(Passkey):
		return k.signed(said, p)
	default:
		return nil, needs(w)
	}
}

// RoleOf is the role of whoever enrolled a key; empty for one nobody has.
func (k *Keeper) RoleOf(id string) string {
	if k.look() != nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if key := k.state.key(id); key != nil {
		return key.Role
	}
	return ""
}

// OwnerOf is who enrolled a key, as the log names them; empty for one nobody has.
func (k *Keeper) OwnerOf(id string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state.key(id) == nil {
		return ""
	}
	return k.state.owners[id]
}

// Challenge draws what a key is to sign for said, and says which keys will do at a site.
func (k *Keeper) Challenge(said, site string) (Ceremony, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	nonce, err := k.nonces.draw(k.rand, k.now())
	if err != nil {
		return Ceremony{}, err
	}
	c := Ceremony{Nonce: nonce, Site: site, Challenge: challengeOf(nonce, said)}
	for i := range k.state.Keys {
		if key := &k.state.Keys[i]; key.Site == site {
			c.Keys = append(c.Keys, key.ID)
		}
	}
	return c, nil
}

// Ceremony is what the browser is told before it asks for a key.
type Ceremony struct {
	Nonce     string   `json:"nonce"`
	Challenge string   `json:"challenge"`
	Site      string   `json:"site"`
	Keys      []string `json:"keys"`
	User      string   `json:"user,omitzero"`
}

// challengeOf is what is signed: the nonce, and the hash of what it is for.
func challengeOf(nonce, said string) string {
	raw, _ := base64.RawURLEncoding.DecodeString(nonce) // one we drew; any other finds no nonce
	sum := sha256.Sum256([]byte(said))
	return base64.RawURLEncoding.EncodeToString(append(raw, sum[:]...))
}
