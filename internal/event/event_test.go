package event_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// payloads draws an event of each kind with its fields filled at random.
var payloads = map[event.Kind]func(*rapid.T, *event.Event){
	event.TurnBegan:     func(t *rapid.T, e *event.Event) { e.Began = drawPayload[event.Began](t) },
	event.ContextSeen:   func(t *rapid.T, e *event.Event) { e.Seen = drawPayload[event.Seen](t) },
	event.ModelCalled:   func(t *rapid.T, e *event.Event) { e.Model = drawPayload[event.Model](t) },
	event.ModelAnswered: func(t *rapid.T, e *event.Event) { e.Model = drawPayload[event.Model](t) },
	event.CallDecided:   func(t *rapid.T, e *event.Event) { e.Decided = drawPayload[event.Decided](t) },
	event.ResultSeen:    func(t *rapid.T, e *event.Event) { e.Seen = drawPayload[event.Seen](t) },
	event.Answered:      func(t *rapid.T, e *event.Event) { e.Answer = drawPayload[event.Answer](t) },
	event.TryFailed:     func(t *rapid.T, e *event.Event) { e.Answer = drawPayload[event.Answer](t) },
	event.TrustReset:    func(t *rapid.T, e *event.Event) { e.Answer = drawPayload[event.Answer](t) },
	event.WriteReviewed: func(t *rapid.T, e *event.Event) { e.Answer = drawPayload[event.Answer](t) },
	event.GrantRevoked:  func(t *rapid.T, e *event.Event) { e.Answer = drawPayload[event.Answer](t) },
	event.ContractDrawn: func(t *rapid.T, e *event.Event) { e.Contract = drawPayload[event.Contract](t) },
	event.TurnSealed:    func(t *rapid.T, e *event.Event) { e.Seen = drawPayload[event.Seen](t) },
}

// drawPayload fills a payload; levels, sensitivities and forms stay among those that exist.
func drawPayload[T any](t *rapid.T) *T {
	levels := trust.Levels()
	sensitivities := []trust.Sensitivity{trust.Public, trust.Internal, trust.Private, trust.Secret}
	types := map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[trust.Level]():       rapid.SampledFrom(levels[:]).AsAny(),
		reflect.TypeFor[trust.Sensitivity](): rapid.SampledFrom(sensitivities).AsAny(),
		reflect.TypeFor[event.Form]():        rapid.Map(rapid.IntRange(0, 3), func(n int) event.Form { return event.Form(n) }).AsAny(),
	}
	payload := rapid.MakeCustom[T](rapid.MakeConfig{Types: types}).Draw(t, "payload")
	return &payload
}

// SEQ-09
func TestEveryEventSurvivesTheLog(t *testing.T) {
	for kind, fill := range payloads {
		t.Run(string(kind), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				want := event.Event{
					Kind: kind, Time: rapid.Int64().Draw(t, "time"), Branch: rapid.String().Draw(t, "branch"), Turn: rapid.String().Draw(t, "turn"),
					Iteration: rapid.Int().Draw(t, "iteration"), Late: rapid.Bool().Draw(t, "late"),
				}
				fill(t, &want)
				rec, err := want.Record("s")
				if err != nil {
					t.Fatalf("encode: %v", err)
				}
				if rec.Session != "s" || rec.Kind != string(kind) || rec.Time != want.Time {
					t.Fatalf("got the record %+v", rec)
				}
				got, err := event.FromRecord(rec)
				if err != nil {
					t.Fatalf("decode %s: %v", rec.Body, err)
				}
				if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
					t.Fatalf("read back (-want +got):\n%s", d)
				}
			})
		})
	}
}

// BEY-08
func TestAHeldWriteKeepsItsExactBytes(t *testing.T) {
	for _, args := range []string{`{"path":"a","content":"b"}`, `{ "path" : "a",  "n":1.0e3, "content":"\u0061\/\u2028<>" }`, "{\"content\":\"\u2028\x7f\"}\n"} {
		e := event.Event{Kind: event.CallDecided, Decided: &event.Decided{Write: &event.Write{Args: args}}}
		rec, err := e.Record("s")
		if err != nil {
			t.Fatal(err)
		}
		got, err := event.FromRecord(rec)
		if err != nil || got.Decided.Write.Args != args {
			t.Errorf("got %q, %v; want %q", got.Decided.Write.Args, err, args)
		}
		before, after := tool.Call{Name: "write", Args: []byte(args)}, tool.Call{Name: "write", Args: []byte(got.Decided.Write.Args)}
		if before.Digest() != after.Digest() {
			t.Errorf("%q is another call after the log", args)
		}
	}
}

