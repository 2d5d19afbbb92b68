package auditor_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/test/audittest"
)

func TestTheSameQuestionAtTheSameTimeIsAskedOnce(t *testing.T) {
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	s := audittest.New(t, audittest.Hold(arrived, release, audittest.Say("block: no")))
	c := client(t, auditor.OpenAI, s, func(o *auditor.Options) { o.CacheFor = time.Minute })
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if got, err := c.Audit(t.Context(), "s", question("{}")); err != nil || got.Answer != intent.Inconsistent {
				t.Errorf("Audit = %+v, %v; want block", got, err)
			}
		})
	}
	<-arrived
	close(release)
	wg.Wait()
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestOneWhoLeavesDoesNotTakeTheAnswerAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrived, release := make(chan struct{}, 1), make(chan struct{})
		s := audittest.Unstarted(audittest.Hold(arrived, release, audittest.Say("allow")))
		c := withoutSocket(t, s)
		defer c.Close()
		leaving, leave := context.WithCancel(t.Context())
		left, stayed := make(chan error, 1), make(chan error, 1)
		ask := func(ctx context.Context, done chan<- error) {
			o, err := c.Audit(ctx, "s", question("{}"))
			if err == nil && o.Answer != intent.Consistent {
				err = fmt.Errorf("got %+v", o)
			}
			done <- err
		}
		go ask(leaving, left)
		<-arrived
		go ask(t.Context(), stayed)
		synctest.Wait() // both wait for the one request
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("who left got %v, want its own end", err)
		}
		close(release)
		if err := <-stayed; err != nil {
			t.Errorf("who stayed got %v, want the answer", err)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

// A question nobody waits for any more ends, and the next one to ask it is not caught
// up in that end.
func TestWhoAsksAfterAllHaveLeftIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := audittest.Unstarted(audittest.Hang(), audittest.Say("allow"))
		c := withoutSocket(t, s)
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait()
			cancel()
		}()
		if _, err := c.Audit(ctx, "s", question("{}")); !errors.Is(err, context.Canceled) {
			t.Errorf("who left got %v, want its own end", err)
		}
		if got, err := c.Audit(t.Context(), "s", question("{}")); err != nil || got.Answer != intent.Consistent {
			t.Errorf("who came later got %+v, %v; want allow", got, err)
		}
	})
}

func TestNeverMoreRequestsThanAllowed(t *testing.T) {
	const limit, audits = 4, 100
	arrived, release := make(chan struct{}, audits), make(chan struct{})
	s := audittest.New(t, audittest.Hold(arrived, release, audittest.Say("allow")))
	c := client(t, auditor.OpenAI, s, func(o *auditor.Options) { o.MaxConcurrent = limit })
	var wg sync.WaitGroup
	for i := range audits {
		wg.Go(func() {
			if _, err := c.Audit(t.Context(), "s", question(fmt.Sprint(i))); err != nil {
				t.Errorf("Audit %d: %v", i, err)
			}
		})
	}
	for range limit {
		<-arrived
	}
	close(release)
	wg.Wait()
	if got := s.Busiest(); got != limit {
		t.Errorf("%d requests at a time, want %d", got, limit)
	}
	if n := len(s.Requests()); n != audits {
		t.Errorf("%d requests, want %d", n, audits)
	}
}

func TestASlotThatDoesNotGetFreeIsNoOpinion(t *testing.T) {
	arrived := make(chan struct{}, 1)
	s := audittest.New(t, audittest.Hold(arrived, nil, audittest.Say("allow")))
	c := client(t, auditor.OpenAI, s, func(o *auditor.Options) {
		o.MaxConcurrent, o.Timeout, o.PlanTimeout = 1, 50*time.Millisecond, 20*time.Second
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _, _ = c.Plan(ctx, "s", intent.Task{}) })
	<-arrived
	for range 2 {
		if got, err := c.Audit(t.Context(), "s", question("{}")); got != (intent.Opinion{}) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Audit = %+v, %v; want the deadline", got, err)
		}
	}
	cancel()
	wg.Wait()
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests, want the plan's alone", n)
	}
}

func TestASessionHasABudget(t *testing.T) {
	s := audittest.New(t, audittest.Say("allow"))
	c := client(t, auditor.OpenAI, s, func(o *auditor.Options) { o.PerSession, o.CacheFor = 3, time.Minute })
	for i := range 3 {
		for range 4 { // an answer that is remembered costs nothing
			if _, err := c.Audit(t.Context(), "a", question(fmt.Sprint(i))); err != nil {
				t.Errorf("Audit %d: %v", i, err)
			}
		}
	}
	for range 2 {
		if got, err := c.Audit(t.Context(), "a", question("one more")); got != (intent.Opinion{}) || !errors.Is(err, auditor.ErrBudget) {
			t.Errorf("Audit = %+v, %v; want ErrBudget", got, err)
		}
		if _, _, err := c.Plan(t.Context(), "a", intent.Task{}); !errors.Is(err, auditor.ErrBudget) {
			t.Errorf("Plan: %v, want ErrBudget", err)
		}
	}
	if _, err := c.Audit(t.Context(), "b", question("one more")); err != nil {
		t.Errorf("another session: %v, want a budget of its own", err)
	}
}

