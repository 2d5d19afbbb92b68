package approval_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func hash(code string) tool.Digest { return approval.HashCode("s", code) }

// asked is a question about exec, asked at 0 and open until 100.
func asked(id, toolName, code string) approval.Request {
	return approval.Request{
		ID: id, Tool: toolName, Digest: tool.DigestOf([]byte(id)), Policy: "p1", Level: trust.External, CodeHash: hash(code), Expires: 100,
	}
}

func heldBy(r approval.Request) approval.Held {
	return approval.Held{Branch: r.Branch, Tool: r.Tool, Digest: r.Digest, Policy: r.Policy, Level: r.Level}
}

// PRV-19
func TestMatchTellsWhyACodeDoesNotCount(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(*approval.Book)
		tool    string
		code    string
		now     int64
		want    error
	}{
		{"a live code of its tool counts", nil, "exec", "aaaaaaaa", 50, nil},
		{"a wrong code", nil, "exec", "00000000", 50, approval.ErrNoMatch},
		{"the code of another tool", nil, "message", "aaaaaaaa", 50, approval.ErrTool},
		{"a code at its last moment counts", nil, "exec", "aaaaaaaa", 99, nil},
		{"a late code", nil, "exec", "aaaaaaaa", 100, approval.ErrExpired},
		{"a late code for all", nil, "all", "aaaaaaaa", 100, approval.ErrExpired},
		{"a code used before", func(b *approval.Book) { b.Approve([]string{"q"}, "owner", 900) }, "exec", "aaaaaaaa", 50, approval.ErrGone},
		{"a code that was denied", func(b *approval.Book) { b.Close(approval.Denied, "", "", 0, "q") }, "exec", "aaaaaaaa", 50, approval.ErrNoMatch},
		{"a code after four wrong tries counts", func(b *approval.Book) { fail(b, 4) }, "exec", "aaaaaaaa", 50, nil},
		{"a code after five wrong tries", func(b *approval.Book) { fail(b, 5) }, "exec", "aaaaaaaa", 50, approval.ErrDead},
		{"a dead code for all", func(b *approval.Book) { fail(b, 5) }, "all", "aaaaaaaa", 50, approval.ErrDead},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b approval.Book
			b.Ask(asked("q", "exec", "aaaaaaaa"), "")
			if tt.prepare != nil {
				tt.prepare(&b)
			}
			ids, err := b.Match(tt.tool, hash(tt.code), tt.now)
			if !errors.Is(err, tt.want) || tt.want == nil && !slices.Equal(ids, []string{"q"}) {
				t.Errorf("got %v, %v; want %v", ids, err, tt.want)
			}
		})
	}
}

func fail(b *approval.Book, n int) {
	for range n {
		b.Fail(50)
	}
}

// PRV-19
func TestADeadCodeCannotBeRevived(t *testing.T) {
	var b approval.Book
	b.Ask(asked("q", "exec", "aaaaaaaa"), "")
	fail(&b, approval.MaxTries)
	b.Approve([]string{"q"}, "owner", 900)
	if err := b.Open([]string{"q"}, 50); !errors.Is(err, approval.ErrDead) {
		t.Errorf("Open: got %v, want ErrDead", err)
	}
	if id, ok := b.Covers(heldBy(asked("q", "exec", "")), 50); ok {
		t.Errorf("a dead question was approved and lets the call through as %s", id)
	}
	b.Ask(asked("q2", "exec", "bbbbbbbb"), "")
	if _, err := b.Match("exec", hash("bbbbbbbb"), 50); err != nil {
		t.Errorf("a question asked after that: got %v, want it open", err)
	}
}

// PRV-18
func TestApproveAllTakesWhatWasAskedUpToThen(t *testing.T) {
	var b approval.Book
	b.Ask(asked("q1", "exec", "aaaaaaaa"), "")
	other := asked("q2", "exec", "bbbbbbbb")
	other.Branch = "child"
	b.Ask(other, "")
	late := asked("q3", "cron", "cccccccc")
	late.Expires = 10
	b.Ask(late, "")
	b.Ask(asked("q4", "message", "dddddddd"), "")
	b.Ask(asked("q5", "write", "eeeeeeee"), "") // in the same instant, but nobody was shown it yet
	got, err := b.Match("all", hash("dddddddd"), 50)
	if want := []string{"q1", "q4"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v: open, of the same branch, asked before", got, err, want)
	}
	got, err = b.Match("all", hash("aaaaaaaa"), 50)
	if want := []string{"q1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the first code: got %v, %v; want %v", got, err, want)
	}
}

func TestOpenRefusesWhatIsNoLongerAQuestion(t *testing.T) {
	var b approval.Book
	b.Ask(asked("open", "exec", "aaaaaaaa"), "")
	b.Ask(asked("approved", "exec", "bbbbbbbb"), "")
	b.Approve([]string{"approved"}, "owner", 900)
	for _, tt := range []struct {
		ids  []string
		now  int64
		want error
	}{
		{[]string{"open"}, 99, nil},
		{[]string{"open"}, 100, approval.ErrExpired},
		{[]string{"open", "nobody"}, 50, approval.ErrGone},
		{[]string{"open", "approved"}, 50, approval.ErrGone},
	} {
		if err := b.Open(tt.ids, tt.now); !errors.Is(err, tt.want) {
			t.Errorf("Open(%v) at %d: got %v, want %v", tt.ids, tt.now, err, tt.want)
		}
	}
}

