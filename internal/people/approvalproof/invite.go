package approvalproof

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// The second key and every further one come by a signature: of a key of one's own, or of somebody who has one and invites. An invitation
// is for one person, by the name and role that they sign in under, for one key, and for a day. Whoever has lost their key has the codes
// that they were shown once, or is invited again.

// InviteLife is how long an invitation to enrol a key holds.
const InviteLife = 24 * time.Hour

// KeyInvite says that somebody may enrol a key.
type KeyInvite struct {
	Who   string   // as the log names them: approver:ben
	By    []string // whose keys signed it, each once
	Until int64    // Unix nanoseconds, of the first signature
}

// keyInvited notes that a key holder invites somebody. A second one adds their name, and time that is over begins anew.
func (s *State) keyInvited(p *event.Person, at int64) {
	next := slices.Clone(s.invites)
	i := slices.IndexFunc(next, func(k KeyInvite) bool { return k.Who == p.Detail })
	if i < 0 || at >= next[i].Until {
		next = append(slices.DeleteFunc(next, func(k KeyInvite) bool { return k.Who == p.Detail }),
			KeyInvite{Who: p.Detail, By: []string{p.By}, Until: p.Until})
	} else if !slices.Contains(next[i].By, p.By) {
		next[i].By = append(slices.Clone(next[i].By), p.By)
	}
	s.invites = next
}

// uninvited takes the invitation of somebody away, who has used it or was told that it no longer holds.
func (s *State) uninvited(who string) {
	s.invites = slices.DeleteFunc(slices.Clone(s.invites), func(k KeyInvite) bool { return k.Who == who })
}

// Holders are those who have a key, as the log names them, each once.
func (s *State) Holders() []string {
	var out []string
	for i := range s.Keys {
		if who := s.owners[s.Keys[i].ID]; who != "" && !slices.Contains(out, who) {
			out = append(out, who)
		}
	}
	slices.Sort(out)
	return out
}

// OwnerOf is who enrolled a key, as the log names them.
func (s *State) OwnerOf(key string) string { return s.owners[key] }

// HasKey reports whether somebody enrolled a key that is there.
func (s *State) HasKey(who string) bool { return slices.Contains(s.Holders(), who) }

// CodesOf is how many recovery codes somebody has left.
func (s *State) CodesOf(who string) int { return len(s.codes[who]) }

// Invitation is what somebody was invited to, and how many more must sign it.
type Invitation struct {
	By    []string
	Until time.Time
	Lacks int
}

// InvitationOf is that of somebody; nil: there is none that holds.
func (k *Keeper) InvitationOf(who string) *Invitation {
	_ = k.look() // what is known already is shown then
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.invitation(who)
}

// invitation is InvitationOf by what was read. Who has signed counts only while they have a key.
// Preconditions: mu is held.
func (k *Keeper) invitation(who string) *Invitation {
	i := slices.IndexFunc(k.state.invites, func(i KeyInvite) bool { return i.Who == who })
	if i < 0 || k.now().UnixNano() >= k.state.invites[i].Until {
		return nil
	}
	holders := slices.DeleteFunc(k.state.Holders(), func(h string) bool { return h == who })
	by := slices.DeleteFunc(slices.Clone(k.state.invites[i].By), func(b string) bool { return !slices.Contains(holders, b) })
	if len(by) == 0 {
		return nil
	}
	need := min(max(k.inviters, 1), len(holders))
	return &Invitation{By: by, Until: time.Unix(0, k.state.invites[i].Until), Lacks: max(need-len(by), 0)}
}

// ErrInvite is for an invitation of somebody who could not use it.
var ErrInvite = errors.New("invite somebody by the role and the name they sign in under, as approver:ben or admin:cleo")

