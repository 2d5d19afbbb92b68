package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

// role is what the bearer of a token may do. The zero value may do nothing.
type role uint8

// The roles. An agent reports hooks and may ask what the policy says; a reader reads
// everything; the owner's token opens nothing by itself, but beside the agent's it says that
// messages are the owner's own; an approver reads everything and answers questions; an
// administrator may do all of it and the rest.
const (
	agent role = iota + 1
	reader
	owner
	approver
	admin
)

func (r role) String() string {
	return [...]string{"none", "agent", "reader", "owner", "approver", "admin"}[r]
}

// Tokens are the bearer tokens of the roles, each as it is or as HashToken made it. A role
// without one cannot be used; no token is shorter than 16 bytes. Only hashes are kept.
type Tokens struct {
	Agent    string
	Reader   string
	Owner    string
	Approver string
	Admin    string
}

// hashMark begins what HashToken makes.
const hashMark = "sha256:"

// HashToken is a token as it may lie on a disk: it can be checked by it, and not be used.
func HashToken(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hashMark + hex.EncodeToString(sum[:])
}

// hashOf is what is compared with.
func hashOf(token string) (out [sha256.Size]byte, err error) {
	digits, hashed := strings.CutPrefix(token, hashMark)
	switch {
	case !hashed && len(token) < minSecret:
		return out, fmt.Errorf("is shorter than %d bytes", minSecret)
	case !hashed:
		return sha256.Sum256([]byte(token)), nil
	}
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != len(out) {
		return out, errors.New("is no hash of one")
	}
	return [sha256.Size]byte(raw), nil
}

// minSecret keeps anybody from guarding the door with a word.
const minSecret = 16 // of a token that is not hashed

// need is the set of roles a route admits. Administrators are always in it, the zero
// need admits nobody else.
type need uint8

const (
	needAdmin    need = 0
	needAgent    need = 1 << agent
	needApprover need = 1 << approver
	needReader   need = needApprover | 1<<reader
	needAny      need = needAgent | needReader
	needNothing  need = 1 << 7 // no token at all
)

func (n need) admits(r role) bool { return r == admin || r != 0 && n&(1<<r) != 0 }

// String names the roles that would do.
func (n need) String() string {
	switch n {
	case needAgent:
		return "agent or admin"
	case needApprover:
		return "approver or admin"
	case needReader:
		return "reader, approver or admin"
	case needAny:
		return "agent, reader, approver or admin"
	}
	return "admin"
}

type key struct {
	role role
	hash [sha256.Size]byte
}

// keyring knows the hashes of all tokens, and the people who have one of their own.
type keyring struct {
	keys   []key
	people *accounts.Roster
	joins  Joins // codes that machines join with; nil: none do
}

// caller is who a token belongs to. A name comes with a token of their own; the zero caller is nobody.
type caller struct {
	role  role
	name  string
	agent string // whose token it is; "": any agent's
	// machine is the one elsewhere whose token it is, or its agent's; "": none's.
	machine string
}

// String is how the log names them.
func (c caller) String() string {
	if c.name == "" {
		return c.role.String()
	}
	return accounts.By(c.role.String(), c.name)
}

func newKeyring(t Tokens, people *accounts.Roster) (keyring, error) {
	var out []key
	for r, token := range map[role]string{agent: t.Agent, reader: t.Reader, owner: t.Owner, approver: t.Approver, admin: t.Admin} {
		if token == "" {
			continue
		}
		hash, err := hashOf(token)
		if err != nil {
			return keyring{}, fmt.Errorf("the token of the role %s %w", r, err)
		}
		k := key{role: r, hash: hash}
		for _, o := range out {
			if o.hash == k.hash {
				return keyring{}, errors.New("two roles share a token")
			}
		}
		out = append(out, k)
	}
	if len(out) == 0 {
		return keyring{}, errors.New("no tokens: nobody could use the API")
	}
	return keyring{keys: out, people: people}, nil
}