func TestAnApprovalIsForTheExactCall(t *testing.T) {
	q := asked("q", "exec", "aaaaaaaa")
	tests := []struct {
		name   string
		change func(*approval.Held)
		now    int64
		want   bool
	}{
		{"the same call", func(*approval.Held) {}, 50, true},
		{"the same call in a cleaner context", func(h *approval.Held) { h.Level = trust.Shared }, 50, true},
		{"the same call after the code's time but in the approval's", func(*approval.Held) {}, 899, true},
		{"the same call too late", func(*approval.Held) {}, 900, false},
		{"other arguments", func(h *approval.Held) { h.Digest = tool.Digest{} }, 50, false},
		{"another tool", func(h *approval.Held) { h.Tool = "message" }, 50, false},
		{"another branch", func(h *approval.Held) { h.Branch = "child" }, 50, false},
		{"another policy", func(h *approval.Held) { h.Policy = "p2" }, 50, false},
		{"a context that got worse", func(h *approval.Held) { h.Level = trust.Untrusted }, 50, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b approval.Book
			b.Ask(q, "")
			if _, ok := b.Covers(heldBy(q), 50); ok {
				t.Fatal("an open question lets the call through")
			}
			b.Approve([]string{"q"}, "owner", 900)
			h := heldBy(q)
			tt.change(&h)
			if _, ok := b.Covers(h, tt.now); ok != tt.want {
				t.Errorf("covered: got %v, want %v", ok, tt.want)
			}
		})
	}
}

// PRV-18
func TestAGrantEnds(t *testing.T) {
	args := tool.NewArgs([]byte(`{"command":"make"}`))
	kept := approval.Keep("exec", "q", &args, func(string, string) bool { return false })
	h := approval.Held{Tool: "exec", Policy: "p1", Level: trust.External, Args: &args}
	tests := []struct {
		name   string
		grant  approval.Grant
		change func(*approval.Held, *approval.Book)
		now    int64
		want   bool
	}{
		{"it covers a call like the one it was given for", approval.Grant{Until: 100}, func(h *approval.Held, _ *approval.Book) { h.Digest[0] = 9 }, 50, true},
		{"it covers none that is dangerous", approval.Grant{Until: 100}, func(h *approval.Held, _ *approval.Book) { h.Danger = true }, 50, false},
		{"it covers none whose arguments are not known", approval.Grant{Until: 100}, func(h *approval.Held, _ *approval.Book) { h.Args = nil }, 50, false},
		{"it covers no other tool", approval.Grant{Until: 100}, func(h *approval.Held, _ *approval.Book) { h.Tool = "gateway" }, 50, false},
		{"it covers a cleaner context", approval.Grant{Until: 100}, func(h *approval.Held, _ *approval.Book) { h.Level = trust.Owner }, 50, true},
		{"it covers no worse context", approval.Grant{Until: 100}, func(h *approval.Held, _ *approval.Book) { h.Level = trust.Untrusted }, 50, false},
		{"it ends with its time", approval.Grant{Until: 100}, nil, 100, false},
		{"it ends with the policy", approval.Grant{Until: 100}, func(h *approval.Held, _ *approval.Book) { h.Policy = "p2" }, 50, false},
		{"it holds in its branch alone", approval.Grant{Until: 100}, func(h *approval.Held, _ *approval.Book) { h.Branch = "child" }, 50, false},
		{"it ends with its last call", approval.Grant{Until: 100, Calls: 2}, func(h *approval.Held, b *approval.Book) { b.Use("g", 40); b.Use("g", 40) }, 50, false},
		{"it has calls left", approval.Grant{Until: 100, Calls: 2}, func(h *approval.Held, b *approval.Book) { b.Use("g", 40); b.Use("another", 40) }, 50, true},
		{"without a number it has all calls", approval.Grant{Until: 100}, func(h *approval.Held, b *approval.Book) { b.Use("g", 40); b.Use("g", 40) }, 50, true},
		{"timed, it outlives the turn", approval.Grant{Until: 100}, func(_ *approval.Held, b *approval.Book) { b.EndTurn("", 50) }, 50, true},
		{"for the turn, it has no other end", approval.Grant{Turn: true}, nil, 1 << 60, true},
		{"for the turn, it ends with it", approval.Grant{Turn: true}, func(_ *approval.Held, b *approval.Book) { b.EndTurn("", 50) }, 50, false},
		{"for the turn, another branch's end is none", approval.Grant{Turn: true}, func(_ *approval.Held, b *approval.Book) { b.EndTurn("child", 50) }, 50, true},
		{"it can be revoked", approval.Grant{Until: 100}, func(_ *approval.Held, b *approval.Book) { b.Revoke("g") }, 50, false},
		{"the zero grant covers nothing", approval.Grant{}, nil, 50, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b approval.Book
			g, h := tt.grant, h
			g.ID, g.Tools, g.Policy, g.Ceiling, g.Keeps = "g", []string{"exec", "cron"}, "p1", trust.External, []approval.Kept{kept}
			b.Grant(g)
			if tt.change != nil {
				tt.change(&h, &b)
			}
			if _, ok := b.Covers(h, tt.now); ok != tt.want {
				t.Errorf("covered: got %v, want %v", ok, tt.want)
			}
		})
	}
}

