//go:build !race

package approvalproof_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
)

// To stretch a secret is meant to be slow, and takes a minute under the race detector.

// CON-24
func TestWhatAnApprovalNeeds(t *testing.T) {
	yes := &engine.Vote{Approve: true, Via: "http"}
	for name, c := range map[string]struct {
		opts  approvalproof.Options
		setup func(*testing.T, *keeper)
		vote  *engine.Vote
		want  bool
	}{
		"nothing, by itself":                {vote: yes, want: true},
		"a passkey, once one is enrolled":   {setup: func(t *testing.T, k *keeper) { k.enrol(t) }, vote: yes},
		"a passkey, where the file says so": {opts: approvalproof.Options{Want: approvalproof.Passkey}, vote: yes},
		"a secret, where the file says so":  {opts: approvalproof.Options{Want: approvalproof.Typed}, vote: yes},
		"a channel that counts": {opts: approvalproof.Options{Want: approvalproof.Passkey, Also: []string{"telegram"}},
			vote: &engine.Vote{Via: "telegram"}, want: true},
		"a channel that does not": {opts: approvalproof.Options{Want: approvalproof.Passkey}, vote: &engine.Vote{Via: "telegram"}},
		"a secret does nothing beside a passkey": {setup: func(t *testing.T, k *keeper) { k.secret(t); k.enrolWith(t, secret) },
			vote: &engine.Vote{Secret: secret}},
		"the secret": {setup: func(t *testing.T, k *keeper) { k.secret(t) },
			vote: &engine.Vote{Secret: secret}, want: true},
		"another secret": {setup: func(t *testing.T, k *keeper) { k.secret(t) },
			vote: &engine.Vote{Secret: secret + "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := open(t, c.opts)
			if c.setup != nil {
				c.setup(t, k)
			}
			_, err := k.Prove(c.vote, "{}")
			if (err == nil) != c.want || err != nil && !errors.Is(err, engine.ErrProof) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSecretsAreGuessedFiveTimes(t *testing.T) {
	k := open(t, approvalproof.Options{})
	k.secret(t)
	for range 5 {
		if _, err := k.Check("{}", nil, "a wrong secret"); !errors.Is(err, engine.ErrProof) {
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
