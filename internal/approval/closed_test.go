package approval_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// A question that has its outcome keeps it: whoever waits can be told.
//
// BEY-10
func TestAClosedQuestionKeepsItsOutcome(t *testing.T) {
	for _, tt := range []struct {
		name  string
		close func(*approval.Book)
		state approval.State
		text  string
		by    string
	}{
		{"denied", func(b *approval.Book) { b.Close(approval.Denied, "anna", "no", 60, "q") }, approval.Denied, "denied", "anna"},
		{"granted", func(b *approval.Book) { b.Close(approval.Granted, "anna", "", 60, "q") }, approval.Granted, "approved", "anna"},
		{"approved and spent", func(b *approval.Book) {
			b.Approve([]string{"q"}, "anna", 900)
			b.Close(approval.Spent, "", "", 60, "q")
		}, approval.Spent, "spent", "anna"},
		{"made pointless", func(b *approval.Book) { b.Settle("", asked("q", "", "").Digest, 60) }, approval.Moot, "moot", ""},
		{"pushed out", func(b *approval.Book) {
			for i := range approval.MaxOpen {
				b.Ask(asked(fmt.Sprintf("q%d", i), "exec", fmt.Sprint(i)), "")
			}
		}, approval.Lost, "lost", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b approval.Book
			b.Ask(asked("q", "exec", "aaaaaaaa"), "")
			if _, ok := b.Outcome("q"); ok {
				t.Fatal("an open question has an outcome")
			}
			tt.close(&b)
			for range 2 { // reading changes nothing
				c, ok := b.Outcome("q")
				if !ok || c.State != tt.state || c.State.String() != tt.text || c.By != tt.by || c.Tool != "exec" {
					t.Errorf("got %+v, %t; want %s by %q", c, ok, tt.text, tt.by)
				}
			}
			b.Close(approval.Granted, "eve", "", 70, "q")
			b.Approve([]string{"q"}, "eve", 900)
			if c, _ := b.Outcome("q"); c.State != tt.state || c.By != tt.by {
				t.Errorf("a second answer made it %s by %s", c.State, c.By)
			}
			if _, ok := b.Request("q"); ok {
				t.Error("it is open still")
			}
			if id, ok := b.Covers(heldBy(asked("q", "exec", "")), 80); ok {
				t.Errorf("it lets the call through as %s", id)
			}
		})
	}
}

func TestOutcomesAreBounded(t *testing.T) {
	var b approval.Book
	const kept, more = 256, 50
	for i := range kept + more {
		b.Ask(asked(fmt.Sprint(i), "exec", fmt.Sprint(i)), "")
		b.Close(approval.Denied, "anna", "", 60, fmt.Sprint(i))
	}
	for i := range kept + more {
		if _, ok := b.Outcome(fmt.Sprint(i)); ok != (i >= more) {
			t.Errorf("question %d: known %t, want the latest %d", i, ok, kept)
		}
	}
	if !b.Empty() {
		t.Error("outcomes count as something open")
	}
}

// Who said no is not asked the same again until another turn begins.
//
// BEY-10
func TestADenialStandsForItsTurn(t *testing.T) {
	q := asked("q", "exec", "aaaaaaaa")
	for _, tt := range []struct {
		name   string
		change func(b *approval.Book, h *approval.Held)
		want   bool
	}{
		{"the exact call is refused", nil, true},
		{"in a context that is worse too", func(_ *approval.Book, h *approval.Held) { h.Level = trust.Untrusted }, true},
		{"after another branch's turn too", func(b *approval.Book, _ *approval.Held) { b.EndTurn("child", 70) }, true},
		{"not after the turn", func(b *approval.Book, _ *approval.Held) { b.EndTurn("", 70) }, false},
		{"not another call", func(_ *approval.Book, h *approval.Held) { h.Digest = tool.DigestOf([]byte("other")) }, false},
		{"not another tool", func(_ *approval.Book, h *approval.Held) { h.Tool = "message" }, false},
		{"not another branch", func(_ *approval.Book, h *approval.Held) { h.Branch = "child" }, false},
		{"not under another policy", func(_ *approval.Book, h *approval.Held) { h.Policy = "p2" }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b approval.Book
			b.Ask(q, "")
			b.Close(approval.Denied, "anna", "not today", 60, "q")
			h := heldBy(q)
			if tt.change != nil {
				tt.change(&b, &h)
			}
			no, ok := b.Refused(h)
			if ok != tt.want {
				t.Errorf("got %t, want %t", ok, tt.want)
			}
			if ok && (no.By != "anna" || no.Reason != "not today" || no.At != 60) {
				t.Errorf("got %+v", no)
			}
		})
	}
	for _, state := range []approval.State{approval.Spent, approval.Granted, approval.Moot, approval.Lost} {
		var b approval.Book
		b.Ask(q, "")
		b.Close(state, "", "", 60, "q")
		if _, ok := b.Refused(heldBy(q)); ok {
			t.Errorf("a question that is %s refuses its call", state)
		}
	}
}

func TestLiveCountsWhatWaitsForAnAnswer(t *testing.T) {
	var b approval.Book
	for i := range 5 {
		b.Ask(asked(fmt.Sprint(i), "exec", fmt.Sprint(i)), "")
	}
	late := asked("late", "exec", "l")
	late.Expires = 10
	b.Ask(late, "")
	b.Approve([]string{"0"}, "anna", 900)
	b.Close(approval.Denied, "anna", "", 5, "1")
	got := []int{b.Live(5), b.Live(50), b.Live(100)}
	if want := []int{4, 3, 0}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	fail(&b, approval.MaxTries)
	if got := b.Live(50); got != 0 {
		t.Errorf("got %d live questions after too many wrong tries, want none", got)
	}
}

// A grant made from a question with constraints leaves the question its own approval.
//
// BEY-10
func TestAGrantWithConstraintsCoversWhatFits(t *testing.T) {
	var b approval.Book
	first := tool.NewArgs([]byte(`{"command":"make"}`))
	b.Grant(approval.Grant{
		ID: "g", Tools: []string{"exec"}, Ceiling: trust.External, Policy: "p1", Until: 100, Where: approval.Where{"command": "make *"},
		Keeps: []approval.Kept{approval.Keep("exec", "q", &first, func(string, string) bool { return false })},
	})
	h := heldBy(asked("q", "exec", ""))
	for raw, want := range map[string]bool{`{"command":"make all"}`: true, `{"command":"make all; rm"}`: false, `{}`: false} {
		args := tool.NewArgs([]byte(raw))
		h.Args = &args
		if _, ok := b.Covers(h, 50); ok != want {
			t.Errorf("%s: covered %t, want %t", raw, ok, want)
		}
	}
	if h.Args = nil; len(b.Grants(50)) != 1 {
		t.Error("the grant is gone")
	}
	if _, ok := b.Covers(h, 50); ok {
		t.Error("a call whose arguments are not known is covered")
	}
}

func TestAStateNobodyKnowsIsDead(t *testing.T) {
	if got := approval.State(99).String(); got != "dead" {
		t.Errorf("got %q, want dead", got)
	}
}
