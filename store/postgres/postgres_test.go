package postgres_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/test/pgtest"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/store/postgres"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Who waits in one program hears the answer that the owner gives in another.
func TestTwoProgramsOfOneDatabaseAreOneMonitor(t *testing.T) {
	address := pgtest.Start(t).New(t)
	open := func() *tidemark.Monitor {
		log, err := postgres.Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		})
		set, faults := policy.Parse("policy.yaml", []byte("preset: classic\ntoolOverrides: {deploy: {'*': confirm}}"))
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		m, err := tidemark.New(tidemark.Options{Policy: set, Store: log})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	one, other := open(), open()
	at, ada := tidemark.Ref{Session: "desk", Turn: "1"}, trust.Sender{Provider: "chat", ID: "ada", IsOwner: true}
	if _, err := one.Begin(t.Context(), tidemark.Turn{Ref: at, Sender: ada, Message: "Go on."}); err != nil {
		t.Fatal(err)
	}
	call := tool.Call{Name: "deploy", Args: []byte(`{"to":"staging"}`)}
	got := make(chan tidemark.Verdict, 1)
	go func() {
		v, err := one.Decide(t.Context(), at, call, tidemark.Wait(time.Minute))
		if err != nil {
			t.Error(err)
		}
		got <- v
	}()
	var list []tidemark.Question
	for len(list) == 0 {
		var err error
		if list, err = other.Questions(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	yes := tidemark.Vote{Session: at.Session, IDs: []string{list[0].ID}, Approve: true, By: "ada", Via: "console"}
	if _, err := other.Answer(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
	if v := <-got; !v.Allowed() || v.Permit.Redeem(call) != nil {
		t.Errorf("got %s by %s; want it allowed", v.Effect, v.Rule)
	}
}
