package cost_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/plugins/cost"
)

// desk is a guard on a bus, with a clock of its own.
type desk struct {
	t     *testing.T
	now   time.Time
	log   bytes.Buffer
	guard *cost.Guard
	bus   *hook.Bus
}

func open(t *testing.T, o cost.Options) *desk {
	t.Helper()
	d := &desk{t: t, now: time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)}
	d.start(o)
	return d
}

func (d *desk) start(o cost.Options) {
	d.t.Helper()
	o.Now = func() time.Time { return d.now }
	o.Logger = slog.New(slog.NewTextHandler(&d.log, nil))
	var err error
	if d.guard, err = cost.Open(o); err != nil {
		d.t.Fatal(err)
	}
	d.bus = hook.New(hook.Options{Logger: slog.New(slog.DiscardHandler)})
	if err := d.bus.Register(d.guard.Handler()); err != nil {
		d.t.Fatal(err)
	}
}

// ask announces a model call that takes about so many tokens, and returns why it is blocked.
func (d *desk) ask(session, turn string, tokens int64) string {
	r := d.bus.BeforeLLMCall(context.Background(), &hook.BeforeLLMCall{Model: "big", TokenEstimate: tokens},
		&hook.Context{SessionKey: session, RunID: turn})
	if r.Block && r.BlockReason == "" {
		d.t.Error("a call is blocked without a reason")
	}
	return r.BlockReason
}

// used reports what the call before took.
func (d *desk) used(session, turn string, input, output int64) {
	d.t.Helper()
	r := d.bus.AfterLLMCall(context.Background(),
		&hook.AfterLLMCall{Model: "big", TokenUsage: &hook.TokenUsage{Input: input, Output: output}}, &hook.Context{SessionKey: session, RunID: turn})
	if r.Block {
		d.t.Errorf("a report was refused: %s", r.BlockReason)
	}
}

// HOOK-15
func TestABudgetEndsTheTurnTheSessionAndTheDay(t *testing.T) {
	prices := []cost.Price{{Model: "big", Input: 10, Output: 100}}
	tests := map[string]struct {
		o           cost.Options
		turn, sess  string // of the call that is asked about
		wantBlocked string
	}{
		"tokens of a turn":           {cost.Options{Turn: cost.Budget{Tokens: 1000}}, "t1", "s", "plugins.cost.turn.tokens"},
		"another turn":               {cost.Options{Turn: cost.Budget{Tokens: 1000}}, "t2", "s", ""},
		"tokens of a session":        {cost.Options{Session: cost.Budget{Tokens: 1000}}, "t2", "s", "plugins.cost.session.tokens"},
		"another session":            {cost.Options{Session: cost.Budget{Tokens: 1000}}, "t1", "other", ""},
		"tokens of a day":            {cost.Options{Day: cost.Budget{Tokens: 1000}}, "t1", "other", "plugins.cost.day.tokens"},
		"money of a turn":            {cost.Options{Turn: cost.Budget{Money: 0.02}, Prices: prices}, "t1", "s", "plugins.cost.turn.money"},
		"money of a day":             {cost.Options{Day: cost.Budget{Money: 0.02}, Prices: prices}, "t9", "other", "plugins.cost.day.money"},
		"money that is left":         {cost.Options{Day: cost.Budget{Money: 1}, Prices: prices}, "t1", "s", ""},
		"money without any price":    {cost.Options{Day: cost.Budget{Money: 0.02}}, "t1", "s", ""},
		"a model nobody has a price": {cost.Options{Day: cost.Budget{Money: 0.02}, Prices: []cost.Price{{Model: "small*", Input: 10, Output: 100}}}, "t1", "s", "plugins.cost.day.money"},
		"no budget":                  {cost.Options{}, "t1", "s", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := open(t, tt.o)
			if why := d.ask("s", "t1", 500); why != "" {
				t.Fatalf("the first call was blocked: %s", why)
			}
			d.used("s", "t1", 600, 300) // 0.036 in money
			why := d.ask(tt.sess, tt.turn, 200)
			if (why == "") != (tt.wantBlocked == "") || !strings.Contains(why, tt.wantBlocked) {
				t.Errorf("got %q, want it to name %q", why, tt.wantBlocked)
			}
		})
	}
}

