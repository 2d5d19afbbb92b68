package tidemark_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/provenance"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// verbs is everything that writes, in session s where a call and a write are held.
func verbs(ctx context.Context, w *world) map[string]func() error {
	v := w.view("s")
	again := "again"
	return map[string]func() error{
		"begin": func() error {
			_, err := w.Begin(ctx, tidemark.Turn{Ref: main("s"), Sender: owner(), Message: &again})
			return err
		},
		"tools":    func() error { _, err := w.Tools(ctx, tidemark.ModelCall{Ref: main("s")}); return err },
		"answered": func() error { _, err := w.Answered(ctx, tidemark.Asked{Ref: main("s")}); return err },
		"decide": func() error {
			v, err := w.Decide(ctx, main("s"), call("read", `{}`))
			if err != nil && (v.Permit != nil || v.Allowed()) {
				w.Errorf("got the error %v and a permit", err)
			}
			return err
		},
		"observe": func() error {
			_, err := w.Observe(ctx, tidemark.Observation{Ref: main("s"), Result: tool.Result{Name: "read"}})
			return err
		},
		"answer": func() error {
			_, err := w.Answer(ctx, tidemark.Vote{Session: "s", IDs: []string{v.Questions[0].ID}, Approve: true})
			return err
		},
		"reset":  func() error { return w.Reset(ctx, main("s"), "admin", "http") },
		"review": func() error { _, err := w.Review(ctx, "s", v.Writes[0].ID, true, "desk", "http"); return err },
		"end":    func() error { _, err := w.End(ctx, tidemark.Ending{Ref: main("s")}); return err },
	}
}

func busy(t *testing.T, store tidemark.Store) *world {
	t.Helper()
	w := newWorldOn(t, "", store)
	w.ownerSays("s", "go")
	w.taints("s")
	w.want(policy.Confirm, main("s"), call("exec", `{}`))
	w.want(policy.Confirm, main("s"), memoryWrite())
	return w
}

