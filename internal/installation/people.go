package installation

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/webpush"
)

// Roster reads who has a token of their own; changes are recorded with the keys. Where several servers have the log, it
// is there that they stand.
func Roster(
	p datafolder.Paths, keys *approvalproof.Keeper, left func(ctx context.Context, whose, by string) error,
) (*accounts.Roster, error) {
	o := accounts.Options{Path: p.People(), Now: time.Now, Rand: rand.Reader, Record: keys.Record, Left: left}
	if p.Store != "" {
		o.Kept = func() ([]accounts.Person, error) { return named(keys) }
	}
	return accounts.Open(o)
}

// named is everybody whose token the log has.
func named(keys *approvalproof.Keeper) ([]accounts.Person, error) {
	tokens, err := keys.Tokens()
	out := make([]accounts.Person, len(tokens))
	for i, t := range tokens {
		out[i] = accounts.Person{
			Name: t.Name, Role: t.Role, Agent: t.Agent, Machine: t.Machine, Hash: t.Hash, Made: time.Unix(0, t.Made).UTC(),
		}
	}
	return out, err
}

// People are those who have a token of their own.
func People(ctx context.Context, p datafolder.Paths) (list []accounts.Person, err error) {
	if p.Store != "" {
		log, err := OpenLog(ctx, p)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		return named(log.keys)
	}
	nothing := func(context.Context, event.Person) error { return nil } // nothing is changed
	r, err := accounts.Open(accounts.Options{Path: p.People(), Now: time.Now, Rand: rand.Reader, Record: nothing})
	if err != nil {
		return nil, err
	}
	return r.List(), nil
}

// AddPerson makes a token for somebody while no server runs, and RevokePerson takes it away.
func AddPerson(ctx context.Context, p datafolder.Paths, by, name, role string) (token string, who accounts.Person, err error) {
	err = withRoster(ctx, p, func(log *Log, r *accounts.Roster) error {
		if role == accounts.MachineRole {
			if token, err = r.AddMachine(ctx, accounts.Actor{By: by, Via: "cli"}, name); err == nil {
				who, _ = r.Find(token) // it was just added
			}
			return err
		}
		if err := log.Unproven(); err != nil {
			return err
		}
		if token, err = r.Add(ctx, accounts.Actor{By: by, Via: "cli"}, name, role); err == nil {
			who, _ = r.Find(token) // it was just added
		}
		return err
	})
	return token, who, err
}

// AddAgent makes a token that is one agent's while no server runs.
func AddAgent(ctx context.Context, p datafolder.Paths, by, name, agent string) (token string, who accounts.Person, err error) {
	err = withRoster(ctx, p, func(_ *Log, r *accounts.Roster) error {
		if token, err = r.AddAgent(ctx, accounts.Actor{By: by, Via: "cli"}, name, agent); err == nil {
			who, _ = r.Find(token) // it was just added
		}
		return err
	})
	return token, who, err
}

// RevokePerson takes somebody's token away while no server runs.
func RevokePerson(ctx context.Context, p datafolder.Paths, by, name string) error {
	return withRoster(ctx, p, func(_ *Log, r *accounts.Roster) error {
		_, err := r.Revoke(ctx, accounts.Actor{By: by, Via: "cli"}, name)
		return err
	})
}

// withRoster opens the log and the list for as long as step runs; no server may.
func withRoster(ctx context.Context, p datafolder.Paths, step func(*Log, *accounts.Roster) error) (err error) {
	lock, err := datafolder.Lock(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	log, err := OpenLogForAnswers(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	r, err := Roster(p, log.keys, func(_ context.Context, whose, _ string) error { return webpush.Forget(p.Push(), whose) })
	if err != nil {
		return err
	}
	return step(log, r)
}
