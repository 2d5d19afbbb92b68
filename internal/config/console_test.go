package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/config"
)

// CON-29: the section of the console says what is missing and what is wrong, each at its place.
func TestTheConsolesSectionIsRead(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"OIDC_SECRET": "the-value"}[name]
		return v, ok
	}
	good := `console:
  oidc:
    issuer: https://sso.example/realms/office
    clientId: tidemark
    clientSecret: "${OIDC_SECRET}"
    scopes: [email, groups]
    claim: groups
    name: preferred_username
    roles: {viewer: [staff], reader: [guests], approver: [sec-team], admin: [root]}
`
	c, faults := config.Parse("f", []byte(good), env)
	if len(faults) != 1 || faults[0].Hint != "write viewer" || c.Console.OIDC == nil { // the former name of that role
		t.Fatalf("got %+v, %v", c, faults)
	}
	o := c.Console.OIDC
	if o.Secret != "the-value" || o.NameFrom != "preferred_username" || len(o.Scopes) != 2 {
		t.Errorf("got %+v", o)
	}
	if got := fmt.Sprint(o.Roles); !strings.HasPrefix(got, "[{admin [root]} {approver [sec-team]} {reader ") || len(o.Roles[2].Values) != 2 {
		t.Errorf("the highest role comes first: %s", got)
	}
	if text := fmt.Sprintf("%+v %#v", o, o); strings.Contains(text, "the-value") {
		t.Errorf("a secret prints: %s", text)
	}
	if c, faults := config.Parse("f", []byte("console: {}\n"), env); faults.Err() != nil || c.Console.OIDC != nil {
		t.Errorf("an empty section: %+v, %v", c, faults)
	}
	for bad, want := range map[string]string{
		`console: {oidc: {}}`:                                         "console.oidc needs issuer",
		`console: {oidc: {issuer: "https://sso.example"}}`:            "console.oidc needs clientId",
		`console: {oidc: {clientId: x, issuer: "https://a.example"}}`: "console.oidc needs roles",
		`console: {oidc: {issuer: "http://sso.example"}}`:             "plain http",
		`console: {oidc: {issuer: sso.example}}`:                      "url is not http or https",
		`console: {oidc: {issuer: "https://sso.example/?a=b"}}`:       "an issuer has no ?",
		`console: {oidc: {roles: {}}}`:                                "gives nobody a role",
		`console: {oidc: {roles: {approver: []}}}`:                    "gives nobody a role",
		`console: {oidc: {roles: {approver: [""]}}}`:                  "must not be empty",
		`console: {oidc: {roles: {owner: [x]}}}`:                      "owner",
		`console: {oidc: {clientSecret: "${NONE}"}}`:                  "environment variable NONE is not set",
		`console: {oidc: {clientSecret: plain}}`:                      "stands in the file itself",
		`console: {oidc: {name: ""}}`:                                 "must not be empty",
		`console: {saml: {}}`:                                         "saml",
		`console: {oidc: [x]}`:                                        "console.oidc",
	} {
		if _, faults := config.Parse("f", []byte(bad), env); !strings.Contains(faults.Error(), want) {
			t.Errorf("%s: got %v, want %q", bad, faults, want)
		}
	}
}
