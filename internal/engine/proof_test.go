package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
)

// prover believes one secret.
type prover struct{ said []string }

func (p *prover) Prove(v *engine.Vote, said string) (*event.Proof, error) {
	p.said = append(p.said, said)
	if v.Secret != "open sesame" {
		return nil, engine.ErrProof
	}
	return &event.Proof{Kind: "typed", Said: said}, nil
}

// CON-24
func TestEveryApprovalIsProven(t *testing.T) {
	p := &prover{}
	w := newWorld(t, byLevels)
	w.Monitor = newMonitor(t, engine.Options{Policy: parse(t, byLevels), Store: w.store, Now: w.clock.Now, Rand: newDice(), Prover: p})
	w.ownerSays("s", "go")
	w.taints("s")
	c := call("deploy", `{"stage":"one"}`)
	q := w.want(policy.Confirm, main("s"), c).Held
	if open := w.ownerSays("s", ".approve deploy "+q.Code); !strings.Contains(open.Notice, "takes a proof") {
		t.Errorf("a chat code alone: %q", open.Notice)
	}
	w.want(policy.Confirm, main("s"), c)
	if open := w.ownerSays("s", ".reset-trust"); !strings.Contains(open.Notice, "Trust was not reset") {
		t.Errorf("a word in the chat: %q", open.Notice)
	}
	w.want(policy.Confirm, main("s"), c)
	vote := engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true, By: "approver", Via: "http", For: 15 * time.Minute}
	if _, err := w.Answer(t.Context(), vote); !errors.Is(err, engine.ErrProof) {
		t.Errorf("a vote alone: %v", err)
	}
	w.want(policy.Confirm, main("s"), c)
	vote.Secret = "open sesame"
	if _, err := w.Answer(t.Context(), vote); err != nil {
		t.Fatalf("with a proof: %v", err)
	}
	w.want(policy.Allow, main("s"), c)
	last := p.said[len(p.said)-1]
	for _, part := range []string{`"decision":"approve"`, `"id":"` + q.ID + `"`, `"digest":"` + q.Digest + `"`, `"minutes":15`,
		`"session":"s"`} {
		if !strings.Contains(last, part) {
			t.Errorf("%s is not in what is approved: %s", part, last)
		}
	}
	for _, e := range w.events("s") {
		if e.Kind == event.Answered && (e.Answer.Proof == nil || e.Answer.Proof.Said != last) {
			t.Errorf("recorded %+v", e.Answer)
		}
		if strings.Contains(asJSON(t, e), "sesame") {
			t.Error("the secret is in the log")
		}
	}
}

// CON-24
func TestADenialIsNeverPutToTheProver(t *testing.T) {
	p := &prover{}
	w := newWorld(t, byLevels)
	w.Monitor = newMonitor(t, engine.Options{Policy: parse(t, byLevels), Store: w.store, Now: w.clock.Now, Rand: newDice(), Prover: p})
	w.ownerSays("s", "go")
	w.taints("s")
	q := w.want(policy.Confirm, main("s"), call("deploy", `{"stage":"one"}`)).Held
	if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{q.ID}, By: "approver",
		Via: "http"}); err != nil || len(p.said) != 0 {
		t.Errorf("got %v, asked %v", err, p.said)
	}
}
