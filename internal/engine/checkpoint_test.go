package engine_test

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
)

// shelf keeps checkpoints in memory.
type shelf struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func newShelf() *shelf { return &shelf{kept: map[string][]byte{}} }

func (s *shelf) Get(session string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.kept[session])
}

func (s *shelf) Put(session string, sealed []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[session] = bytes.Clone(sealed)
}

func (s *shelf) Drop(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, session)
}

// copied is another shelf with the same on it.
func (s *shelf) copied() *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &shelf{kept: maps.Clone(s.kept)}
}

// crowded is a monitor on the world's log that has room for one conversation, with checkpoints or without: the same program after a
// restart. Nothing of the one before is closed.
func (w *world) crowded(kept *shelf, change ...func(*engine.Options)) *world {
	w.Helper()
	o := engine.Options{Policy: w.Policy(), Store: w.store, Now: w.clock.Now, Rand: w.dice, Key: folderKey, MaxHeard: 1, Program: "this one"}
	if kept != nil {
		o.Checkpoints = kept
	}
	for _, c := range change {
		c(&o)
	}
	return &world{TB: w.TB, Monitor: newMonitor(w, o), store: w.store, clock: w.clock, dice: w.dice}
}

// others speak, so that session s is let go.
func (w *world) others() {
	w.Helper()
	w.ownerSays("other", "Good morning")
}

func (w *world) wantReturns(resumed, rebuilt uint64) {
	w.Helper()
	if a, b := w.Returns(); a != resumed || b != rebuilt {
		w.Errorf("%d came back from a checkpoint and %d from the log, want %d and %d", a, b, resumed, rebuilt)
	}
}

// rested is a world whose session s was let go, with a checkpoint of it.
func rested(t *testing.T) (*world, *shelf) {
	t.Helper()
	kept := newShelf()
	w := newWorld(t, "preset: balanced").crowded(kept)
	w.runErrand()
	w.others()
	if kept.kept["s"] == nil {
		t.Fatal("there is no checkpoint")
	}
	return w, kept
}

// wantMails asks for mails to somebody whom the errand is about, and to somebody else.
func (w *world) wantMails(petra policy.Effect) {
	w.Helper()
	w.want(petra, main("s"), call("send_email", toPetra))
	w.want(policy.Confirm, main("s"), call("send_email", toStranger))
}

func TestAConversationComesBackFromItsCheckpoint(t *testing.T) {
	w, kept := rested(t)
	before, _ := w.Returns()
	w.wantMails(policy.Allow)
	w.wantReturns(before+1, 0)
	again := w.crowded(kept)
	again.wantMails(policy.Allow) // what came since is in the log
	again.wantReturns(1, 0)
}

// Whoever happens to speak when room is made may be gone before it is: the checkpoint is of somebody else.
func TestWhoeverMakesRoomMayBeGone(t *testing.T) {
	store, kept := newFakeStore(), newShelf()
	w := newWorldOn(t, "preset: balanced", store).crowded(kept)
	w.runErrand()
	ctx, leave := context.WithCancel(t.Context())
	store.append = func(ctx context.Context, session string, at uint64, events []*event.Event) error {
		defer leave()
		return store.Store.Append(ctx, session, at, events)
	}
	store.load = func(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
		if err := ctx.Err(); err != nil {
			return unreadable(err)(ctx, session, after)
		}
		return store.Store.Load(ctx, session, after)
	}
	kept.Drop("s")
	morning := "Good morning"
	if _, err := w.Begin(ctx, engine.Turn{Ref: main("other"), Sender: owner(), Message: &morning}); err != nil {
		t.Fatal(err)
	}
	if kept.kept["s"] == nil {
		t.Error("there is no checkpoint of what was let go")
	}
}