func TestANewDayHasItsOwnBudget(t *testing.T) {
	d := open(t, cost.Options{Day: cost.Budget{Tokens: 100}})
	d.ask("s", "t1", 50)
	d.used("s", "t1", 100, 0)
	if d.ask("s", "t2", 1) == "" {
		t.Error("the day's budget was not kept")
	}
	d.now = d.now.Add(2 * time.Hour)
	if why := d.ask("s", "t3", 1); why != "" {
		t.Errorf("the next day: %s", why)
	}
}

func TestARestartForgetsNothing(t *testing.T) {
	folder := t.TempDir()
	o := cost.Options{Folder: folder, Turn: cost.Budget{Tokens: 1000}, Session: cost.Budget{Tokens: 1500}, Day: cost.Budget{Tokens: 2000}}
	d := open(t, o)
	d.ask("s", "t1", 10)
	d.used("s", "t1", 700, 200)
	d.ask("s", "t1", 50) // it never comes back
	if err := d.guard.Close(); err != nil {
		t.Fatal(err)
	}
	d.start(o)
	if why := d.ask("s", "t1", 100); !strings.Contains(why, "950 of 1000") {
		t.Errorf("the turn: got %q", why)
	}
	if why := d.ask("s", "t2", 600); !strings.Contains(why, "950 of 1500") {
		t.Errorf("the session: got %q", why)
	}
	if why := d.ask("new", "t1", 1000); why != "" {
		t.Errorf("another session: got %q", why)
	}
	var got []cost.Entry
	for e, err := range cost.Entries(folder, "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	want := []cost.Entry{
		{Session: "s", Turn: "t1", Model: "big", Input: 700, Output: 200},
		{Session: "s", Turn: "t1", Model: "big", Input: 50, Estimated: true},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(cost.Entry{}, "Time")); diff != "" {
		t.Errorf("the books (-want +got):\n%s", diff)
	}
}

