package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
)

// around is what happens around the agent: people, time, the monitor itself.
func (r *run) around(ctx context.Context, st *Step) (Outcome, error) {
	desk, window := r.people()
	switch st.Verb {
	case VerbAnswer:
		return r.answer(ctx, desk, st)
	case VerbReview:
		w, err := pick(r.writes, st.Vote.Number, "write")
		if err != nil {
			return Outcome{}, err
		}
		return Outcome{}, desk.Review(ctx, r.key(w.session), w.id, st.Vote.Yes)
	case VerbReset:
		ref := st.Ref
		ref.Session = r.key(ref.Session)
		return Outcome{}, desk.Reset(ctx, ref)
	case VerbRevoke:
		return Outcome{}, r.revoke(ctx, desk, st)
	case VerbState:
		o, err := window.State(ctx, st.Ref)
		o.Asked = r.world.advisers.questions()
		return o, err
	case VerbGraph:
		text, err := window.Picture(ctx, st.Ref.Session, st.Ref.Turn)
		return Outcome{Picture: text}, err
	case VerbReload:
		return Outcome{}, r.reload(ctx, st)
	case VerbRestart:
		return Outcome{}, r.restart()
	case VerbWait:
		r.world.now.Add(int64(st.Wait))
	}
	return Outcome{}, nil
}

// people are the desk and the window of the door, or the monitor's own.
func (r *run) people() (Desk, Window) {
	inner := EngineOf(r.world.Monitor)
	desk, isDesk := r.door.(Desk)
	if !isDesk {
		desk = inner
	}
	window, isWindow := r.door.(Window)
	if !isWindow {
		window = inner
	}
	return desk, window
}

// key is a session's name at the monitor.
func (r *run) key(session string) string {
	if n, ok := r.door.(Namer); ok {
		return n.Key(session)
	}
	return session
}

func (r *run) answer(ctx context.Context, desk Desk, st *Step) (Outcome, error) {
	q, err := pick(r.questions, st.Vote.Number, "question")
	if err != nil {
		return Outcome{}, err
	}
	return desk.Answer(ctx, engine.Vote{
		Session: r.key(q.session), IDs: []string{q.id}, Approve: st.Vote.Yes,
		For: time.Duration(st.Vote.Minutes) * time.Minute, By: by, Via: via,
		Where: st.Vote.Where, Reason: st.Vote.Reason,
	})
}

// revoke ends the session's latest grant.
func (r *run) revoke(ctx context.Context, desk Desk, st *Step) error {
	session := r.key(st.Ref.Session)
	v, err := r.world.Monitor.View(ctx, session)
	if err != nil {
		return err
	}
	if len(v.Grants) == 0 {
		return fmt.Errorf("revoke grant: %w", engine.ErrNotFound)
	}
	return desk.Revoke(ctx, session, v.Grants[len(v.Grants)-1].ID)
}

func (r *run) reload(ctx context.Context, st *Step) error {
	set, faults, err := r.s.load(st.File, r.preset)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("policy %s: %w", st.File, faults)
	}
	r.world.next = set
	if d, ok := r.door.(Reloader); ok {
		return d.Reload(ctx)
	}
	r.world.Apply()
	return nil
}

// restart loses everything but the log.
func (r *run) restart() error {
	if err := r.close(); err != nil {
		return err
	}
	if err := r.world.boot(); err != nil {
		return err
	}
	var err error
	r.door, err = r.rig.Door(r.world)
	return err
}

// pick is the nth thing a person can answer; 0 is the latest.
func pick(from []asked, n int, what string) (asked, error) {
	if n == 0 {
		n = len(from)
	}
	if n < 1 || n > len(from) {
		return asked{}, fmt.Errorf("there is no %s %d: %d so far: %w", what, n, len(from), errUnasked)
	}
	return from[n-1], nil
}