func TestAnAnswerIsRememberedForAWhile(t *testing.T) {
	now := time.Unix(1767225600, 0)
	s := audittest.New(t, audittest.Say("not of the form"), audittest.Say("block: no"), audittest.Say("allow"))
	c := client(t, auditor.OpenAI, s, func(o *auditor.Options) {
		o.CacheFor = time.Minute
		o.Now = func() time.Time { return now }
	})
	ask := func(q intent.Question) (intent.Opinion, int) {
		o, err := c.Audit(t.Context(), "s", q)
		if err != nil {
			return intent.Opinion{}, len(s.Requests())
		}
		return o, len(s.Requests())
	}
	block := intent.Opinion{Answer: intent.Inconsistent, Reason: "no", Model: "test-model"}
	cached, allow := block, intent.Opinion{Answer: intent.Consistent, Model: "test-model"}
	cached.Cached = true
	steps := []struct {
		name     string
		after    time.Duration
		q        intent.Question
		want     intent.Opinion
		requests int
	}{
		{"what is no answer is not remembered", 0, question("{}"), intent.Opinion{}, 1},
		{"so it is asked again", 0, question("{}"), block, 2},
		{"an answer is remembered", 59 * time.Second, question("{}"), cached, 2},
		{"for the same question only", 0, question("{ }"), allow, 3},
		{"and not for long", time.Second, question("{}"), allow, 4},
	}
	for _, step := range steps {
		now = now.Add(step.after)
		if got, requests := ask(step.q); got != step.want || requests != step.requests {
			t.Errorf("%s: got %+v after %d requests, want %+v after %d", step.name, got, requests, step.want, step.requests)
		}
	}
	if st := c.Status(); st.Asked != 5 || st.Cached != 1 || st.Blocked != 2 || st.Allowed != 2 || st.Failed != 1 || st.Requests != 4 || !st.LastErrorAt.Equal(time.Unix(1767225600, 0)) {
		t.Errorf("Status = %+v", st)
	}
}

// direct sends requests to a handler without a socket, so that the clock can be stopped.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func withoutSocket(t *testing.T, s *audittest.Server) *auditor.Client {
	t.Helper()
	c, err := auditor.New(auditor.Options{Provider: auditor.OpenAI, BaseURL: "http://127.0.0.1", Model: "test-model", HTTP: &http.Client{Transport: direct{s}}})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return c
}

func TestAnEndpointThatFailsInARowIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := audittest.Unstarted(audittest.Fail(500, "oops"))
		c := withoutSocket(t, s)
		defer c.Close()
		ask := func() (intent.Opinion, error) { return c.Audit(t.Context(), "s", question("{}")) }
		for n := range 5 {
			if _, err := ask(); err == nil || errors.Is(err, auditor.ErrOpen) {
				t.Errorf("failure %d: got %v, want the endpoint's", n+1, err)
			}
		}
		made := len(s.Requests())
		for range 2 {
			if got, err := ask(); got != (intent.Opinion{}) || !errors.Is(err, auditor.ErrOpen) {
				t.Errorf("after five failures: got %+v, %v; want ErrOpen", got, err)
			}
		}
		if n := len(s.Requests()); n != made || c.Status().Breaker != "open" {
			t.Errorf("%d requests more, breaker %s; want none and open", n-made, c.Status().Breaker)
		}
		time.Sleep(15*time.Second + 1)
		if _, err := ask(); err == nil || errors.Is(err, auditor.ErrOpen) {
			t.Errorf("after a while: got %v, want one try that fails", err)
		}
		if _, err := ask(); !errors.Is(err, auditor.ErrOpen) {
			t.Errorf("after the try: got %v, want ErrOpen", err)
		}
		time.Sleep(15*time.Second + 1)
		s.Script(audittest.Say("allow"))
		if got, err := ask(); err != nil || got.Answer != intent.Consistent || c.Status().Breaker != "closed" {
			t.Errorf("once it is back: got %+v, %v, breaker %s", got, err, c.Status().Breaker)
		}
	})
}

