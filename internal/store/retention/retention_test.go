package retention_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/retention"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

var now = time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)

// secretive are texts that must be gone where something was pruned.
const (
	said   = "Where is the parcel of Ilse Brandt"
	read   = "Dear customer, your parcel is on its way"
	sealed = "~c2VhbGVkIHRleHQgb2YgYSBwYWdl"
	args   = `{"query":"Ilse Brandt"}`
)

// talk is a session of somebody's that begins so many days ago, with a record a day.
func talk(t *testing.T, s *memory.Store, session, person string, days ...int) {
	t.Helper()
	var events []*event.Event
	for i, day := range days {
		e := &event.Event{Time: now.AddDate(0, 0, -day).UnixNano(), Turn: "turn"}
		label := trust.Label{Level: trust.External, Sources: []trust.Source{{Level: trust.External, Kind: "tool_result", Excerpt: read}}}
		switch i % 3 {
		case 0:
			e.Kind, e.Key = event.TurnBegan, "key of "+session
			e.Began = &event.Began{
				Sender: trust.Sender{Provider: "chat", ID: person}, Level: trust.Owner, Label: trust.Label{Level: trust.Owner}, Words: true,
				Message: &event.Content{Text: said, Preview: said, Bytes: len(said)},
			}
		case 1:
			e.Kind = event.CallDecided
			e.Decided = &event.Decided{Tool: "find", Effect: "allow", Args: args, Digest: tool.DigestOf([]byte(args)), Level: trust.Owner}
		default:
			e.Kind = event.ResultSeen
			e.Seen = &event.Seen{Tool: "find", Label: label, Content: &event.Content{Preview: read, Bytes: len(read)}, Trace: sealed, Source: true}
		}
		events = append(events, e)
	}
	if err := s.Append(t.Context(), session, 0, events); err != nil {
		t.Fatal(err)
	}
}

func days(n int) retention.Limit { return retention.Limit{Age: time.Duration(n) * 24 * time.Hour} }

func prune(t *testing.T, s *memory.Store, r retention.Request) retention.Result {
	t.Helper()
	r.Now, r.By = now, "ops"
	out, err := retention.Prune(t.Context(), s, r)
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Verify(t.Context(), nil)
	if err != nil || !report.OK() {
		t.Errorf("after pruning: error %v, breaks %v", err, report.Breaks)
	}
	return out
}

// text is all that the records of a session say.
func text(t *testing.T, s *memory.Store, session string) string {
	t.Helper()
	var b strings.Builder
	for rec, err := range s.Load(t.Context(), session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		b.Write(rec.Body)
		b.WriteByte('\n')
	}
	return b.String()
}

// BEY-12
func TestEachKindGoesByItsOwnAge(t *testing.T) {
	for name, test := range map[string]struct {
		limits retention.Limits
		gone   []string
		stays  []string
		count  int64
	}{
		"content":             {retention.Limits{event.PruneContent: days(30)}, []string{sealed, "key of old"}, []string{said, read, "Ilse"}, 2},
		"arguments":           {retention.Limits{event.PruneArguments: days(30)}, []string{`"args"`}, []string{sealed, said, read}, 1},
		"previews":            {retention.Limits{event.PrunePreviews: days(30)}, []string{said, read}, []string{sealed, `"args"`, "ilse"}, 2},
		"events":              {retention.Limits{event.PruneEvents: days(30)}, []string{said, read, sealed, `"args"`, "ilse", "key of old"}, []string{`"external"`}, 3},
		"nothing is so old":   {retention.Limits{event.PruneEvents: days(300)}, nil, []string{said, read, sealed, `"args"`, "ilse"}, 0},
		"what is so old only": {retention.Limits{event.PruneContent: days(61)}, []string{"key of old"}, []string{sealed}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := memory.New()
			talk(t, s, "old", "ilse", 62, 61, 60)
			talk(t, s, "new", "ilse", 2, 1, 0)
			whole := text(t, s, "new")
			dry := prune(t, s, retention.Request{Limits: test.limits, Dry: true})
			if strings.Contains(text(t, s, "old"), "pruned") {
				t.Error("a dry run took something out")
			}
			out := prune(t, s, retention.Request{Limits: test.limits})
			if out.Records != test.count || dry.Records != out.Records || dry.Bytes != out.Bytes || !dry.Dry {
				t.Errorf("got %+v, and %+v before; want %d records", out, dry, test.count)
			}
			left := text(t, s, "old")
			for _, gone := range test.gone {
				if strings.Contains(left, gone) {
					t.Errorf("%q is still there:\n%s", gone, left)
				}
			}
			for _, stays := range test.stays {
				if !strings.Contains(left, stays) {
					t.Errorf("%q is gone:\n%s", stays, left)
				}
			}
			if text(t, s, "new") != whole {
				t.Error("what is new was changed")
			}
			if again := prune(t, s, retention.Request{Limits: test.limits}); again.Records != 0 {
				t.Errorf("the second time: %+v, want nothing", again)
			}
		})
	}
}

