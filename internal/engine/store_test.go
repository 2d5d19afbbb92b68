package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// verbs is everything that writes, in session s where a call and a write are held.
func verbs(ctx context.Context, w *world, how ...engine.RecordOption) map[string]func() error {
	v := w.view("s")
	again := "again"
	return map[string]func() error{
		"begin": func() error {
			_, err := w.Begin(ctx, engine.Turn{Ref: main("s"), Sender: owner(), Message: &again}, how...)
			return err
		},
		"tools":    func() error { _, err := w.Tools(ctx, engine.ModelCall{Ref: main("s")}, how...); return err },
		"answered": func() error { _, err := w.Replied(ctx, engine.ModelReply{Ref: main("s")}, how...); return err },
		"decide": func() error {
			v, err := w.Decide(ctx, main("s"), call("read", `{}`))
			if err != nil && (v.Permit != nil || v.Allowed()) {
				w.Errorf("got the error %v and a permit", err)
			}
			return err
		},
		"observe": func() error {
			_, err := w.Observe(ctx, engine.Observation{Ref: main("s"), Result: tool.Result{Name: "read"}}, how...)
			return err
		},
		"answer": func() error {
			_, err := w.Answer(ctx, engine.Vote{Session: "s", IDs: []string{v.Questions[0].ID}, Approve: true})
			return err
		},
		"reset":  func() error { return w.Reset(ctx, main("s"), "admin", "http") },
		"review": func() error { _, err := w.Review(ctx, "s", v.Writes[0].ID, true, "desk", "http"); return err },
		"end":    func() error { _, err := w.End(ctx, engine.Ending{Ref: main("s")}, how...); return err },
	}
}

func busy(t *testing.T, store engine.Store) *world {
	t.Helper()
	w := newWorldOn(t, "", store)
	w.ownerSays("s", "go")
	w.taints("s")
	w.want(policy.Confirm, main("s"), call("deploy", `{}`))
	w.want(policy.Confirm, main("s"), memoryWrite())
	return w
}

// SEQ-09
func TestWithoutARecordNothingHappens(t *testing.T) {
	down := errors.New("disk full")
	fails := map[string]func(*fakeStore) func(context.Context, string, uint64, []*event.Event) error{
		"nothing was written": func(*fakeStore) func(context.Context, string, uint64, []*event.Event) error {
			return func(context.Context, string, uint64, []*event.Event) error { return down }
		},
		"it was written all the same": func(f *fakeStore) func(context.Context, string, uint64, []*event.Event) error {
			return func(ctx context.Context, s string, at uint64, e []*event.Event) error {
				if err := f.Store.Append(ctx, s, at, e); err != nil {
					return err
				}
				return down
			}
		},
	}
	for name, fail := range fails {
		for verb := range verbs(t.Context(), busy(t, memory.New())) {
			t.Run(verb+", "+name, func(t *testing.T) {
				store := newFakeStore()
				w := busy(t, store)
				do := verbs(t.Context(), w)[verb]
				store.append = fail(store)
				for range 2 {
					err := do()
					var refused *engine.AnswerError
					late := errors.Is(err, engine.ErrSealed) || errors.As(err, &refused) // the first one was written
					if err == nil || !late && (!errors.Is(err, engine.ErrUnavailable) || !errors.Is(err, down)) {
						t.Errorf("got %v, want ErrUnavailable and its cause", err)
					}
				}
				store.append = nil
				if got, want := asJSON(t, w.view("s")), asJSON(t, w.again().view("s")); got != want {
					t.Errorf("the state is not the log's:\n%s\nwant\n%s", got, want)
				}
				w.wantLevelAfter(verb, name)
				if _, err := w.Decide(t.Context(), main("s"), call("read", `{}`)); err != nil {
					t.Errorf("when the store works again: %v", err)
				}
				verified(t, store, "s")
			})
		}
	}
}

// wantLevelAfter knows which failed verb may have changed the mark: a reset that was
// written although its caller was told otherwise.
func (w *world) wantLevelAfter(verb, name string) {
	w.Helper()
	want := trust.Untrusted
	if verb == "reset" && strings.Contains(name, "all the same") {
		want = trust.Owner
	}
	w.wantLevel("s", want)
}

