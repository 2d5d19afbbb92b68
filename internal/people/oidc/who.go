package oidc

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// Who is somebody the provider vouched for, and whom the file gives a role.
type Who struct{ Name, Role string }

// nameForm is what somebody may be called: what reads the same in a log, a file and an address, and has
// no colon, which would make it an account of some channel.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)

// who reads name and role out of what the provider said.
func (p *Provider) who(claims jwt.MapClaims) (Who, error) {
	name, err := p.name(claims)
	if err != nil {
		return Who{}, err
	}
	has := texts(claims[p.o.Claim])
	for _, r := range p.o.Roles {
		if slices.ContainsFunc(r.Values, func(v string) bool { return slices.Contains(has, v) }) {
			return Who{Name: name, Role: r.Name}, nil
		}
	}
	if len(has) == 0 {
		return Who{Name: name}, fmt.Errorf("%w, %s: the ID token has no %s; let the provider put it there (console.oidc.claim, scopes)",
			ErrNoRole, name, p.o.Claim)
	}
	return Who{Name: name}, fmt.Errorf("%w, %s: nothing in %s is among console.oidc.roles", ErrNoRole, name, p.o.Claim)
}

// name is what somebody is called. An address counts only where the provider says that it is theirs.
func (p *Provider) name(claims jwt.MapClaims) (string, error) {
	v, _ := claims[p.o.NameFrom].(string)
	if p.o.NameFrom == "email" {
		if claims["email_verified"] != true {
			return "", fmt.Errorf("%w: the ID token has no verified address; "+
				"let the provider send email and email_verified, or set console.oidc.name to another claim", ErrNoRole)
		}
		v = strings.ToLower(v)
	}
	if !nameForm.MatchString(v) {
		return "", fmt.Errorf("%w: the claim %s has no usable name: letters, digits and . _ @ + -, up to 64; set console.oidc.name",
			ErrNoRole, p.o.NameFrom)
	}
	return v, nil
}

// texts are the values of a claim: a list, or one.
func texts(claim any) []string {
	switch v := claim.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