// A session that goes on keeps what its state is folded from, however old it is.
func TestEventsOfASessionThatGoesOnStay(t *testing.T) {
	s := memory.New()
	talk(t, s, "long", "ilse", 400, 300, 200, 100, 1)
	if out := prune(t, s, retention.Request{Limits: retention.Limits{event.PruneEvents: days(30)}}); out.Records != 0 {
		t.Errorf("got %+v, want nothing", out)
	}
	if out := prune(t, s, retention.Request{Limits: retention.Limits{event.PruneContent: days(30)}}); out.Records != 3 {
		t.Errorf("content: got %+v, want three records", out)
	}
}

func TestTheOldestGoesWhereThereIsTooMuch(t *testing.T) {
	s := memory.New()
	for i := range 10 {
		talk(t, s, fmt.Sprint("s", i), "ilse", 100-i, 100-i, 100-i)
	}
	size := int64(len(sealed) + len("key of s0"))
	out := prune(t, s, retention.Request{Limits: retention.Limits{event.PruneContent: {Bytes: 4 * size}}})
	if out.Sessions != 6 {
		t.Errorf("got %+v, want six sessions", out)
	}
	for i := range 10 {
		if got := strings.Contains(text(t, s, fmt.Sprint("s", i)), sealed); got != (i >= 6) {
			t.Errorf("session %d has its content: %v", i, got)
		}
	}
}

func TestWhatIsHeldIsNotPruned(t *testing.T) {
	all := retention.Limits{event.PruneEvents: days(30)}
	for name, hold := range map[string]event.Hold{
		"a session":                     {Session: "a"},
		"a person":                      {Person: "ilse"},
		"a person with their provider":  {Person: "chat:ilse"},
		"a person who answered in it":   {Person: "approver:anna"},
		"a person beside whom it stays": {Person: "ilse", Why: "case 12"},
	} {
		t.Run(name, func(t *testing.T) {
			s := memory.New()
			talk(t, s, "a", "ilse", 60, 60, 60)
			talk(t, s, "b", "tor", 60, 60, 60)
			answer := &event.Event{Kind: event.Answered, Time: now.AddDate(0, 0, -50).UnixNano(), Answer: &event.Answer{By: "approver:anna", Verdict: "deny"}}
			if err := s.Append(t.Context(), "a", 3, []*event.Event{answer}); err != nil {
				t.Fatal(err)
			}
			hold.By = "counsel"
			if err := retention.SetHold(t.Context(), s, hold, now); err != nil {
				t.Fatal(err)
			}
			if err := retention.SetHold(t.Context(), s, hold, now); !errors.Is(err, retention.ErrHold) {
				t.Errorf("a second time: got %v, want it refused", err)
			}
			before := text(t, s, "a")
			for _, r := range []retention.Request{{Limits: all}, {Person: "ilse"}} {
				out := prune(t, s, r)
				if len(out.Held) != 1 || out.Held[0].Session != "a" || out.Held[0].Hold.By != "counsel" {
					t.Errorf("got %+v, want session a held", out)
				}
			}
			if text(t, s, "a") != before {
				t.Error("what is held was changed")
			}
			hold.Ended = true
			if err := retention.SetHold(t.Context(), s, hold, now); err != nil {
				t.Fatal(err)
			}
			if out := prune(t, s, retention.Request{Limits: all}); out.Sessions != 1 || len(out.Held) != 0 {
				t.Errorf("released: got %+v, want session a pruned", out)
			}
		})
	}
}

func TestSomebodyIsForgotten(t *testing.T) {
	s := memory.New()
	talk(t, s, "a", "ilse", 3, 2, 1)
	talk(t, s, "b", "tor", 3, 2, 1)
	talk(t, s, "c", "ilse", 1, 1, 1)
	whole := text(t, s, "b")
	out := prune(t, s, retention.Request{Person: "chat:ilse", Why: "they asked for it"})
	if out.Sessions != 2 || out.Records != 6 {
		t.Errorf("got %+v, want two sessions", out)
	}
	for _, session := range []string{"a", "c"} {
		if left := text(t, s, session); strings.Contains(strings.ToLower(left), "ilse") || strings.Contains(left, "key of") || strings.Contains(left, sealed) {
			t.Errorf("%s still holds something:\n%s", session, left)
		}
	}
	if text(t, s, "b") != whole {
		t.Error("somebody else's session was changed")
	}
}

