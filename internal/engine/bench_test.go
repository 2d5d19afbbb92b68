package engine_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"

	"cel.dev/cel-go/cel"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// nowhere keeps nothing: what is measured on it is the monitor alone.
type nowhere struct{}

func (nowhere) Append(context.Context, string, uint64, []*event.Event) error { return nil }
func (nowhere) Load(context.Context, string, uint64) iter.Seq2[audit.Record, error] {
	return func(func(audit.Record, error) bool) {}
}

const celPolicy = `
rules:
  - {name: internal, tools: [fetch], when: 'args.url.startsWith("https://internal.") && taint >= external', effect: deny}
`

// allowed decides in a loop; it reports what the loop needs to know once.
func allowed(tb testing.TB, w *world, c tool.Call) func() {
	tb.Helper()
	w.want(policy.Allow, main("s"), c)
	ctx, ref := context.Background(), main("s")
	return func() {
		if v, err := w.Decide(ctx, ref, c); err != nil || !v.Allowed() {
			tb.Fatalf("got %s, %v", v.Effect, err)
		}
	}
}

func loop(b *testing.B, step func()) {
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

func TestAnAllowedCallCostsFewAllocations(t *testing.T) {
	for name, c := range map[string]tool.Call{
		"with arguments":    call("read", `{"path":"notes/today.md"}`),
		"without arguments": call("session_status"),
	} {
		w := newWorldOn(t, byLevels, nowhere{})
		w.ownerSays("s", "go")
		if got := testing.AllocsPerRun(1000, allowed(t, w, c)); got > 2 {
			t.Errorf("%s: got %v allocations, want at most 2", name, got)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	w := newWorldOn(b, byLevels, nowhere{})
	w.ownerSays("s", "go")
	loop(b, allowed(b, w, call("read", `{"path":"notes/today.md"}`)))
}

func BenchmarkDecideParallel(b *testing.B) {
	w := newWorldOn(b, byLevels, nowhere{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ref := main(fmt.Sprintf("s%p", pb))
		sender := owner()
		if _, err := w.Begin(context.Background(), engine.Turn{Ref: ref, Sender: sender}); err != nil {
			b.Error(err)
			return
		}
		for pb.Next() {
			if v, err := w.Decide(context.Background(), ref, call("read", `{}`)); err != nil || !v.Allowed() {
				b.Errorf("got %s, %v", v.Effect, err)
				return
			}
		}
	})
}

func BenchmarkDecideCEL(b *testing.B) {
	w := newWorldOn(b, celPolicy, nowhere{})
	w.ownerSays("s", "go")
	loop(b, allowed(b, w, call("fetch", `{"url":"https://internal.example.com/status"}`)))
}

// BenchmarkCELBare is the same condition without us, on arguments parsed beforehand.
func BenchmarkCELBare(b *testing.B) { benchmarkCEL(b, false) }

// BenchmarkCELBareParsing parses the arguments of each call, as a decision must.
func BenchmarkCELBareParsing(b *testing.B) { benchmarkCEL(b, true) }

func benchmarkCEL(b *testing.B, parsing bool) {
	env, err := cel.NewEnv(cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)), cel.Variable("taint", cel.IntType), cel.Variable("external", cel.IntType))
	if err != nil {
		b.Fatal(err)
	}
	ast, issues := env.Compile(`args.url.startsWith("https://internal.") && taint >= external`)
	if issues.Err() != nil {
		b.Fatal(issues.Err())
	}
	program, err := env.Program(ast)
	if err != nil {
		b.Fatal(err)
	}
	raw := []byte(`{"url":"https://internal.example.com/status"}`)
	args := tool.NewArgs(raw)
	loop(b, func() {
		if parsing {
			args = tool.NewArgs(raw)
		}
		fields, err := args.Fields()
		if err != nil {
			b.Fatal(err)
		}
		out, _, err := program.Eval(map[string]any{"args": fields, "taint": int64(1), "external": int64(4)})
		if err != nil || out.Value() != false {
			b.Fatalf("got %v, %v", out, err)
		}
	})
}

// after is a session with that many events behind it.
func after(b *testing.B, events int) *world {
	w := newWorldOn(b, byLevels, nowhere{})
	w.ownerSays("s", "go")
	grow(b, w, "s", events)
	return w
}

func grow(tb testing.TB, w *world, session string, events int) {
	ctx, ref := context.Background(), main(session)
	content := []byte("a result")
	for i := range events / 4 {
		c := call("read", `{"path":"f`, fmt.Sprint(i%100), `"}`)
		_, err := w.Tools(ctx, engine.ModelCall{Ref: ref, Iteration: i % 5})
		if err == nil {
			_, err = w.Decide(ctx, ref, c)
		}
		if err == nil {
			_, err = w.Observe(ctx, engine.Observation{Ref: ref, Result: tool.Result{Name: "read", Args: c.Args, Content: content}})
		}
		if err == nil && i%5 == 4 {
			_, err = w.Begin(ctx, engine.Turn{Ref: ref, Sender: owner(), Message: new(string)})
		} else if err == nil {
			_, err = w.Replied(ctx, engine.ModelReply{Ref: ref, Calls: []string{"read"}})
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkDecideAfter100(b *testing.B) {
	loop(b, allowed(b, after(b, 100), call("read", `{"path":"notes/today.md"}`)))
}

func BenchmarkDecideAfter100000(b *testing.B) {
	loop(b, allowed(b, after(b, 100_000), call("read", `{"path":"notes/today.md"}`)))
}

func BenchmarkObserve(b *testing.B) {
	w := newWorldOn(b, byLevels, nowhere{})
	w.ownerSays("s", "go")
	page := tool.Result{Name: "web_fetch", Args: []byte(`{"url":"https://example.com/page"}`), Content: []byte(strings.Repeat("An ordinary page with a few words on it. ", 50))}
	ctx := context.Background()
	loop(b, func() {
		if _, err := w.Observe(ctx, engine.Observation{Ref: main("s"), Result: page}); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkDecideRecorded pays for encoding, hashing and keeping the record too.
func BenchmarkDecideRecorded(b *testing.B) {
	w := newWorldOn(b, byLevels, memory.New())
	w.ownerSays("s", "go")
	loop(b, allowed(b, w, call("read", `{"path":"notes/today.md"}`)))
}

// heap is what is in use after fill, beyond what was before it.
func heap(fill func() any) (used uint64) {
	var before, afterwards runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := fill()
	runtime.GC()
	runtime.ReadMemStats(&afterwards)
	runtime.KeepAlive(kept)
	if afterwards.HeapAlloc < before.HeapAlloc {
		return 0
	}
	return afterwards.HeapAlloc - before.HeapAlloc
}

const megabyte = 1 << 20

func BenchmarkMemoryOfIdleSessions(b *testing.B) {
	const sessions = 10_000
	for b.Loop() {
		used := heap(func() any {
			w := newWorldOn(b, byLevels, nowhere{})
			for i := range sessions {
				s := fmt.Sprintf("session-%d", i)
				w.ownerSays(s, "what is on the page?")
				w.taints(s)
				w.end(main(s))
			}
			return w
		})
		b.ReportMetric(float64(used)/megabyte, "MB")
		b.ReportMetric(float64(used)/sessions, "B/session")
	}
}

func BenchmarkMemoryOfALongSession(b *testing.B) {
	for b.Loop() {
		used := heap(func() any { return after(b, 100_000) })
		b.ReportMetric(float64(used)/megabyte, "MB")
	}
}

// BenchmarkDecideShipped is a decision by the shipped table after a page was read: of a call
// that the user asked for, and of one that nobody did.
func BenchmarkDecideShipped(b *testing.B) {
	for name, tt := range map[string]struct {
		tool, args string
		want       policy.Effect
	}{
		"read":    {"web_fetch", `{"url":"https://news.example","format":"markdown"}`, policy.Allow},
		"allowed": {"send_email", `{"to":"bob@example.com","subject":"News","body":"What the page says, in short."}`, policy.Allow},
		"held":    {"send_email", toStranger, policy.Confirm},
	} {
		b.Run(name, func(b *testing.B) {
			w := newWorldOn(b, "", nowhere{})
			w.ownerSays("s", "Summarise https://news.example for me and mail it to bob@example.com")
			w.runs(main("s"), call("web_fetch", `{"url":"https://news.example"}`), strings.Repeat("The harbour office moves in autumn. ", 200))
			c := call(tt.tool, tt.args)
			b.ReportAllocs()
			for b.Loop() {
				if v, err := w.Decide(b.Context(), main("s"), c); err != nil || v.Effect != tt.want {
					b.Fatalf("got %s by %s, %v", v.Effect, v.Rule, err)
				}
			}
		})
	}
}
