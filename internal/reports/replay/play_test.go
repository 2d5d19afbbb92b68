package replay_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func decisions(o replay.Outcome) string {
	parts := make([]string, len(o.Calls))
	for i, d := range o.Calls {
		parts[i] = d.Decision
	}
	return strings.Join(parts, " ")
}

// trace is a line of the trace format.
func trace(id string, events ...string) string {
	return fmt.Sprintf("{\"id\":%q,\"events\":[%s]}\n", id, strings.Join(events, ","))
}

const (
	hello    = `{"user":"hello"}`
	fetch    = `{"call":{"tool":"almanac_page","args":{"page":"1"}},"result":"words"}`
	list     = `{"call":{"tool":"plot_list","args":{}},"result":"[]"}`
	water    = `{"call":{"tool":"water_bed","args":{"bed":"b"}},"result":"done"}`
	waterYes = `{"call":{"tool":"water_bed","args":{"bed":"b"}},"result":"done","answer":"approve"}`
	waterNo  = `{"call":{"tool":"water_bed","args":{"bed":"b"}},"result":"done","answer":"deny"}`
	fetchNo  = `{"call":{"tool":"almanac_page","args":{"page":"2"}},"result":null,"answer":"deny"}`
)

// BEY-04
func TestACallThatDidNotRunBringsNothingIn(t *testing.T) {
	tests := []struct {
		name   string
		events []string
		want   string
	}{
		{"nothing read, nothing asked", []string{hello, water, list}, "allow allow"},
		{"after a source a sink asks", []string{hello, fetch, water}, "allow ask"},
		{"a null result taints like any other", []string{hello, `{"call":{"tool":"almanac_page"},"result":null}`, water}, "allow ask"},
		{"an approval is for one call", []string{hello, fetch, waterYes, waterYes}, "allow ask ask"},
		{"a no stands in its turn", []string{hello, fetch, water, waterYes}, "allow ask deny"},
		{"and not in the next", []string{hello, fetch, water, hello, waterYes}, "allow ask ask"},
		{"nobody has spoken: the context is untrusted", []string{water}, "ask"},
		{"a denied source leaves the next turn's context as it was", []string{fetchNo, hello, list}, "ask allow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := outcomes(t, "f", trace("r", tt.events...), replay.Trace, replay.Options{})
			if len(got) != 1 || got[0].Err != nil || decisions(got[0]) != tt.want {
				t.Errorf("got %q, %v; want %q", decisions(got[0]), got[0].Err, tt.want)
			}
		})
	}
}

func TestASourceThatWasRefusedDoesNotTaint(t *testing.T) {
	set, faults := policy.Parse("p", []byte("preset: classic\ntoolOverrides: {almanac_page: {\"*\": hide}}\n"))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	got := outcomes(t, "f", trace("r", hello, fetch, water), replay.Trace, replay.Options{Policy: set})
	if decisions(got[0]) != "deny allow" || got[0].Calls[1].Taint != "owner" {
		t.Errorf("got %q in %s, want the refused source to bring nothing", decisions(got[0]), got[0].Calls[1].Taint)
	}
}

func TestThePersonAnswersWhereTheRecordingDoesNot(t *testing.T) {
	twice := trace("r", hello, fetch, water, water)
	told := trace("r", hello, fetch, waterNo, water)
	for approves, want := range map[bool]string{false: "allow ask deny", true: "allow ask ask"} {
		got := outcomes(t, "f", twice, replay.Trace, replay.Options{Person: replay.Person{Approves: approves}})
		if decisions(got[0]) != want {
			t.Errorf("approves %v: got %q, want %q", approves, decisions(got[0]), want)
		}
		got = outcomes(t, "f", told, replay.Trace, replay.Options{Person: replay.Person{Approves: approves}})
		if decisions(got[0]) != "allow ask deny" {
			t.Errorf("approves %v: got %q, want the recorded no to stand", approves, decisions(got[0]))
		}
	}
}

// many are runs of growing length; every tenth cannot be read.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		if i%10 == 9 {
			b.WriteString("{\n")
			continue
		}
		events := []string{hello, fetch}
		for range i % 7 {
			events = append(events, water, list, waterYes)
		}
		b.WriteString(trace(fmt.Sprintf("run-%d", i), events...))
	}
	return b.String()
}