// ticket is the log of a ticket that was given in a session.
func ticket(t *testing.T, s *memory.Store, session string, day int) string {
	t.Helper()
	hash, at := tool.DigestOf([]byte(session)), now.AddDate(0, 0, -day).UnixNano()
	name := event.BoxLogs + hash.String()
	events := []*event.Event{
		{Kind: event.BoxGiven, Time: at, Box: &event.Box{Ticket: hash, Session: session, Command: "c0ffee", Workspace: "/home/brandt/work"}},
		{Kind: event.BoxRedeemed, Time: at, Box: &event.Box{Ticket: hash, PID: 7}},
		{Kind: event.BoxEnded, Time: at, Box: &event.Box{Ticket: hash, Report: "/home/brandt/work/.mcp.json"}},
	}
	for i, e := range events {
		if err := s.Append(t.Context(), name, uint64(i), []*event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// Tickets of commands in boxes have logs of their own: they go with age, with the person whose session it was, and stay where that is held.
func TestTicketsArePrunedLikeTheirSession(t *testing.T) {
	all := retention.Limits{event.PruneEvents: days(30)}
	bare := func(s *memory.Store, name string) bool { return !strings.Contains(text(t, s, name), "brandt") }
	s := memory.New()
	talk(t, s, "a", "ilse", 60, 60, 60)
	talk(t, s, "b", "tor", 2, 2, 2)
	old, young := ticket(t, s, "a", 60), ticket(t, s, "b", 2)
	if err := retention.SetHold(t.Context(), s, event.Hold{Session: "a", By: "counsel"}, now); err != nil {
		t.Fatal(err)
	}
	if prune(t, s, retention.Request{Limits: all}); bare(s, old) {
		t.Error("the ticket of a session that is held was pruned")
	}
	if err := retention.SetHold(t.Context(), s, event.Hold{Session: "a", By: "counsel", Ended: true}, now); err != nil {
		t.Fatal(err)
	}
	prune(t, s, retention.Request{Limits: all})
	if !bare(s, old) || bare(s, young) {
		t.Errorf("by age: got old %t, young %t pruned", bare(s, old), bare(s, young))
	}
	if prune(t, s, retention.Request{Person: "chat:tor"}); !bare(s, young) {
		t.Error("somebody was forgotten, and the tickets of their session still name their folder")
	}
	records := 0
	for rec, err := range s.Load(t.Context(), old, 0) {
		e, wrong := event.FromRecord(rec)
		if err != nil || wrong != nil || e.Box == nil || e.Box.Ticket != tool.DigestOf([]byte("a")) {
			t.Errorf("record %d: got %+v, %v, %v", records, e.Box, err, wrong)
		}
		records++
	}
	if records != 3 {
		t.Errorf("got %d records, want all three: that a ticket was used is never forgotten", records)
	}
}

// conflicted is a log that somebody else prunes at the same time.
type conflicted struct {
	*memory.Store
	times int
}

func (c *conflicted) Prune(ctx context.Context, at uint64, events []*event.Event, pruned []audit.Record) error {
	if c.times++; c.times == 1 {
		return fmt.Errorf("prune: %w", engine.ErrConflict)
	}
	return c.Store.Prune(ctx, at, events, pruned)
}

func TestWhoeverComesSecondLooksAgain(t *testing.T) {
	s := &conflicted{Store: memory.New()}
	talk(t, s.Store, "a", "ilse", slices.Repeat([]int{60}, 400)...)
	out, err := retention.Prune(t.Context(), s, retention.Request{Limits: retention.Limits{event.PruneEvents: days(30)}, Now: now, By: "ops"})
	if err != nil || out.Records != 400 || out.Sessions != 1 {
		t.Fatalf("got %+v and %v", out, err)
	}
	report, err := s.Verify(t.Context(), nil)
	if err != nil || !report.OK() || report.Pruned.Records != 400 || report.Pruned.What[event.PruneEvents] != 400 {
		t.Errorf("got %+v and %v", report, err)
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	s := memory.New()
	for name, r := range map[string]retention.Request{
		"nobody":          {Limits: retention.Limits{event.PruneContent: days(1)}},
		"nothing to do":   {By: "ops"},
		"no such kind":    {By: "ops", Limits: retention.Limits{"everything": days(1)}},
		"below zero":      {By: "ops", Limits: retention.Limits{event.PruneContent: days(-1)}},
		"size below zero": {By: "ops", Limits: retention.Limits{event.PruneContent: {Bytes: -1}}},
	} {
		if _, err := retention.Prune(t.Context(), s, r); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	for _, h := range []event.Hold{{By: "ops"}, {Session: "a"}, {By: "ops", Session: "a", Person: "b"}, {By: "ops", Session: "a", Ended: true}} {
		if err := retention.SetHold(t.Context(), s, h, now); !errors.Is(err, retention.ErrHold) {
			t.Errorf("hold %+v: got %v", h, err)
		}
	}
	if head, err := s.Head(t.Context()); err != nil || head != (store.Head{}) {
		t.Errorf("something was written: %+v, %v", head, err)
	}
}