// SEQ-09
func TestALogThatCannotBeReadDecidesNothing(t *testing.T) {
	broken := func(records ...audit.Record) func(context.Context, string, uint64) iter.Seq2[audit.Record, error] {
		return func(context.Context, string, uint64) iter.Seq2[audit.Record, error] {
			return func(yield func(audit.Record, error) bool) {
				for _, r := range records {
					if !yield(r, nil) {
						return
					}
				}
			}
		}
	}
	began := audit.Record{Seq: 1, Kind: "turn.began", Body: []byte(`{"turn":"t","began":{"label":{"level":"owner","sensitivity":"internal"},"carry":true}}`)}
	loads := map[string]func(context.Context, string, uint64) iter.Seq2[audit.Record, error]{
		"an error":         unreadable(errors.New("disk gone")),
		"an unknown event": broken(audit.Record{Seq: 1, Kind: "trust.raised", Body: []byte("{}")}),
		"a broken body":    broken(audit.Record{Seq: 1, Kind: "turn.began", Body: []byte("{")}),
		"a missing record": broken(began, audit.Record{Seq: 3, Kind: "turn.sealed", Body: []byte(`{"seen":{}}`)}),
		"a missing start":  broken(audit.Record{Seq: 2, Kind: "turn.began", Body: began.Body}),
	}
	for name, load := range loads {
		t.Run(name, func(t *testing.T) {
			store := newFakeStore()
			w := busy(t, store)
			do := verbs(t.Context(), w)
			store.load = load
			w.Monitor = newMonitor(t, engine.Options{Policy: w.Policy(), Store: store, Now: w.clock.Now, Rand: w.dice})
			for verb, do := range do {
				if err := do(); !errors.Is(err, engine.ErrUnavailable) {
					t.Errorf("%s: got %v, want ErrUnavailable", verb, err)
				}
			}
			if _, err := w.View(t.Context(), "s"); !errors.Is(err, engine.ErrUnavailable) {
				t.Errorf("view: got %v, want ErrUnavailable", err)
			}
			if _, err := w.Graph(t.Context(), "s", "turn-1"); err == nil {
				t.Error("graph: got no error")
			}
			parent := engine.Turn{Ref: main("child"), Sender: trust.Sender{Provider: "x", SpawnedBy: "s"}}
			if _, err := w.Begin(t.Context(), parent); !errors.Is(err, engine.ErrUnavailable) {
				t.Errorf("a child of it: got %v, want ErrUnavailable", err)
			}
			if _, err := w.Observe(t.Context(), engine.Observation{Ref: main("other"), From: "s"}); !errors.Is(err, engine.ErrUnavailable) {
				t.Errorf("a result of it: got %v, want ErrUnavailable", err)
			}
			if _, err := w.Begin(t.Context(), engine.Turn{Ref: main("other"), From: "s"}); !errors.Is(err, engine.ErrUnavailable) {
				t.Errorf("a turn started by its result: got %v, want ErrUnavailable", err)
			}
			store.load = nil
			w.want(policy.Confirm, main("s"), call("deploy", `{"now":true}`))
		})
	}
}

// A store whose Append failed may still be busy with the event.
func TestAFailedEventIsNotUsedAgain(t *testing.T) {
	store := newFakeStore()
	w := busy(t, store)
	var kept *event.Event
	store.append = func(_ context.Context, _ string, _ uint64, e []*event.Event) error {
		kept = e[0]
		return errors.New("timed out")
	}
	if _, err := w.Decide(t.Context(), main("s"), call("read", `{"first":1}`)); err == nil {
		t.Fatal("got no error")
	}
	store.append = nil
	for range 10 {
		w.want(policy.Allow, main("s"), call("web_search", `{"second":2}`))
	}
	if _, err := kept.Record("s"); err != nil {
		t.Fatal(err)
	}
	kept.Decided.Seal()
	if kept.Decided == nil || kept.Decided.Tool != "read" || kept.Decided.Digest != call("read", `{"first":1}`).Digest() {
		t.Errorf("the event of the failed call has become %+v", kept.Decided)
	}
}

func TestAConflictThatDoesNotEndIsAnError(t *testing.T) {
	store := newFakeStore()
	w := busy(t, store)
	tries := 0
	store.append = func(context.Context, string, uint64, []*event.Event) error {
		tries++
		return fmt.Errorf("append: %w", engine.ErrConflict)
	}
	v, err := w.Decide(t.Context(), main("s"), call("read", `{}`))
	if !errors.Is(err, engine.ErrConflict) || v.Permit != nil || tries < 2 || tries > 10 {
		t.Errorf("got %v after %d tries, want ErrConflict after a few", err, tries)
	}
	store.append = nil
	w.want(policy.Allow, main("s"), call("read", `{}`))
}