// A log that is late is not left with a conversation of which there is no checkpoint: it would have to tell all of it again.
func TestWhatALateLogWouldHaveToTellStays(t *testing.T) {
	for late, want := range map[bool]uint64{false: 1, true: 0} {
		store := newFakeStore()
		roomy := newWorldOn(t, "preset: balanced", store).crowded(nil, func(o *engine.Options) { o.MaxHeard = 1 << 30 })
		roomy.runErrand()
		roomy.others()
		most := roomy.Held() / 10 * 9 // all of it is a little more than there is room for
		w := roomy.crowded(newShelf(), func(o *engine.Options) { o.MaxHeard = most })
		w.want(policy.Allow, main("s"), call("send_email", toPetra)) // it is told from the log
		if late {
			store.load = func(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
				if session == "s" {
					return unreadable(engine.ErrUnavailable)(ctx, session, after)
				}
				return store.Store.Load(ctx, session, after)
			}
		}
		w.others()
		store.load = nil
		w.want(policy.Allow, main("s"), call("send_email", toPetra))
		w.wantReturns(want, 1)
	}
}

// WAR-02: what is not the checkpoint of this session, program, operator and log, whole and as it was written, is not used: the log tells
// all of it.
func TestAnotherCheckpointIsNotUsed(t *testing.T) {
	flip := func(at int) func(*world, *shelf) {
		return func(_ *world, k *shelf) { k.kept["s"][(at+len(k.kept["s"]))%len(k.kept["s"])] ^= 1 }
	}
	for name, change := range map[string]func(*world, *shelf){
		"none":                       func(_ *world, k *shelf) { k.Drop("s") },
		"empty":                      func(_ *world, k *shelf) { k.Put("s", nil) },
		"its first byte changed":     flip(0),
		"a byte in its middle":       flip(500),
		"its last byte changed":      flip(-1),
		"cut":                        func(_ *world, k *shelf) { k.Put("s", k.kept["s"][:len(k.kept["s"])-1]) },
		"half":                       func(_ *world, k *shelf) { k.Put("s", k.kept["s"][:len(k.kept["s"])/2]) },
		"longer":                     func(_ *world, k *shelf) { k.Put("s", append(k.kept["s"], 0)) },
		"nothing but zeros":          func(_ *world, k *shelf) { k.Put("s", make([]byte, 4096)) },
		"that of another session":    swapped,
		"that of another log's past": elsewhere,
	} {
		t.Run(name, func(t *testing.T) {
			w, kept := rested(t)
			change(w, kept)
			again := w.crowded(kept)
			again.wantMails(policy.Allow)
			again.wantReturns(0, 1)
		})
	}
	for name, change := range map[string]func(*engine.Options){
		"another program": func(o *engine.Options) { o.Program = "a later one" },
	} {
		t.Run(name, func(t *testing.T) {
			w, kept := rested(t)
			again := w.crowded(kept, change)
			again.wantMails(policy.Allow)
			again.wantReturns(0, 1)
		})
	}
	t.Run("another operator", func(t *testing.T) { // who cannot open what the log has either
		w, kept := rested(t)
		again := w.crowded(kept, func(o *engine.Options) { o.Key = []byte("another key of 32 bytes, at least") })
		again.wantMails(policy.Confirm)
		again.wantReturns(0, 1)
	})
}

// swapped puts the checkpoint of another session in the place of this one's.
func swapped(w *world, k *shelf) {
	w.ownerSays("s2", "Read the page and mail Petra Holm when high water is")
	w.runs(main("s2"), call("web_fetch", `{"url":"https://tides.example"}`), "High water is at 6:12.")
	w.others()
	k.Put("s", k.kept["s2"])
}