func TestCallsAtOnceCannotPassTheLimitTogether(t *testing.T) {
	d := open(t, cost.Options{Day: cost.Budget{Tokens: 1000}})
	var mu sync.Mutex
	through := 0
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if d.ask(strings.Repeat("s", i+1), "t", 100) == "" {
				mu.Lock()
				through++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if through != 10 {
		t.Errorf("%d calls of 100 tokens passed a budget of 1000", through)
	}
}

func TestWhatNobodyCountedIsEstimated(t *testing.T) {
	d := open(t, cost.Options{Turn: cost.Budget{Tokens: 1000}})
	long := hook.JSON(`{"role":"user","content":"` + strings.Repeat("word ", 400) + `"}`)
	send := func() string {
		return d.bus.BeforeLLMCall(context.Background(), &hook.BeforeLLMCall{Messages: []hook.JSON{long}, Model: "m", Iteration: 1},
			&hook.Context{SessionKey: "s"}).BlockReason
	}
	if why := send(); why != "" {
		t.Fatalf("the first call: %s", why)
	}
	if why := send(); why == "" { // about 500 each, and none was reported
		t.Error("calls that nobody reported were free")
	}
	// A host that announces turns and shows no messages spends nothing that can be seen.
	d = open(t, cost.Options{Turn: cost.Budget{Tokens: 1}})
	for range 5 {
		if why := d.ask("s", "t", 0); why != "" {
			t.Errorf("an announcement was blocked: %s", why)
		}
	}
}

func TestABudgetThatIsNearlySpentIsWarnedOfOnce(t *testing.T) {
	d := open(t, cost.Options{Day: cost.Budget{Tokens: 1000}, AlertAt: 80})
	d.ask("s", "t", 100)
	d.used("s", "t", 700, 50)
	if strings.Contains(d.log.String(), "nearly spent") {
		t.Error("warned too early")
	}
	d.ask("s", "t", 100)
	d.used("s", "t", 100, 0)
	d.ask("s", "t", 10)
	if n := strings.Count(d.log.String(), "nearly spent"); n != 1 {
		t.Errorf("warned %d times, want once:\n%s", n, d.log.String())
	}
}

func TestBooksThatCannotBeWrittenBlock(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t}
	o := cost.Options{Folder: folder, Now: func() time.Time { return d.now }, Logger: slog.New(slog.DiscardHandler)}
	if _, err := cost.Open(o); err == nil {
		t.Error("a folder that is none was taken")
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	d.start(o)
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.ask("s", "t", 10)
	if why := d.ask("s", "t", 10); !strings.Contains(why, "could not answer") {
		t.Errorf("got %q, want the call blocked", why)
	}
}

// A host may make a branch for every sub-agent it starts.
func TestBranchesAreBoundedAndStillCount(t *testing.T) {
	folder := t.TempDir()
	o := cost.Options{Folder: folder, Session: cost.Budget{Tokens: 10_000}}
	d := open(t, o)
	for i := range 600 { // none of them is ever reported
		d.now = d.now.Add(time.Millisecond)
		r := d.bus.BeforeLLMCall(context.Background(), &hook.BeforeLLMCall{Model: "big", TokenEstimate: 10},
			&hook.Context{SessionKey: "s", RunID: "t", Branch: fmt.Sprint(i)})
		if r.Block {
			t.Fatalf("branch %d: %s", i, r.BlockReason)
		}
	}
	if n := d.guard.Branches(); n > 256 {
		t.Errorf("%d branches are known", n)
	}
	if why := d.ask("s", "t", 5000); !strings.Contains(why, "6000 of 10000") {
		t.Errorf("got %q, want what the forgotten branches took to count", why)
	}
	if err := d.guard.Close(); err != nil {
		t.Fatal(err)
	}
	d.start(o)
	if n := d.guard.Branches(); n > 256 {
		t.Errorf("%d branches are known after a restart", n)
	}
	if why := d.ask("s", "t", 5000); !strings.Contains(why, "6000 of 10000") {
		t.Errorf("after a restart: got %q", why)
	}
}

// In Chat Completions the system prompt stands among the messages: it is sent once, and counts once.
func TestASystemPromptAmongTheMessagesCountsOnce(t *testing.T) {
	prompt := strings.Repeat("rule ", 400)
	user := hook.JSON(`{"role":"user","content":"hi"}`)
	for name, tt := range map[string]struct {
		messages []hook.JSON
		passes   bool
	}{
		"among them":            {[]hook.JSON{hook.JSON(`{"role":"system","content":"` + prompt + `"}`), user}, true},
		"among them, in parts":  {[]hook.JSON{hook.JSON(`{"role":"developer","content":[{"type":"text","text":"` + prompt + `"}]}`), user}, true},
		"among them is another": {[]hook.JSON{hook.JSON(`{"role":"system","content":"` + strings.ToUpper(prompt) + `"}`), user}, false},
		"apart":                 {[]hook.JSON{hook.JSON(`{"role":"user","content":"` + prompt + `"}`)}, false},
	} {
		d := open(t, cost.Options{Turn: cost.Budget{Tokens: 700}}) // the prompt is about 500
		r := d.bus.BeforeLLMCall(context.Background(), &hook.BeforeLLMCall{Messages: tt.messages, SystemPrompt: prompt, Model: "m"}, &hook.Context{SessionKey: "s"})
		if r.Block == tt.passes {
			t.Errorf("%s: blocked %v (%s)", name, r.Block, r.BlockReason)
		}
	}
}