// BEY-04
func TestOutcomesComeInTheOrderOfTheRunsHoweverManyWork(t *testing.T) {
	text := many(200)
	one := outcomes(t, "f", text, replay.Trace, replay.Options{Workers: 1})
	bytes := 0
	for i, o := range one {
		bytes += o.Bytes
		if i%10 != 9 && o.ID != fmt.Sprintf("run-%d", i) || i%10 == 9 && o.Err == nil {
			t.Fatalf("outcome %d is of %q, %v", i, o.ID, o.Err)
		}
	}
	if bytes != len(text) {
		t.Errorf("got %d bytes, want %d", bytes, len(text))
	}
	eight := outcomes(t, "f", text, replay.Trace, replay.Options{Workers: 8})
	same := cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
	if diff := cmp.Diff(one, eight, same); diff != "" {
		t.Errorf("with eight workers (-one +eight):\n%s", diff)
	}
}

func TestAReplayStopsWhenToldTo(t *testing.T) {
	enough := errors.New("enough")
	n := 0
	o := replay.Options{Policy: garden(t), Workers: 3}
	err := replay.Each(t.Context(), replay.Units("f", strings.NewReader(many(300)), replay.Trace), o, func(replay.Outcome) error {
		if n++; n == 5 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || n != 5 {
		t.Errorf("got %v after %d, want to stop at the fifth", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	blocked := make(chan struct{})
	var endless iter.Seq2[replay.Unit, error] = func(yield func(replay.Unit, error) bool) {
		yield(replay.Unit{Name: "f", Line: 1, Format: replay.Trace, Data: []byte(trace("r", hello))}, nil)
		<-blocked // a terminal nobody types at
	}
	err = replay.Each(ctx, endless, o, func(replay.Outcome) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the replay to end with its context", err)
	}
	close(blocked)
	if err := replay.Each(t.Context(), nil, replay.Options{}, nil); err == nil {
		t.Error("a replay without policy is accepted")
	}
}

// BEY-04
func TestTwoPoliciesAreComparedCallByCall(t *testing.T) {
	loose, faults := policy.Parse("p", []byte("preset: classic\ntoolOverrides: {water_bed: {\"*\": allow}, plot_list: {\"*\": hide}}\n"))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	o := outcomes(t, "f", trace("r", hello, fetch, water, list), replay.Trace, replay.Options{Other: loose})[0]
	var got []string
	for _, c := range o.Changes() {
		got = append(got, fmt.Sprintf("%s %d %s %s->%s %v", c.ID, c.Step, c.Tool, c.Was.Decision, c.Now.Decision, c.Stricter()))
	}
	want := []string{"r 1 water_bed ask->allow false", "r 2 plot_list allow->deny true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// A run does not know what is replayed beside it.
func TestRunsDoNotTouchOneAnother(t *testing.T) {
	set := garden(t)
	pool := []string{hello, fetch, list, water, waterYes, waterNo, fetchNo}
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 12).Draw(rt, "a")
		b := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 12).Draw(rt, "b")
		alone := outcomes(t, "f", trace("a", a...), replay.Trace, replay.Options{Policy: set})
		beside := outcomes(t, "f", trace("b", b...)+trace("a", a...), replay.Trace, replay.Options{Policy: set})
		if diff := cmp.Diff(alone[0].Calls, beside[1].Calls); diff != "" {
			rt.Fatalf("another run changes a decision:\n%s", diff)
		}
	})
}

func BenchmarkReplay(b *testing.B) {
	set := garden(b)
	var runs []replay.Run
	for u, err := range replay.Units("f", strings.NewReader(many(100)), replay.Trace) {
		if err != nil {
			b.Fatal(err)
		}
		if got, err := u.Runs(); err == nil {
			runs = append(runs, got...)
		}
	}
	for b.Loop() {
		perSecond, err := replay.Speed(b.Context(), replay.Options{Policy: set}, runs)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(perSecond, "runs/s")
	}
}
