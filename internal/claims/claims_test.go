package claims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/claims"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

func call(id, name, args string) tool.Call {
	return tool.Call{ID: id, Name: name, Args: []byte(args)}
}

// MCP-14
func TestAClaimIsGoodOnceForTheSameCall(t *testing.T) {
	now := time.Unix(0, 0)
	b := claims.New(func() time.Time { return now })
	at := engine.Ref{Session: "claude:1", Branch: "b", Turn: "t"}
	tests := []struct {
		name  string
		call  tool.Call
		after time.Duration
		good  bool
	}{
		{"the same call, spelled otherwise", call("a", "mail__send", `{ "n":1.0, "to":"\u0078" }`), 0, true},
		{"another argument", call("a", "mail__send", `{"to":"y","n":1}`), 0, false},
		{"an integer that rounding would make the same", call("a", "mail__send", `{"to":"x","n":1,"m":9007199254740993}`), 0, false},
		{"another tool", call("a", "mail__drop", `{"to":"x","n":1}`), 0, false},
		{"another id", call("b", "mail__send", `{"to":"x","n":1}`), 0, false},
		{"no id", call("", "mail__send", `{"to":"x","n":1}`), 0, false},
		{"a key twice, but for its case", call("a", "mail__send", `{"to":"x","n":1,"TO":"x"}`), 0, false},
		{"arguments that nobody can read", call("a", "mail__send", `{"to":`), 0, false},
		{"the same call, too late", call("a", "mail__send", `{"to":"x","n":1}`), time.Hour, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now = time.Unix(0, 0)
			b.Note(at, call("a", "mail__send", `{"to":"x","n":1}`))
			now = now.Add(tt.after)
			ref, ok := b.Claim(tt.call)
			if ok != tt.good || ok && ref != at {
				t.Fatalf("got %+v, %v; want %v", ref, ok, tt.good)
			}
			if _, again := b.Claim(tt.call); again {
				t.Error("a claim was good twice")
			}
		})
	}
}

func TestWhatCannotBeMetAgainIsNotRemembered(t *testing.T) {
	b := claims.New(time.Now)
	b.Note(engine.Ref{Session: "s"}, call("a", "exec", `{}`))
	if _, ok := b.Claim(call("a", "exec", `{}`)); ok {
		t.Error("a tool of the host was claimed")
	}
	var none *claims.Book
	none.Note(engine.Ref{Session: "s"}, call("a", "x__y", `{}`))
	if _, ok := none.Claim(call("a", "x__y", `{}`)); ok {
		t.Error("no book held a claim")
	}
}

func TestTheBookIsBounded(t *testing.T) {
	b := claims.New(time.Now)
	for i := range 10_000 {
		b.Note(engine.Ref{Session: "s"}, call(fmt.Sprint(i), "x__y", `{}`))
	}
	if _, ok := b.Claim(call("0", "x__y", `{}`)); ok {
		t.Error("the oldest is still there")
	}
	if _, ok := b.Claim(call("9999", "x__y", ``)); !ok {
		t.Error("the latest is gone")
	}
}