// SEQ-09
func TestWithoutARecordNothingHappens(t *testing.T) {
	down := errors.New("disk full")
	fails := map[string]func(*fakeStore) func(context.Context, string, uint64, []*provenance.Event) error{
		"nothing was written": func(*fakeStore) func(context.Context, string, uint64, []*provenance.Event) error {
			return func(context.Context, string, uint64, []*provenance.Event) error { return down }
		},
		"it was written all the same": func(f *fakeStore) func(context.Context, string, uint64, []*provenance.Event) error {
			return func(ctx context.Context, s string, at uint64, e []*provenance.Event) error {
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
					var refused *tidemark.AnswerError
					late := errors.Is(err, tidemark.ErrSealed) || errors.As(err, &refused) // the first one was written
					if err == nil || !late && (!errors.Is(err, tidemark.ErrUnavailable) || !errors.Is(err, down)) {
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
			w.Monitor = newMonitor(t, tidemark.Options{Policy: w.Policy(), Store: store, Now: w.clock.Now, Rand: w.dice})
			for verb, do := range do {
				if err := do(); !errors.Is(err, tidemark.ErrUnavailable) {
					t.Errorf("%s: got %v, want ErrUnavailable", verb, err)
				}
			}
			if _, err := w.View(t.Context(), "s"); !errors.Is(err, tidemark.ErrUnavailable) {
				t.Errorf("view: got %v, want ErrUnavailable", err)
			}
			if _, err := w.Graph(t.Context(), "s", "turn-1"); err == nil {
				t.Error("graph: got no error")
			}
			parent := tidemark.Turn{Ref: main("child"), Sender: trust.Sender{Provider: "x", SpawnedBy: "s"}}
			if _, err := w.Begin(t.Context(), parent); !errors.Is(err, tidemark.ErrUnavailable) {
				t.Errorf("a child of it: got %v, want ErrUnavailable", err)
			}
			if _, err := w.Observe(t.Context(), tidemark.Observation{Ref: main("other"), From: "s"}); !errors.Is(err, tidemark.ErrUnavailable) {
				t.Errorf("a result of it: got %v, want ErrUnavailable", err)
			}
			store.load = nil
			w.want(policy.Confirm, main("s"), call("exec", `{"now":true}`))
		})
	}
}

// A store whose Append failed may still be busy with the event.
func TestAFailedEventIsNotUsedAgain(t *testing.T) {
	store := newFakeStore()
	w := busy(t, store)
	var kept *provenance.Event
	store.append = func(_ context.Context, _ string, _ uint64, e []*provenance.Event) error {
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
	if kept.Decided == nil || kept.Decided.Tool != "read" || kept.Decided.Digest != call("read", `{"first":1}`).Digest() {
		t.Errorf("the event of the failed call has become %+v", kept.Decided)
	}
}

func TestAConflictThatDoesNotEndIsAnError(t *testing.T) {
	store := newFakeStore()
	w := busy(t, store)
	tries := 0
	store.append = func(context.Context, string, uint64, []*provenance.Event) error {
		tries++
		return fmt.Errorf("append: %w", tidemark.ErrConflict)
	}
	v, err := w.Decide(t.Context(), main("s"), call("read", `{}`))
	if !errors.Is(err, tidemark.ErrConflict) || v.Permit != nil || tries < 2 || tries > 10 {
		t.Errorf("got %v after %d tries, want ErrConflict after a few", err, tries)
	}
	store.append = nil
	w.want(policy.Allow, main("s"), call("read", `{}`))
}

// SEQ-09
func TestTwoReplicasAgree(t *testing.T) {
	a := newWorld(t, "")
	b := a.again()
	a.ownerSays("s", "go")
	b.want(policy.Allow, main("s"), call("exec", `{}`))
	a.taints("s")
	v := b.want(policy.Confirm, main("s"), call("exec", `{}`)) // b does not know yet, the log does
	a.ownerSays("s", ".approve exec "+v.Held.Code)
	b.want(policy.Allow, main("s"), call("exec", `{}`))
	a.want(policy.Confirm, main("s"), call("exec", `{}`)) // spent over there
	b.wantSame(a, "s")
	verified(t, a.store, "s")
}

func (w *world) wantSame(other *world, session string) {
	w.Helper()
	for _, x := range []*world{w, other} { // a write makes both read what is new
		x.decide(main(session), call("read", `{}`))
	}
	w.decide(main(session), call("read", `{}`))
	if got, want := asJSON(w, w.view(session)), asJSON(w, w.again().view(session)); got != want {
		w.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAReplicaReadsOnlyWhatIsNew(t *testing.T) {
	store := newFakeStore()
	read := 0
	store.load = func(ctx context.Context, s string, after uint64) iter.Seq2[audit.Record, error] {
		return func(yield func(audit.Record, error) bool) {
			for rec, err := range store.Store.Load(ctx, s, after) {
				read++
				if !yield(rec, err) {
					return
				}
			}
		}
	}
	a := newWorldOn(t, "", store)
	b := a.again()
	a.ownerSays("s", "go")
	for range 100 {
		a.want(policy.Allow, main("s"), call("read", `{}`))
		b.want(policy.Allow, main("s"), call("read", `{}`))
	}
	if want := 2*201 + 10; read > want {
		t.Errorf("200 calls in turns read %d records, want at most %d", read, want)
	}
}

func TestASessionWhoseLogWasRemovedStartsOverUntrusted(t *testing.T) {
	store := newFakeStore()
	w := newWorldOn(t, "", store)
	w.ownerSays("s", "go")
	w.want(policy.Allow, main("s"), call("exec", `{}`))
	store.Store = memory.New()
	w.want(policy.Confirm, main("s"), call("exec", `{}`))
	w.wantLevel("s", trust.Untrusted)
	verified(t, store, "s")
}

// A conflict between a turn and its command must not begin the turn twice.
func TestAConflictInTheMiddleOfBegin(t *testing.T) {
	store := newFakeStore()
	w := busy(t, store)
	other := w.again()
	code := w.want(policy.Confirm, main("s"), call("exec", `{}`)).Held.Code
	turns := count(w.events("s"), provenance.TurnBegan)
	var once sync.Once
	store.append = func(ctx context.Context, s string, at uint64, e []*provenance.Event) error {
		if e[0].Kind == provenance.Answered {
			once.Do(func() {
				store.append = nil
				other.observe(main("s"), "read", "in between")
			})
		}
		return store.Store.Append(ctx, s, at, e)
	}
	w.ownerSays("s", ".approve exec "+code)
	if got := count(w.events("s"), provenance.TurnBegan); got != turns+1 {
		t.Errorf("got %d turns, want %d", got, turns+1)
	}
	w.want(policy.Allow, main("s"), call("exec", `{}`))
}

func TestWithoutRandomnessThereIsNoQuestion(t *testing.T) {
	w := newWorld(t, "")
	m, err := tidemark.New(tidemark.Options{Policy: w.Policy(), Store: w.store, Now: w.clock.Now, Rand: iotest.ErrReader(errors.New("no entropy"))})
	if err != nil {
		t.Fatal(err)
	}
	w.Monitor = m
	w.ownerSays("s", "go")
	w.taints("s")
	for _, c := range []tool.Call{call("exec", `{}`), memoryWrite()} {
		if v, err := w.Decide(t.Context(), main("s"), c); err == nil || v.Permit != nil || v.Held != nil {
			t.Errorf("%s: got %+v, %v; want an error", c.Name, v, err)
		}
	}
	w.want(policy.Allow, main("s"), call("read", `{}`))
}

// retry is what a caller does about a conflict that did not end in time.
func retry(t *testing.T, do func() error) {
	for {
		err := do()
		if err == nil {
			return
		}
		if !errors.Is(err, tidemark.ErrConflict) {
			t.Errorf("got %v", err)
			return
		}
	}
}

// SEQ-09
func TestReplicasUsedAtOnceLoseNothing(t *testing.T) {
	a := newWorld(t, "")
	b := a.again()
	a.ownerSays("s", "go")
	var all sync.WaitGroup
	const each = 20
	for i, w := range []*world{a, b, a, b} {
		all.Go(func() {
			for j := range each {
				retry(t, func() error {
					_, err := w.Decide(t.Context(), main("s"), call("read", `{"i":`, fmt.Sprint(i*each+j), `}`))
					return err
				})
				if i == 1 && j == each/2 {
					retry(t, func() error {
						_, err := w.Observe(t.Context(), tidemark.Observation{Ref: main("s"), Result: tool.Result{Name: "web_fetch"}})
						return err
					})
				}
			}
		})
	}
	all.Wait()
	if got, want := verified(t, a.store, "s"), uint64(4*each+2); got != want {
		t.Errorf("got %d records, want %d", got, want)
	}
	fresh := a.again().view("s")
	if fresh.Taint.Level != trust.Untrusted || fresh.Steps != 4*each {
		t.Errorf("got %s after %d steps, want untrusted after %d", fresh.Taint.Level, fresh.Steps, 4*each)
	}
	seen := map[uint64]bool{}
	for _, e := range a.events("s") {
		if e.Decided != nil && seen[e.Decided.Step] {
			t.Errorf("two calls are step %d", e.Decided.Step)
		} else if e.Decided != nil {
			seen[e.Decided.Step] = true
		}
	}
}

// BEY-10
func TestAnApprovalSpentAtOnceInTwoReplicasIsSpentOnce(t *testing.T) {
	for range 20 {
		a, c, code := held(t, "")
		b := a.again()
		a.ownerSays("s", ".approve exec "+code)
		var won atomic.Int32
		var all sync.WaitGroup
		for _, w := range []*world{a, b, a, b} {
			all.Go(func() {
				retry(t, func() error {
					v, err := w.Decide(t.Context(), main("s"), c)
					if v.Allowed() {
						won.Add(1)
					}
					return err
				})
			})
		}
		all.Wait()
		if got := won.Load(); got != 1 {
			t.Fatalf("got %d calls through on one approval", got)
		}
	}
}

func TestManySessionsAtOnceWithLittleMemory(t *testing.T) {
	w := newWorld(t, "")
	w.Monitor = newMonitor(t, tidemark.Options{Policy: w.Policy(), Store: w.store, Now: w.clock.Now, Rand: w.dice, MaxSessions: 2})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 50 {
				ref := main(fmt.Sprintf("s%d", i%7))
				retry(t, func() error {
					_, err := w.Observe(t.Context(), tidemark.Observation{Ref: ref, Result: tool.Result{Name: "read"}})
					return err
				})
				retry(t, func() error { _, err := w.Decide(t.Context(), ref, call("read", `{}`)); return err })
			}
		})
	}
	all.Wait()
	for i := range 7 {
		s := fmt.Sprintf("s%d", i)
		verified(t, w.store, s)
		if got, want := asJSON(t, w.view(s)), asJSON(t, w.again().view(s)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", s, got, want)
		}
	}
}