func TestARecordThatCannotBeReadIsAnError(t *testing.T) {
	tests := []struct{ name, kind, body, want string }{
		{"an unknown kind", "trust.raised", `{"answer":{"by":"me"}}`, `unknown event kind "trust.raised"`},
		{"no kind", "", `{}`, `unknown event kind ""`},
		{"a kind in capitals", "Turn.Began", `{"began":{}}`, "unknown event kind"},
		{"no payload", "turn.began", `{}`, "event turn.began without its payload"},
		{"the payload of another kind", "result.seen", `{"began":{}}`, "event result.seen without its payload"},
		{"a null payload", "call.decided", `{"decided":null}`, "without its payload"},
		{"not JSON", "turn.began", `began`, "invalid JSON"},
		{"nothing", "turn.began", ``, "EOF"},
		{"a level nobody knows", "turn.began", `{"began":{"level":"trusted"}}`, "/began/level"},
		{"a key twice", "turn.began", `{"began":{"level":"untrusted","level":"system"}}`, "duplicate"},
		{"a digest of the wrong length", "call.decided", `{"decided":{"digest":"00"}}`, "/decided/digest"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := event.FromRecord(audit.Record{Session: "s", Seq: 7, Kind: tt.kind, Body: []byte(tt.body)})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `record 7 of session "s"`) {
				t.Errorf("got %v, want record 7 named and %q", err, tt.want)
			}
			if d := cmp.Diff(event.Event{}, got); d != "" {
				t.Errorf("got an event beside the error: %s", d)
			}
		})
	}
}

func TestAMissingLevelIsTheWorst(t *testing.T) {
	e, err := event.FromRecord(audit.Record{Kind: "turn.began", Body: []byte(`{"began":{}}`)})
	if err != nil || e.Began.Label.Level != trust.Untrusted || e.Began.Label.Sensitivity != trust.Private {
		t.Errorf("got %+v, %v; want untrusted and private", e.Began, err)
	}
}

func TestAnEventThatCannotBeWrittenIsAnError(t *testing.T) {
	e := event.Event{Kind: event.TurnBegan, Began: &event.Began{Agent: "\xff"}}
	if rec, err := e.Record("s"); err == nil || !strings.Contains(err.Error(), "encode turn.began") {
		t.Errorf("got %s, %v; want an error: the log holds text", rec.Body, err)
	}
}

func FuzzFromRecord(f *testing.F) {
	for kind := range payloads {
		f.Add(string(kind), []byte(`{}`))
	}
	f.Add("turn.began", []byte(`{"turn":"t","began":{"level":"owner","rule":"owner-dm","label":{"level":"owner","sensitivity":"internal"},"carry":true}}`))
	f.Add("result.seen", []byte(`{"late":true,"seen":{"label":{"level":"untrusted","sensitivity":"private","sources":[{"level":"untrusted","step":1,"kind":"x"}]}}}`))
	f.Add("call.decided", []byte(`{"decided":{"tool":"exec","digest":"`+strings.Repeat("0", 64)+`","effect":"allow","expect":"local","ask":{"id":"a"},"write":{"args":"{}"}}}`))
	f.Add("approval.answered", []byte(`{"answer":{"by":"owner","ids":["a"],"grant":{"tools":["x"]}}}`))
	f.Add("model.called", []byte(`{"iteration":-1,"model":{"blocked":true}}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		e, err := event.FromRecord(audit.Record{Kind: kind, Body: body})
		if err != nil {
			return
		}
		if payloads[event.Kind(kind)] == nil {
			t.Fatalf("accepted an event of the unknown kind %q", kind)
		}
		taint := &session.Taint{}
		taint.Apply(&event.Event{Kind: event.TurnBegan, Turn: "t", Began: &event.Began{Level: trust.Owner, Carry: true}})
		taint.Apply(&e) // what can be read can be folded
		rec, err := e.Record("")
		if err != nil {
			t.Fatalf("read %s, but cannot write it: %v", body, err)
		}
		again, err := event.FromRecord(rec)
		if d := cmp.Diff(e, again, cmpopts.EquateEmpty()); err != nil || d != "" {
			t.Fatalf("written and read again: %v\n%s", err, d)
		}
	})
}
