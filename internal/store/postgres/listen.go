package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// maxNews is how long a notification may be.
const maxNews = 7900

// news is what one commit tells the other servers: the sessions in which something happened
// that people or callers wait for.
type news struct {
	Server    string   `json:"server"`
	Questions []string `json:"questions,omitzero"`
	All       []string `json:"all,omitzero"`
	Many      bool     `json:"many,omitzero"` // they are too many to be named
	Word      string   `json:"word,omitzero"` // said by somebody, about no session
}

func (n *news) add(session, note string) {
	switch notify.Reach(note) {
	case notify.Questions:
		n.Questions = append(n.Questions, session)
	case notify.All:
		n.All = append(n.All, session)
	}
}

func (n *news) text(server string) string {
	n.Server = server
	raw, err := strictjson.Marshal(n)
	if err != nil || len(raw) > maxNews {
		raw, _ = strictjson.Marshal(news{Server: server, Many: true}) // two plain values
	}
	return string(raw)
}

// News is told to a server of what others of the same log did.
type News struct {
	Session string // "": any
	Reach   notify.Reach
	Word    string // what Tell said; then there is no session
}

// Tell says a word to the other servers of the log.
func (s *Store) Tell(ctx context.Context, word string) error {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err == nil {
		_, err = conn.Exec(ctx, `SELECT pg_notify($1, $2)`, s.schema, (&news{Word: word}).text(s.server))
		err = errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return unavailable("tell other servers", err)
	}
	return nil
}

// The pace of a listener: how long it waits before it connects again, and how often it looks
// whether its connection still is one.
const (
	reconnect = 200 * time.Millisecond
	alive     = 15 * time.Second
)

// Listen hears what other servers do, until the context ends or the store is closed. Whenever
// it has connected, and may have missed something, it says that anything may have happened. fault is
// told what went wrong; it connects again by itself.
func (s *Store) Listen(ctx context.Context, hear func(News), fault func(error)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	for ctx.Err() == nil {
		if err := s.listen(ctx, hear); ctx.Err() == nil {
			fault(unavailable("listen to other servers", err))
			pause(ctx, reconnect)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func (s *Store) listen(ctx context.Context, hear func(News)) error {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `LISTEN `+pgx.Identifier{s.schema}.Sanitize()); err != nil {
		return err
	}
	hear(News{Reach: notify.All})
	for {
		quiet, cancel := context.WithTimeout(ctx, alive)
		n, err := conn.WaitForNotification(quiet)
		cancel()
		if err != nil && quiet.Err() != nil && ctx.Err() == nil && !conn.IsClosed() {
			if err := ping(ctx, conn); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		s.heard(n.Payload, hear)
	}
}

// heard passes on what others tell. What cannot be read may be anything.
func (s *Store) heard(payload string, hear func(News)) {
	var n news
	if err := strictjson.Unmarshal([]byte(payload), &n); err != nil {
		n = news{Many: true}
	}
	switch {
	case n.Server == s.server:
		return
	case n.Word != "":
		hear(News{Word: n.Word})
		return
	case n.Many:
		hear(News{Reach: notify.All})
		return
	}
	for _, session := range n.Questions {
		hear(News{Session: session, Reach: notify.Questions})
	}
	for _, session := range n.All {
		hear(News{Session: session, Reach: notify.All})
	}
	if len(n.Questions)+len(n.All) == 0 {
		hear(News{Session: "", Reach: notify.Grown})
	}
}

// leasePace is how often the holder of a lease looks whether it still has it.
const leasePace = 2 * time.Second

// Lease runs something on one server of the log at a time: it waits its turn, and runs until
// the context ends, hold returns, or the connection that holds the lease is lost. Then it waits
// again.
func (s *Store) Lease(ctx context.Context, name string, hold func(context.Context), fault func(error)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	for ctx.Err() == nil {
		if err := s.lease(ctx, name, hold); err != nil && ctx.Err() == nil {
			fault(unavailable("wait for the lease "+name, err))
		}
		pause(ctx, reconnect)
	}
}

func (s *Store) lease(ctx context.Context, name string, hold func(context.Context)) error {
	config := s.config.Copy()
	config.RuntimeParams["statement_timeout"], config.RuntimeParams["lock_timeout"] = "0", "0" // it waits as long as it takes
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // which ends the lease
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtext($1), hashtext($2))`, "tidemark lease "+name, s.schema); err != nil {
		return err
	}
	held, lose := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		hold(held)
	}()
	defer func() { lose(); <-done }()
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(leasePace):
		}
		if err := ping(ctx, conn); err != nil {
			return err
		}
	}
}

func ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, 2*leasePace)
	defer cancel()
	return conn.Ping(ctx)
}