// proof is the key by which a client knows the server: what is kept of the token that it has, which it names. Where it names none,
// that of the agents' common one.
func (k keyring) proof(name string) *serverproof.Key {
	var common *serverproof.Key
	for i := range k.keys {
		if k.keys[i].role == agent {
			common = (*serverproof.Key)(&k.keys[i].hash)
		}
	}
	if name == "" || common != nil && common.Name() == name {
		return common
	}
	for _, p := range k.people.List() {
		raw, err := hex.DecodeString(p.Hash)
		if p.Role != accounts.AgentRole || err != nil || len(raw) != sha256.Size {
			continue
		}
		if key := serverproof.Key(raw); key.Name() == name {
			return &key
		}
	}
	if k.joins != nil {
		for _, hash := range k.joins.Keys() {
			if key := serverproof.Key(hash); key.Name() == name {
				return &key
			}
		}
	}
	return common
}

// find compares with every token, so that the time says nothing about which one it was.
func (k keyring) find(secret string) caller {
	var room [96]byte // a token has its place here, and streams ask for every batch of records
	hash := sha256.Sum256(append(room[:0], secret...))
	var found caller
	for i := range k.keys {
		if subtle.ConstantTimeCompare(hash[:], k.keys[i].hash[:]) == 1 {
			found.role = k.keys[i].role
		}
	}
	if found.role != 0 {
		return found
	}
	if p, ok := k.people.Find(secret); ok {
		roles := map[string]role{accounts.AgentRole: agent, "reader": reader, "approver": approver, "admin": admin}
		found = caller{roles[p.Role], p.Name, p.Agent, p.Machine}
	}
	return found
}

// admit says who comes in which role, or why they may not.
func (k keyring) admit(r *http.Request, n need) (caller, *Problem) {
	var nobody caller
	if n == needNothing {
		return nobody, nil
	}
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return nobody, unauthorized("this needs a bearer token in the Authorization header")
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return nobody, unauthorized("the Authorization header is not a bearer token")
	}
	who := k.find(strings.TrimSpace(secret))
	if who.role == 0 {
		return nobody, unauthorized("nobody has this token").with("WWW-Authenticate", `Bearer realm="tidemark", error="invalid_token"`)
	}
	if !n.admits(who.role) {
		detail := fmt.Sprintf("this needs the role %s; the token has %s", n, who.role)
		if who.role == owner {
			detail += ", and opens nothing by itself: send it in " + ownerHeader + ", beside the agent's token in Authorization"
		}
		return nobody, newProblem(http.StatusForbidden, "role", detail).
			with("WWW-Authenticate", `Bearer realm="tidemark", error="insufficient_scope"`)
	}
	return who, nil
}

// ownerHeader is where a host puts the owner's token beside the agent's.
const ownerHeader = "X-Tidemark-Owner"

// vouched reports whether a request of a host comes with a credential that the agent does
// not have: only then do chat commands count, and only then are codes told. A token of
// somebody's own says who they are, and not that an agent's messages are its owner's.
func (k keyring) vouched(r *http.Request, who caller) (bool, *Problem) {
	values := r.Header[ownerHeader]
	if len(values) == 0 {
		return who == caller{role: admin}, nil
	}
	if len(values) == 1 {
		switch k.find(values[0]) {
		case caller{role: owner}, caller{role: approver}, caller{role: admin}:
			return true, nil
		}
	}
	return false, unauthorized("nobody who may speak for the owner has the token in " + ownerHeader)
}

type vouchedKey struct{}

// withVouched notes that what the host says of the owner is backed by their own credential.
func withVouched(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), vouchedKey{}, true))
}

func vouched(ctx context.Context) bool {
	ok, _ := ctx.Value(vouchedKey{}).(bool)
	return ok
}

func unauthorized(detail string) *Problem {
	return newProblem(http.StatusUnauthorized, "unauthorized", detail).with("WWW-Authenticate", `Bearer realm="tidemark"`)
}

type callerKey struct{}

func withCaller(r *http.Request, who caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
}

// callerOf is who a route admitted.
func callerOf(ctx context.Context) caller {
	who, _ := ctx.Value(callerKey{}).(caller)
	return who
}

// by is who a route admitted, as the log names them.
func by(ctx context.Context) string { return callerOf(ctx).String() }

func roleOf(ctx context.Context) role { return callerOf(ctx).role }

// via is how the log says that something came through this door.
const via = "http"
