package approvalproof

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// Invited is a machine that may join, once, with a code of which the log has the hash.
type Invited struct {
	Machine string
	Hash    string // SHA-256 of the code's secret, hex
	Until   int64  // Unix nanoseconds
	By      string
}

// machine notes that a machine was invited or has joined. A later invitation of a machine takes the place of an earlier one.
func (s *State) machine(p *event.Person) {
	s.machines = slices.DeleteFunc(slices.Clone(s.machines), func(i Invited) bool { return i.Machine == p.Detail || i.Hash == p.Token })
	if p.Act == "machine-invited" && p.Token != "" {
		s.machines = append(s.machines, Invited{Machine: p.Detail, Hash: p.Token, Until: p.Until, By: p.By})
	}
}

// The bounds of joining.
const (
	MaxInvite  = 24 * time.Hour
	joinWindow = time.Minute
	maxJoins   = 20 // wrong codes in joinWindow
	maxInvited = 200
)

// ErrCode is for a code that opens nothing: it was never made, was used, or is over. It does not say which.
var ErrCode = errors.New("this code does not work: it was used, has expired, or is for another server " +
	"(ask for a new one: tidemark token invite)")

// ErrJoins is for too many wrong codes.
var ErrJoins = errors.New("too many wrong codes; wait a minute")

// InviteMachine lets whoever has the secret of this hash join as a machine, once and not for long.
func (k *Keeper) InviteMachine(ctx context.Context, by, via, machine, hash string, life time.Duration) (until time.Time, err error) {
	if life <= 0 || life > MaxInvite {
		return time.Time{}, fmt.Errorf("an invitation holds for up to %s", MaxInvite)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	open := 0
	for _, i := range k.state.machines {
		if now.UnixNano() < i.Until {
			open++
		}
	}
	if open >= maxInvited {
		return time.Time{}, fmt.Errorf("%d machines are invited and have not joined: no more fit", open)
	}
	until = now.Add(life)
	return until, k.append(ctx, event.Person{
		Act: "machine-invited", By: by, Via: via, Detail: machine, Token: hash, Until: until.UnixNano(),
	})
}

// InvitedKeys are the hashes of the codes that open something now: by them the server proves itself to who has one.
func (k *Keeper) InvitedKeys() [][sha256.Size]byte {
	if k.look() != nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now().UnixNano()
	var out [][sha256.Size]byte
	for _, i := range k.state.machines {
		if raw, err := hex.DecodeString(i.Hash); err == nil && len(raw) == sha256.Size && now < i.Until {
			out = append(out, [sha256.Size]byte(raw))
		}
	}
	return out
}

// JoinMachine spends a code. Of two who come with one, at whichever server of a log, one is let in: the log takes it once.
func (k *Keeper) JoinMachine(ctx context.Context, secret, via string) (machine string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	k.joins = slices.DeleteFunc(k.joins, func(t time.Time) bool { return now.Sub(t) > joinWindow })
	if len(k.joins) >= maxJoins {
		return "", ErrJoins
	}
	sum := sha256.Sum256([]byte(secret))
	hash := hex.EncodeToString(sum[:])
	const attempts = 4
	for range attempts {
		if err := k.load(ctx); err != nil {
			return "", err
		}
		found := -1
		for i := range k.state.machines {
			if subtle.ConstantTimeCompare([]byte(hash), []byte(k.state.machines[i].Hash)) == 1 {
				found = i
			}
		}
		if found < 0 || now.UnixNano() >= k.state.machines[found].Until {
			k.joins = append(k.joins, now)
			return "", ErrCode
		}
		machine = k.state.machines[found].Machine
		p := event.Person{Act: "machine-joined", By: "machine:" + machine, Via: via, Detail: machine, Token: hash}
		e := &event.Event{Kind: event.PersonActed, Time: now.UnixNano(), Person: &p}
		err = k.store.Append(ctx, LogName, k.state.Version, []*event.Event{e})
		if err == nil {
			k.state.Apply(e)
			return machine, nil
		}
		if !errors.Is(err, engine.ErrConflict) {
			break
		}
	}
	return "", fmt.Errorf("record that a machine joined: %w", err)
}