func TestAConflictWithALogThatCannotBeReadIsAnError(t *testing.T) {
	store := newFakeStore()
	w := busy(t, store)
	w.again().ownerSays("s", "more")
	store.load = unreadable(errors.New("disk gone"))
	if v, err := w.Decide(t.Context(), main("s"), call("read", `{}`)); !errors.Is(err, engine.ErrUnavailable) || v.Permit != nil {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	store.load = nil
	w.want(policy.Allow, main("s"), call("read", `{}`))
}

func TestALogMayAnswerWhatNobodyAsked(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "go")
	w.taints("s")
	answer := &event.Answer{By: "x", IDs: []string{"nothing"}, Verdict: "approve", Until: 1 << 62}
	for i, kind := range []event.Kind{event.Answered, event.WriteReviewed, event.GrantRevoked, event.TryFailed} {
		if err := w.store.Append(t.Context(), "s", w.view("s").Records+uint64(i), []*event.Event{{Kind: kind, Answer: answer}}); err != nil {
			t.Fatal(err)
		}
	}
	w.again().want(policy.Confirm, main("s"), call("deploy", `{}`))
}

func TestASessionWhoseLogWasRemovedStartsOverUntrusted(t *testing.T) {
	store := newFakeStore()
	w := newWorldOn(t, "", store)
	w.ownerSays("s", "go")
	w.want(policy.Allow, main("s"), call("deploy", `{}`))
	store.Store = memory.New()
	w.want(policy.Confirm, main("s"), call("deploy", `{}`))
	w.wantLevel("s", trust.Untrusted)
	verified(t, store, "s")
}

func TestWithoutRandomnessThereIsNoQuestion(t *testing.T) {
	for bytes := range 16 { // an id, a code, an id
		w, c, _ := held(t, "toolOverrides: {write: {untrusted: hide}}")
		entropy := io.MultiReader(strings.NewReader(strings.Repeat("x", bytes)), iotest.ErrReader(errors.New("no entropy")))
		w.Monitor = newMonitor(t, engine.Options{Policy: w.Policy(), Store: w.store, Now: w.clock.Now, Rand: entropy})
		before := len(w.events("s"))
		switch {
		case bytes < 6: // not enough for any id
			_, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{w.view("s").Questions[0].ID}, Approve: true, For: 1})
			wantNothing(w, err, engine.Verdict{}, before)
			v, err := w.Decide(t.Context(), main("s"), memoryWrite())
			wantNothing(w, err, v, before)
			fallthrough
		case bytes < 10: // an id, but no code
			v, err := w.Decide(t.Context(), main("s"), call("deploy", `{"other":1}`))
			wantNothing(w, err, v, before)
		default:
			w.want(policy.Confirm, main("s"), c)
		}
		w.want(policy.Allow, main("s"), call("read", `{}`))
	}
}

func wantNothing(w *world, err error, v engine.Verdict, records int) {
	w.Helper()
	if err == nil || v.Permit != nil || v.Held != nil || len(w.events("s")) != records {
		w.Errorf("got %+v, %v and %d records; want an error and nothing recorded", v, err, len(w.events("s")))
	}
}

// SEQ-09
func TestASessionThatCannotBeBegunDecidesNothing(t *testing.T) {
	store := newFakeStore()
	w := newWorldOn(t, "", store)
	store.append = func(context.Context, string, uint64, []*event.Event) error { return engine.ErrUnavailable }
	ctx, ref := t.Context(), main("new")
	errs := map[string]error{}
	_, errs["decide"] = w.Decide(ctx, ref, call("read", `{}`))
	_, errs["observe"] = w.Observe(ctx, engine.Observation{Ref: ref})
	_, errs["tools"] = w.Tools(ctx, engine.ModelCall{Ref: ref})
	_, errs["answered"] = w.Replied(ctx, engine.ModelReply{Ref: ref})
	for verb, err := range errs {
		if !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", verb, err)
		}
	}
	store.append = nil
	w.begin(engine.Turn{Ref: engine.Ref{Session: "s", Turn: "r"}, Sender: owner()})
	w.end(main("s"))
	store.append = func(context.Context, string, uint64, []*event.Event) error { return engine.ErrUnavailable }
	if _, err := w.Tools(ctx, engine.ModelCall{Ref: engine.Ref{Session: "s", Turn: "r"}}); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("a model call after the turn: got %v, want ErrUnavailable", err)
	}
}

// PRV-19
func TestAWrongTryThatCannotBeRecordedIsAnError(t *testing.T) {
	store := newFakeStore()
	w := busy(t, store)
	store.append = func(ctx context.Context, s string, at uint64, e []*event.Event) error {
		if e[0].Kind == event.TryFailed {
			return errors.New("disk full")
		}
		return store.Store.Append(ctx, s, at, e)
	}
	message := ".approve deploy 00000000"
	if _, err := w.Begin(t.Context(), engine.Turn{Ref: main("s"), Sender: owner(), Message: &message}); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable: tries that are not counted are free tries", err)
	}
}
