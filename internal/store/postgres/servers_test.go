package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/storetest"
	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// SEQ-09
func TestServersOnOneDatabaseKeepOneLog(t *testing.T) {
	address := cluster.New(t)
	servers := []*postgres.Store{open(t, address), open(t, address), open(t, address)}
	const rounds = 15
	var all sync.WaitGroup
	var wins [rounds]atomic.Int64
	for i, s := range servers {
		all.Go(func() { // one session that all of them write, at the same places
			for at := range uint64(rounds) {
				err := s.Append(t.Context(), "shared", at, storetest.Events("turn", int(at), 1))
				switch {
				case err == nil:
					wins[at].Add(1)
				case !errors.Is(err, engine.ErrConflict):
					t.Errorf("append: %v", err)
				}
				for len(storedOf(t, s, "shared")) <= int(at) { //nolint:revive // until somebody has won the place
				}
			}
		})
		for j := range 4 {
			all.Go(func() {
				for step := range rounds {
					name := fmt.Sprint("own ", i, " ", j)
					if err := s.Append(t.Context(), name, uint64(2*step), storetest.Events(name, 2*step, 2)); err != nil {
						t.Errorf("append: %v", err)
					}
				}
			})
		}
	}
	all.Wait()
	for at := range wins {
		if n := wins[at].Load(); n != 1 {
			t.Errorf("place %d was won %d times", at, n)
		}
	}
	report, err := servers[0].Verify(t.Context(), nil)
	if want := int64(rounds + 3*4*rounds*2); err != nil || !report.OK() || report.Records != want {
		t.Errorf("got %d records, breaks %v, error %v; want %d", report.Records, report.Breaks, err, want)
	}
}

func storedOf(t *testing.T, s engine.Store, session string) []string {
	var hashes []string
	for rec, err := range s.Load(t.Context(), session, 0) {
		if err != nil {
			t.Errorf("load: %v", err)
			return make([]string, 1<<10)
		}
		hashes = append(hashes, rec.Hash.String())
	}
	return hashes
}

// listening hears what other servers do until the test ends.
func listening(t *testing.T, s *postgres.Store) <-chan postgres.News {
	t.Helper()
	heard := make(chan postgres.News, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { s.Listen(ctx, func(n postgres.News) { heard <- n }, func(err error) { t.Log(err) }) })
	t.Cleanup(func() { cancel(); done.Wait() })
	if first := next(t, heard); first != (postgres.News{Reach: notify.All}) {
		t.Fatalf("it begins with %+v, want that anything may have happened", first)
	}
	return heard
}

func next(t *testing.T, heard <-chan postgres.News) postgres.News {
	t.Helper()
	select {
	case n := <-heard:
		return n
	case <-time.After(time.Minute):
		t.Fatal("nothing was heard")
		return postgres.News{}
	}
}

func TestAServerHearsWhatOthersDo(t *testing.T) {
	address := cluster.New(t)
	a, b := open(t, address), open(t, address)
	heard := listening(t, b)
	asked := storetest.Event("turn", 1)
	asked.Decided.Ask = &event.Ask{ID: "ask-1"}
	long := strings.Repeat("x", 1000)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(b.Append(t.Context(), "its own", 0, []*event.Event{asked})) // which it does not hear
	for _, step := range []struct {
		session string
		event   *event.Event
		want    postgres.News
	}{
		{"s", storetest.Event("turn", 0), postgres.News{Reach: notify.Grown}},
		{"s\n\"'", asked, postgres.News{Session: "s\n\"'", Reach: notify.Questions}},
		{long, &event.Event{Kind: event.TrustReset, Answer: &event.Answer{}}, postgres.News{Session: long, Reach: notify.All}},
		{"g", &event.Event{Kind: event.Answered, Answer: &event.Answer{}}, postgres.News{Session: "g", Reach: notify.Questions}},
	} {
		must(a.Append(t.Context(), step.session, uint64(len(storedOf(t, a, step.session))), []*event.Event{step.event}))
		if got := next(t, heard); got != step.want {
			t.Errorf("session %.10q: got %+v, want %+v", step.session, got, step.want)
		}
	}
	must(a.Tell(t.Context(), "reload"))
	if got := next(t, heard); got != (postgres.News{Word: "reload"}) {
		t.Errorf("got %+v, want the word", got)
	}
}

func TestALeaseIsOneServersAtATime(t *testing.T) {
	address := cluster.New(t)
	a, b := open(t, address), open(t, address)
	var holders, most atomic.Int64
	turns := make(chan string, 100)
	var done sync.WaitGroup
	run := func(name string, s *postgres.Store) context.CancelFunc {
		ctx, cancel := context.WithCancel(t.Context())
		done.Go(func() {
			s.Lease(ctx, "telegram", func(ctx context.Context) {
				most.Store(max(most.Load(), holders.Add(1)))
				turns <- name
				<-ctx.Done()
				holders.Add(-1)
			}, func(err error) { t.Error(err) })
		})
		return cancel
	}
	stopA := run("a", a)
	if first := <-turns; first != "a" {
		t.Fatalf("%s has it first", first)
	}
	stopB := run("b", b)
	stopA()
	if second := <-turns; second != "b" {
		t.Errorf("%s has it then", second)
	}
	stopB()
	done.Wait()
	if most.Load() != 1 {
		t.Errorf("%d had it at once", most.Load())
	}
}

