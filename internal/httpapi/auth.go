package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// role is what the bearer of a token may do. The zero value may do nothing.
type role uint8

// The roles. An agent reports hooks and may ask what the policy says; an approver reads
// everything and answers questions; an administrator may do all of it and the rest.
const (
	agent role = iota + 1
	approver
	admin
)

func (r role) String() string { return [...]string{"none", "agent", "approver", "admin"}[r] }

// Tokens are the bearer tokens of the three roles. A role without one cannot be used;
// no token is shorter than 16 bytes. Only their hashes are kept.
type Tokens struct {
	Agent    string
	Approver string
	Admin    string
}

// minSecret keeps anybody from guarding the door with a word.
const minSecret = 16

// need is the set of roles a route admits. Administrators are always in it, the zero
// need admits nobody else.
type need uint8

const (
	needAdmin    need = 0
	needAgent    need = 1 << agent
	needApprover need = 1 << approver
	needAny      need = needAgent | needApprover
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
	case needAny:
		return "agent, approver or admin"
	}
	return "admin"
}

type key struct {
	role role
	hash [sha256.Size]byte
}

// keyring knows the hashes of all tokens.
type keyring []key

func newKeyring(t Tokens) (keyring, error) {
	var out keyring
	for r, secret := range map[role]string{agent: t.Agent, approver: t.Approver, admin: t.Admin} {
		if secret == "" {
			continue
		}
		if len(secret) < minSecret {
			return nil, fmt.Errorf("the token of the role %s is shorter than %d bytes", r, minSecret)
		}
		k := key{role: r, hash: sha256.Sum256([]byte(secret))}
		for _, o := range out {
			if o.hash == k.hash {
				return nil, errors.New("two roles share a token")
			}
		}
		out = append(out, k)
	}
	if len(out) == 0 {
		return nil, errors.New("no tokens: nobody could use the API")
	}
	return out, nil
}

// find compares with every token, so that the time says nothing about which one it was.
func (k keyring) find(secret string) role {
	hash := sha256.Sum256([]byte(secret))
	var found role
	for i := range k {
		if subtle.ConstantTimeCompare(hash[:], k[i].hash[:]) == 1 {
			found = k[i].role
		}
	}
	return found
}

// admit says in which role the caller comes, or why they may not.
func (k keyring) admit(r *http.Request, n need) (role, *Problem) {
	if n == needNothing {
		return 0, nil
	}
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return 0, unauthorized("this needs a bearer token in the Authorization header")
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return 0, unauthorized("the Authorization header is not a bearer token")
	}
	who := k.find(strings.TrimSpace(secret))
	if who == 0 {
		return 0, unauthorized("nobody has this token").with("WWW-Authenticate", `Bearer realm="tidemark", error="invalid_token"`)
	}
	if !n.admits(who) {
		return 0, newProblem(http.StatusForbidden, "role", fmt.Sprintf("this needs the role %s; the token has %s", n, who)).
			with("WWW-Authenticate", `Bearer realm="tidemark", error="insufficient_scope"`)
	}
	return who, nil
}

func unauthorized(detail string) *Problem {
	return newProblem(http.StatusUnauthorized, "unauthorized", detail).with("WWW-Authenticate", `Bearer realm="tidemark"`)
}

type roleKey struct{}

func withRole(r *http.Request, who role) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), roleKey{}, who))
}

// by is who a route admitted, as the log names them.
func by(ctx context.Context) string {
	who, _ := ctx.Value(roleKey{}).(role)
	return who.String()
}

// via is how the log says that something came through this door.
const via = "http"
