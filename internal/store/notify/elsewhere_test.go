package notify_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// What another server records wakes whoever it may concern, and nobody else.
func TestElsewhere(t *testing.T) {
	woken := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	for name, test := range map[string]struct {
		session         string
		reach           notify.Reach
		questions, s, t bool
		news            int
	}{
		"a plain record":                {"s", notify.Grown, false, false, false, 0},
		"a question of the session":     {"s", notify.Questions, true, true, false, 0},
		"a grant in the session":        {"s", notify.All, true, true, false, 1},
		"something in another session":  {"x", notify.All, true, false, false, 0},
		"anything, after a lost listen": {"", notify.All, true, true, true, 1},
	} {
		t.Run(name, func(tt *testing.T) {
			f := notify.New(memory.New())
			grown, questions := f.Grown(), f.QuestionsChanged()
			one, two := f.Listen("s"), f.Listen("t")
			defer one.Close()
			defer two.Close()
			first, _ := one.Watch("ask-1", "digest")
			second, _ := two.Watch("ask-2", "digest")
			defer first.Stop()
			defer second.Stop()
			f.Elsewhere(test.session, test.reach)
			if !woken(grown) || woken(questions) != test.questions || woken(first.Changed()) != test.s || woken(second.Changed()) != test.t {
				tt.Errorf("grown %t, questions %t, s %t, t %t", woken(grown), woken(questions), woken(first.Changed()), woken(second.Changed()))
			}
			if one.News() != test.news {
				tt.Errorf("%d news in s, want %d", one.News(), test.news)
			}
		})
	}
}

func TestReachOf(t *testing.T) {
	allowed := &event.Event{Kind: event.CallDecided, Decided: &event.Decided{Effect: "allow"}}
	for name, test := range map[string]struct {
		want   notify.Reach
		events []*event.Event
	}{
		"nothing":                     {notify.Grown, nil},
		"a result":                    {notify.Grown, []*event.Event{{Kind: event.ResultSeen, Seen: &event.Seen{}}}},
		"a call that was asked about": {notify.Questions, []*event.Event{{Kind: event.ResultSeen, Seen: &event.Seen{}}, allowed}},
		"an answer":                   {notify.Questions, []*event.Event{{Kind: event.Answered, Answer: &event.Answer{}}}},
		"a grant":                     {notify.All, []*event.Event{allowed, {Kind: event.Answered, Answer: &event.Answer{Grant: &event.Grant{}}}}},
		"a reset":                     {notify.All, []*event.Event{{Kind: event.TrustReset, Answer: &event.Answer{}}}},
	} {
		if got := notify.ReachOf(test.events); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
