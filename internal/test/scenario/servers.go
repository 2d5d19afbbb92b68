package scenario

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// servers is a door behind which every step may be answered by another monitor.
type servers struct {
	world *World
	next  func() (*engine.Monitor, error)
}

var (
	_ Door   = (*servers)(nil)
	_ Hearer = (*servers)(nil)
	_ Desk   = (*servers)(nil)
	_ Window = (*servers)(nil)
)

// OpenRestarted has every step answered by a monitor that has just been started.
func OpenRestarted(w *World) (Door, error) {
	return &servers{w, func() (*engine.Monitor, error) { return w.Server(nil) }}, nil
}

// OpenReplicas has every step answered by one of three monitors that run beside each other, by chance.
func OpenReplicas(seed string) func(*World) (Door, error) {
	dice := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(seed)))) // the same every time
	return func(w *World) (Door, error) {
		shared, ok := w.Store.(engine.Shared)
		if !ok {
			return nil, fmt.Errorf("open replicas: %T cannot be shared", w.Store)
		}
		var all []*engine.Monitor
		for range 3 {
			m, err := w.Server(shared)
			if err != nil {
				return nil, err
			}
			all = append(all, m)
		}
		return &servers{w, func() (*engine.Monitor, error) { return all[dice.IntN(len(all))], nil }}, nil
	}
}

// at is the engine of the next monitor, which has the policy in force.
func (s *servers) at() (*Engine, error) {
	m, err := s.next()
	if err != nil {
		return nil, err
	}
	m.SetPolicy(s.world.Monitor.Policy())
	s.world.Monitor = m
	return EngineOf(m), nil
}

// answered is what the next monitor answers.
func answered[T any](s *servers, ask func(*Engine, context.Context, T) (Outcome, error),
	ctx context.Context, about T, //nolint:revive // whom is asked stands first
) (Outcome, error) {
	e, err := s.at()
	if err != nil {
		return Outcome{}, err
	}
	return ask(e, ctx, about)
}

// Begin implements Door.
func (s *servers) Begin(ctx context.Context, t engine.Turn) (Outcome, error) {
	return answered(s, (*Engine).Begin, ctx, t)
}

// Model implements Door.
func (s *servers) Model(ctx context.Context, c engine.ModelCall) (Outcome, error) {
	return answered(s, (*Engine).Model, ctx, c)
}

// Wants implements Hearer.
func (s *servers) Wants(ctx context.Context, r engine.ModelReply) (Outcome, error) {
	return answered(s, (*Engine).Wants, ctx, r)
}

// Result implements Door.
func (s *servers) Result(ctx context.Context, o engine.Observation) (Outcome, error) {
	return answered(s, (*Engine).Result, ctx, o)
}

// End implements Door.
func (s *servers) End(ctx context.Context, end engine.Ending) (Outcome, error) {
	return answered(s, (*Engine).End, ctx, end)
}

// Answer implements Desk.
func (s *servers) Answer(ctx context.Context, v engine.Vote) (Outcome, error) {
	return answered(s, (*Engine).Answer, ctx, v)
}

// State implements Window.
func (s *servers) State(ctx context.Context, ref engine.Ref) (Outcome, error) {
	return answered(s, (*Engine).State, ctx, ref)
}

// Call implements Door.
func (s *servers) Call(ctx context.Context, ref engine.Ref, call tool.Call) (Outcome, error) {
	e, err := s.at()
	if err != nil {
		return Outcome{}, err
	}
	return e.Call(ctx, ref, call)
}

// Picture implements Window.
func (s *servers) Picture(ctx context.Context, session, turn string) (string, error) {
	e, err := s.at()
	if err != nil {
		return "", err
	}
	return e.Picture(ctx, session, turn)
}

// Review implements Desk.
func (s *servers) Review(ctx context.Context, session, write string, release bool) error {
	e, err := s.at()
	if err != nil {
		return err
	}
	return e.Review(ctx, session, write, release)
}

// Reset implements Desk.
func (s *servers) Reset(ctx context.Context, ref engine.Ref) error {
	e, err := s.at()
	if err != nil {
		return err
	}
	return e.Reset(ctx, ref)
}

// Revoke implements Desk.
func (s *servers) Revoke(ctx context.Context, session, grant string) error {
	e, err := s.at()
	if err != nil {
		return err
	}
	return e.Revoke(ctx, session, grant)
}