func TestAReleasedWriteHoldsAtAnyLevelAndAfterTheTurn(t *testing.T) {
	var b approval.Book
	w := approval.Request{ID: "w", Tool: "write", Policy: "p1", Until: 900}
	b.Release(w)
	b.EndTurn("", 10)
	h := heldBy(w)
	h.Level = trust.Untrusted
	if id, ok := b.Covers(h, 899); !ok || id != "w" {
		t.Errorf("got %q, %v; want the release to cover its call", id, ok)
	}
	if _, ok := b.Covers(h, 900); ok {
		t.Error("the release covers its call after its time")
	}
	if err := b.Open([]string{"w"}, 10); !errors.Is(err, approval.ErrGone) {
		t.Errorf("voting on a release: got %v, want ErrGone", err)
	}
}

func TestAnApprovalOfACallDoesNotEndWithATurn(t *testing.T) {
	var b approval.Book
	q := asked("q", "exec", "aaaaaaaa")
	b.Ask(q, "")
	b.Approve([]string{"q"}, "owner", 900)
	for range 3 {
		b.EndTurn("", 50)
	}
	if _, ok := b.Covers(heldBy(q), 50); !ok {
		t.Error("it ended with the turn")
	}
	if _, ok := b.Covers(heldBy(q), 900); ok {
		t.Error("its time is over, and it is still there")
	}
}

func TestDropForgetsEverythingAboutACall(t *testing.T) {
	var b approval.Book
	one, other := asked("one", "exec", "a"), asked("other", "exec", "b")
	elsewhere := one
	elsewhere.ID, elsewhere.Branch = "elsewhere", "child"
	for _, q := range []approval.Request{one, other, elsewhere} {
		b.Ask(q, "")
	}
	b.Approve([]string{"one"}, "owner", 900)
	b.Settle("", one.Digest, 0)
	var left []string
	for _, r := range b.Requests() {
		left = append(left, r.ID)
	}
	if want := []string{"other", "elsewhere"}; !slices.Equal(left, want) {
		t.Errorf("got %v, want %v", left, want)
	}
}

func TestAskReplacesAndForgets(t *testing.T) {
	var b approval.Book
	b.Ask(asked("old", "exec", "aaaaaaaa"), "")
	b.Ask(asked("new", "exec", "bbbbbbbb"), "old")
	if _, ok := b.Request("old"); ok {
		t.Error("the replaced question is still there")
	}
	if _, err := b.Match("exec", hash("aaaaaaaa"), 50); !errors.Is(err, approval.ErrNoMatch) {
		t.Errorf("the replaced code: got %v, want ErrNoMatch", err)
	}
	hour := int64(3600 * 1e9)
	much := asked("later", "exec", "cccccccc")
	much.Asked, much.Expires = hour, 2*hour
	b.Ask(much, "")
	if got := b.Requests(); len(got) != 1 || got[0].ID != "later" {
		t.Errorf("got %d questions, want only the one that has not lapsed", len(got))
	}
}

func TestTheBookIsBounded(t *testing.T) {
	var b approval.Book
	b.Ask(asked("approved", "exec", "a"), "")
	b.Approve([]string{"approved"}, "owner", 900)
	for i := range 3 * approval.MaxOpen {
		b.Ask(asked(fmt.Sprintf("q%d", i), "exec", fmt.Sprint(i)), "")
	}
	got := b.Requests()
	if len(got) != approval.MaxOpen || got[0].ID != "approved" || got[len(got)-1].ID != fmt.Sprintf("q%d", 3*approval.MaxOpen-1) {
		t.Errorf("got %d questions from %s to %s, want %d: the approval and the latest", len(got), got[0].ID, got[len(got)-1].ID, approval.MaxOpen)
	}
}

func TestTheWorstQuestionGivesTheCeiling(t *testing.T) {
	var b approval.Book
	shared := asked("q1", "exec", "a")
	shared.Level = trust.Shared
	b.Ask(shared, "")
	b.Ask(asked("q2", "message", "b"), "")
	b.Ask(asked("q3", "exec", "c"), "")
	worst, tools := b.Worst([]string{"q1", "q2", "q3"})
	if worst.ID != "q2" || !slices.Equal(tools, []string{"exec", "message"}) {
		t.Errorf("got %s and %v, want q2 and [exec message]", worst.ID, tools)
	}
	if worst, tools := b.Worst(nil); worst.ID != "" || tools != nil {
		t.Errorf("of no questions: got %v and %v", worst, tools)
	}
}