// elsewhere puts a checkpoint there that was taken, under the same key, of a session that went another way.
func elsewhere(w *world, k *shelf) {
	other := newShelf()
	v := &world{TB: w.TB, store: memory.New(), clock: newClock(), dice: newDice()}
	v.Monitor = newMonitor(w, engine.Options{Policy: w.Policy(), Store: v.store, Now: v.clock.Now, Rand: v.dice, Key: folderKey})
	v = v.crowded(other)
	v.ownerSays("s", "Read https://news.example, create a ticket about the kiln, mail Petra Lund that I am late, then close the ticket")
	v.runs(main("s"), call("web_fetch", `{"url":"https://news.example"}`), "Nothing is new.")
	v.runs(main("s"), call("contacts_search", `{"query":"Petra Lund"}`), strings.ReplaceAll(book, "petra@lund.example", "petra@evil.example"))
	v.runs(main("s"), call("create_ticket", `{"title":"kiln"}`), ticketMade)
	v.others()
	if slices.Equal(keysOf(w), keysOf(v)) && len(w.events("s")) == len(v.events("s")) {
		k.Put("s", other.kept["s"])
		return
	}
	w.Fatal("the two sessions have other keys, or other lengths")
}

func keysOf(w *world) (out []string) {
	for _, e := range w.events("s") {
		if e.Key != "" {
			out = append(out, e.Key)
		}
	}
	return out
}

// BEY-12: what was pruned is in no checkpoint that is used, whoever brings it back.
func TestWhatWasPrunedIsInNoCheckpoint(t *testing.T) {
	for _, what := range []string{event.PruneContent, event.PrunePreviews, event.PruneEvents} {
		t.Run(what, func(t *testing.T) {
			w, kept := rested(t)
			old := kept.copied()
			w.prune(what)
			w.Forget("s")
			if kept.kept["s"] != nil {
				t.Error("it is still there")
			}
			w.wantMails(policy.Confirm)
			for _, w := range []*world{w.crowded(kept), w.crowded(old)} {
				w.wantMails(policy.Confirm)
				if n, _ := w.Returns(); n > 0 {
					t.Error("it came back from a checkpoint")
				}
			}
		})
	}
}

// What is to be written nowhere, or only as hashes, is in no checkpoint; and no checkpoint can be read without the key.
func TestWhatTheLogHasNotIsInNoCheckpoint(t *testing.T) {
	for name, c := range map[string]struct {
		policy, says string
		want         bool
	}{
		"plain words":                {"preset: balanced", "Mail Petra Holm when high water is", true},
		"a secret":                   {"preset: balanced", "Mail Petra Holm when high water is, the password: Tr0ub4dor3xyz", false},
		"words that are not kept":    {"preset: balanced\nrecord: {messages: false}", "Mail Petra Holm when high water is", false},
		"content that is not kept":   {"preset: balanced\nrecord: {content: hashes}", "Mail Petra Holm when high water is", false},
		"a message that is too long": {"preset: balanced", "Mail Petra Holm. " + chance(3, 40<<10), false},
	} {
		t.Run(name, func(t *testing.T) {
			kept := newShelf()
			w := newWorld(t, c.policy).crowded(kept)
			w.ownerSays("s", c.says)
			w.runs(main("s"), call("web_fetch", `{"url":"https://tides.example"}`), "High water is at 6:12, says harbourmaster Quist.")
			w.others()
			b := kept.kept["s"]
			if (b != nil) != c.want {
				t.Errorf("a checkpoint: %v, want %v", b != nil, c.want)
			}
			for _, word := range []string{"Petra", "petra", "Quist", "quist", "6:12", "tides.example", "Tr0ub4dor"} {
				if bytes.Contains(b, []byte(word)) {
					t.Errorf("it says %q", word)
				}
			}
		})
	}
}

// A sub-agent works for what was said elsewhere, and is told it anew.
func TestASubAgentHasNoCheckpoint(t *testing.T) {
	kept := newShelf()
	w := newWorld(t, "preset: balanced").crowded(kept)
	w.ownerSays("parent", "Read the page")
	text := "Read the page"
	sender := owner()
	sender.SpawnedBy = "parent"
	w.begin(engine.Turn{Ref: main("s"), Sender: sender, Message: &text})
	w.runs(main("s"), call("web_fetch", `{"url":"https://tides.example"}`), "High water is at 6:12.")
	w.others()
	if kept.kept["s"] != nil {
		t.Error("there is one")
	}
}