// Invite lets somebody enrol one key within a day. It takes a key; where two people must agree to something, the keys of two.
func (k *Keeper) Invite(ctx context.Context, who string, p *event.Proof) error {
	role, name, ok := strings.Cut(who, ":")
	if !ok || name == "" || role != "approver" && role != "admin" {
		return ErrInvite
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if p == nil {
		return needs(Passkey)
	}
	kept, err := k.signed(SaidEnrol("invite", who), p)
	if err != nil {
		return err
	}
	by := k.state.owners[kept.Key]
	if by == who {
		return errors.New("who has a key enrols a further one with it, and needs no invitation")
	}
	return k.append(ctx, event.Person{
		Act: "key-invited", By: by, Via: "console", Detail: who, Until: k.now().Add(InviteLife).UnixNano(), Proof: kept,
	})
}

// Uninvite takes an invitation back. It takes away, so that no key is needed.
func (k *Keeper) Uninvite(ctx context.Context, who, by string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.invitation(who) == nil {
		return engine.ErrNotFound
	}
	return k.append(ctx, event.Person{Act: "key-uninvited", By: by, Via: "console", Detail: who})
}

// The recovery codes.
const (
	codeCount = 8
	codeMark  = "tmr-"
)

// NewCodes makes the recovery codes of whoever's key signs, in the place of those they had. They are known here once; the log has hashes.
func (k *Keeper) NewCodes(ctx context.Context, p *event.Proof) (codes []string, who string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p == nil {
		return nil, "", needs(Passkey)
	}
	kept, err := k.signed(SaidEnrol("codes", ""), p)
	if err != nil {
		return nil, "", err
	}
	who = k.state.owners[kept.Key]
	var hashes []string
	for range codeCount {
		code := codeMark + strings.ToLower(rand.Text()[:24])
		codes, hashes = append(codes, code), append(hashes, hashCode(code))
	}
	err = k.append(ctx, event.Person{Act: "codes", By: who, Via: "console", Secret: strings.Join(hashes, ","), Proof: kept})
	if err != nil {
		return nil, "", err
	}
	return codes, who, nil
}

func hashCode(code string) string {
	sum := sha256.Sum256([]byte(code)) // of 120 random bits: nothing slower is needed
	return hex.EncodeToString(sum[:])
}

// setCodes notes somebody's recovery codes, or that one of them was used.
func (s *State) setCodes(who string, hashes []string) {
	next := make(map[string][]string, len(s.codes)+1)
	for name, list := range s.codes {
		next[name] = list
	}
	next[who] = hashes
	s.codes = next
}

// spent is a person's codes without one.
func (s *State) spent(who, hash string) {
	if list := s.codes[who]; slices.Contains(list, hash) {
		s.setCodes(who, slices.DeleteFunc(slices.Clone(list), func(h string) bool { return h == hash }))
	}
}

// recovers finds the code that somebody who has lost their key shows: one of their own, and not of anybody else's.
// Preconditions: mu is held.
func (k *Keeper) recovers(who, code string) (hash string, err error) {
	now := k.now()
	k.tries = slices.DeleteFunc(k.tries, func(t time.Time) bool { return now.Sub(t) > tryWindow })
	if len(k.tries) >= maxTries {
		return "", fmt.Errorf("%w: too many wrong codes; wait five minutes", engine.ErrProof)
	}
	given := hashCode(strings.ToLower(strings.TrimSpace(code)))
	for _, kept := range k.state.codes[who] {
		if subtle.ConstantTimeCompare([]byte(given), []byte(kept)) == 1 {
			hash = kept
		}
	}
	if hash == "" {
		k.tries = append(k.tries, now)
		return "", fmt.Errorf("%w: this is none of your recovery codes, or it was used", engine.ErrProof)
	}
	return hash, nil
}

// uninvitedError says to somebody without a key whom to ask.
// Preconditions: mu is held.
func (k *Keeper) uninvitedError() error {
	return fmt.Errorf("%w: a further key needs one that is enrolled, an invitation of somebody who has one, or a recovery code "+
		"(a key have: %s)", engine.ErrProof, strings.Join(k.state.Holders(), ", "))
}
