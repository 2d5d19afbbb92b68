package conversation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// BenchmarkRound is what a request costs that adds an answer and a question of a kilobyte
// to a conversation, from its reading to the note of its answer, the log in memory.
func BenchmarkRound(b *testing.B) {
	w := newWorld(b)
	answer := []format.Part{{Kind: format.Text, Text: "That is what it says."}}
	var body strings.Builder
	begin := func(n int) {
		body.Reset()
		fmt.Fprintf(&body, `{"model":"m","messages":[{"role":"user","content":"conversation %d"}`, n)
	}
	more := strings.Repeat("what does it say about this ", 36)
	var raw []byte
	round := func() {
		r, err := w.cache.Read(format.Chat, "t", raw)
		if err != nil {
			b.Fatal(err)
		}
		v, err := w.follower.Enter(w.Context(), w.chat("t").who, r)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.monitor.Tools(w.Context(), engine.ModelCall{Ref: v.Ref, Iteration: -1, Loose: true}); err != nil {
			b.Fatal(err)
		}
		if err := v.Answered(w.Context(), conversation.Reply{}, answer); err != nil {
			b.Fatal(err)
		}
		if _, err := w.monitor.Replied(w.Context(), engine.ModelReply{Ref: v.Ref, Output: v.Output(answer)}); err != nil {
			b.Fatal(err)
		}
		if _, err := w.monitor.End(w.Context(), engine.Ending{Ref: v.Ref, Content: []byte(answer[0].Text)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		if n%16 == 0 {
			begin(n)
			raw = []byte(body.String() + "]}")
			round()
		}
		fmt.Fprintf(&body, `,{"role":"assistant","content":"%s"},{"role":"user","content":"%d %s"}`, answer[0].Text, n, more)
		raw = []byte(body.String() + "]}")
		b.StartTimer()
		round()
	}
}
