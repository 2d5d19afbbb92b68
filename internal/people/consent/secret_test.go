//go:build !race

package consent_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/people/consent"
)

// To stretch a secret is meant to be slow, and takes a minute under the race detector.

// CON-24
func TestWhatAnApprovalNeeds(t *testing.T) {
	yes := &tidemark.Vote{Approve: true, Via: "http"}
	for name, c := range map[string]struct {
		opts  consent.Options
		setup func(*testing.T, *keeper)
		vote  *tidemark.Vote
		want  bool
	}{
		"nothing, by itself":                {vote: yes, want: true},
		"a passkey, once one is enrolled":   {setup: func(t *testing.T, k *keeper) { k.enrol(t) }, vote: yes},
		"a passkey, where the file says so": {opts: consent.Options{Want: consent.Passkey}, vote: yes},
		"a secret, where the file says so":  {opts: consent.Options{Want: consent.Typed}, vote: yes},
		"a channel that counts": {opts: consent.Options{Want: consent.Passkey, Also: []string{"telegram"}},
			vote: &tidemark.Vote{Via: "telegram"}, want: true},
		"a channel that does not": {opts: consent.Options{Want: consent.Passkey}, vote: &tidemark.Vote{Via: "telegram"}},
		"a secret does nothing beside a passkey": {setup: func(t *testing.T, k *keeper) { k.secret(t); k.enrolWith(t, secret) },
			vote: &tidemark.Vote{Secret: secret}},
		"the secret": {setup: func(t *testing.T, k *keeper) { k.secret(t) },
			vote: &tidemark.Vote{Secret: secret}, want: true},
		"another secret": {setup: func(t *testing.T, k *keeper) { k.secret(t) },
			vote: &tidemark.Vote{Secret: secret + "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := open(t, c.opts)
			if c.setup != nil {
				c.setup(t, k)
			}
			_, err := k.Prove(c.vote, "{}")
			if (err == nil) != c.want || err != nil && !errors.Is(err, tidemark.ErrProof) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSecretsAreGuessedFiveTimes(t *testing.T) {
	k := open(t, consent.Options{})
	k.secret(t)
	for range 5 {
		if _, err := k.Check("{}", nil, "a wrong secret"); !errors.Is(err, tidemark.ErrProof) {
			t.Fatal(err)
		}
	}
	if _, err := k.Check("{}", nil, secret); err == nil || !strings.Contains(err.Error(), "wait five minutes") {
		t.Errorf("the right one after five wrong: %v", err)
	}
	k.now = k.now.Add(6 * time.Minute)
	if _, err := k.Check("{}", nil, secret); err != nil {
		t.Errorf("six minutes later: %v", err)
	}
}