func TestOneQuestionAloneFindsOutWhetherTheEndpointIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := audittest.Unstarted(audittest.Fail(401, "no"))
		c := withoutSocket(t, s)
		defer c.Close()
		for range 5 {
			_, _ = c.Audit(t.Context(), "s", question("{}"))
		}
		time.Sleep(15*time.Second + 1)
		arrived, release, first := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
		s.Script(audittest.Hold(arrived, release, audittest.Say("allow")))
		go func() {
			_, err := c.Audit(t.Context(), "s", question("first"))
			first <- err
		}()
		<-arrived
		for range 2 {
			if got, err := c.Audit(t.Context(), "s", question("second")); got != (intent.Opinion{}) || !errors.Is(err, auditor.ErrOpen) {
				t.Errorf("beside the first: got %+v, %v; want ErrOpen", got, err)
			}
		}
		close(release)
		if err := <-first; err != nil {
			t.Errorf("the first: %v, want an answer", err)
		}
	})
}

func TestATryThatNobodyWaitsForIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := audittest.Unstarted(audittest.Fail(500, "oops"))
		c := withoutSocket(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait() // for the pause after the first try
			cancel()
		}()
		if _, err := c.Audit(ctx, "s", question("{}")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the caller's end", err)
		}
		c.Close()
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
		if _, err := c.Audit(ctx, "s", question("{}")); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who has left already: got %v, want its end", err)
		}
	})
}

type panics struct{}

func (panics) RoundTrip(*http.Request) (*http.Response, error) { panic("a fault of the client") }

func TestAPanicIsNoOpinion(t *testing.T) {
	c := build(t, auditor.Options{Provider: auditor.OpenAI, BaseURL: "http://127.0.0.1", Model: "m", MaxConcurrent: 1, HTTP: &http.Client{Transport: panics{}}})
	for range 2 { // the slot is free again
		if got, err := c.Audit(t.Context(), "s", question("{}")); got != (intent.Opinion{}) || err == nil || err.Error() != "ask auditor: the client panicked" {
			t.Errorf("Audit = %+v, %v; want an error", got, err)
		}
	}
}

func TestTheSessionLongestUnheardOfIsForgotten(t *testing.T) {
	l := auditor.NewCounts(2)
	for _, step := range []struct {
		key  string
		want int
	}{{"a", 1}, {"b", 1}, {"a", 2}, {"c", 1}, {"a", 3}, {"b", 1}, {"c", 1}, {"b", 2}} {
		if got := l.Count(step.key); got != step.want {
			t.Errorf("Count(%s) = %d, want %d", step.key, got, step.want)
		}
	}
}

// What an attacker can bring about through a call's arguments must not switch the
// auditor off.
func TestQuestionsCannotOpenTheBreaker(t *testing.T) {
	for name, step := range map[string]audittest.Step{
		"prose": audittest.Say("well"), "a refusal": audittest.Refuse(""), "a cut answer": audittest.Cut("allow"), "no choices": audittest.Empty(),
		"a content filter": audittest.Fail(400, "content_filter"), "a question too long": audittest.Fail(413, "too long"),
	} {
		synctest.Test(t, func(t *testing.T) {
			c := withoutSocket(t, audittest.Unstarted(step))
			defer c.Close()
			for range 20 {
				if _, err := c.Audit(t.Context(), "s", question("{}")); err == nil || errors.Is(err, auditor.ErrOpen) {
					t.Errorf("%s: got %v, want its own error", name, err)
				}
			}
		})
	}
}

func TestACallerWhoLeavesSaysNothingAboutTheEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := withoutSocket(t, audittest.Unstarted(audittest.Hang()))
		defer c.Close()
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				synctest.Wait()
				cancel()
			}()
			if _, err := c.Audit(ctx, "s", question("{}")); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the caller's end", err)
			}
		}
		synctest.Wait()
		if got := c.Status().Breaker; got != "closed" {
			t.Errorf("breaker %s, want closed", got)
		}
		for range 5 { // callers in a hurry do not hide that it is slow
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := c.Audit(ctx, "s", question("{}")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want the caller's deadline", err)
			}
			cancel()
			time.Sleep(3 * time.Second)
		}
		if got := c.Status().Breaker; got != "open" {
			t.Errorf("breaker %s, want open", got)
		}
	})
}

func TestClosedMeansClosed(t *testing.T) {
	arrived := make(chan struct{}, 1)
	s := audittest.New(t, audittest.Hold(arrived, nil, audittest.Say("allow")))
	c := client(t, auditor.OpenAI, s, nil)
	under := make(chan error, 1)
	go func() {
		_, err := c.Audit(t.Context(), "s", question("{}"))
		under <- err
	}()
	<-arrived
	c.Close()
	if err := <-under; !errors.Is(err, context.Canceled) {
		t.Errorf("what was under way: got %v, want it ended", err)
	}
	for range 2 {
		if _, err := c.Audit(t.Context(), "s", question("{}")); !errors.Is(err, auditor.ErrClosed) {
			t.Errorf("after Close: got %v, want ErrClosed", err)
		}
	}
}