func TestServersKnowWhetherTheyAreAlike(t *testing.T) {
	address := cluster.New(t)
	a, b := open(t, address), open(t, address)
	for _, step := range []struct {
		s     *postgres.Store
		value string
		want  bool
	}{{a, "one", true}, {b, "one", true}, {b, "two", false}, {a, "one", true}} {
		if got, err := step.s.Alike(t.Context(), "key", []byte(step.value)); got != step.want || err != nil {
			t.Errorf("%s: got %t and error %v, want %t", step.value, got, err, step.want)
		}
	}
}

// What was acknowledged is there after the database crashed, and servers go on by themselves.
func TestADatabaseThatCrashesLosesNothingThatWasAcknowledged(t *testing.T) {
	address := cluster.New(t)
	s := open(t, address)
	heard := listening(t, open(t, address))
	var at uint64
	appendOne := func() error {
		err := s.Append(t.Context(), "s", at, storetest.Events("turn", int(at), 1))
		if err == nil {
			at++
		}
		return err
	}
	for range 3 {
		for range 20 {
			if err := appendOne(); err != nil {
				t.Fatal(err)
			}
		}
		cluster.Kill()
		if err := appendOne(); !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("without a database: got %v, want it unavailable", err)
		}
		if err := cluster.Start(); err != nil {
			t.Fatal(err)
		}
		if got := len(storedOf(t, s, "s")); got != int(at) {
			t.Errorf("%d records are left, want %d", got, at)
		}
	}
	for next(t, heard) != (postgres.News{Reach: notify.All}) { // it has connected again, and says that it may have missed something
	}
	if report, err := s.Verify(t.Context(), nil); err != nil || !report.OK() {
		t.Errorf("verify: %v, %v", report.Breaks, err)
	}
}

func TestOpenErrors(t *testing.T) {
	address := cluster.New(t)
	for name, c := range map[string]struct{ address, want string }{
		"no address":           {"tidemark.db", "want an address that begins with postgres://"},
		"a bad address":        {"postgres://user:secret@host:port/", "invalid port"},
		"nobody is there":      {"postgres://postgres:secret@127.0.0.1:1/postgres?sslmode=disable", "check that it runs"},
		"no such database":     {strings.Replace(address, "/postgres?", "/nowhere?", 1), "there is no such database"},
		"no such user":         {strings.Replace(address, "postgres@", "nobody@", 1), "check name and password"},
		"a schema of odd name": {strings.Replace(address, "search_path=", "search_path=x;", 1), "want the name of one schema"},
		"more than one schema": {strings.Replace(address, "search_path=", "search_path=public,", 1), "want the name of one schema"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := postgres.Open(t.Context(), c.address, postgres.Options{})
			if err == nil {
				t.Fatal(errors.Join(errors.New("it opened"), s.Close()))
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want it to say %q and no password", err, c.want)
			}
		})
	}
	if _, err := postgres.OpenReadOnly(t.Context(), address); err == nil {
		t.Error("a log that nobody made was opened for reading")
	}
	open(t, address)
	r, err := postgres.OpenReadOnly(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// SEQ-09: after the database was started again reading goes on at once, whatever became of the connections it had.
func TestReadingGoesOnAfterARestart(t *testing.T) {
	c := pgtest.Start(t)
	s := open(t, c.New(t))
	if err := s.Append(t.Context(), "s", 0, storetest.Events("turn", 0, 3)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 { // as many connections as there may be
		all.Go(func() {
			for range 20 {
				storedOf(t, s, "s")
			}
		})
	}
	all.Wait()
	c.Kill()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if n := len(storedOf(t, s, "s")); n != 3 {
			t.Fatalf("%d records, want 3", n)
		}
	}
}

// Reading cannot write, and finds the server that takes writes all the same where the address asks for it, as it does for a failover.
func TestAnAddressThatWantsThePrimary(t *testing.T) {
	s := open(t, cluster.New(t)+"&target_session_attrs=read-write")
	if err := s.Append(t.Context(), "s", 0, storetest.Events("turn", 0, 1)); err != nil {
		t.Fatal(err)
	}
	if n := len(storedOf(t, s, "s")); n != 1 {
		t.Errorf("%d records, want 1", n)
	}
	if _, err := s.DB().ExecContext(t.Context(), `DELETE FROM records`); err == nil {
		t.Error("a connection for reading removed records")
	}
}
