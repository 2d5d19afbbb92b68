package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/bench/question"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// page is what a tool brings back: prose, and records with fields.
func page(n int) string {
	var b strings.Builder
	for i := range n {
		if i%4 == 0 {
			fmt.Fprintf(&b, "- name: Person %d\n  email: person%d@example.com\n  note: met at the harbour in May\n", i, i)
		} else {
			fmt.Fprintf(&b, "The minutes of meeting %d say that the harbour office moves to street %d in autumn.\n", i, i*7)
		}
	}
	return b.String()
}

func indexPerByte(context.Context) (result, error) {
	text := []byte(page(4000))
	args := tool.NewArgs(nil)
	ours := func(b *testing.B) {
		for b.Loop() {
			warrant.New(vocabulary.Shipped()).Result(warrant.Result{Tool: "read_page", Args: &args, Content: text})
		}
	}
	copied := make([]byte, len(text))
	theirs := func(b *testing.B) {
		for b.Loop() {
			copy(copied, text)
		}
	}
	r, err := compare(run(ours), run(theirs))
	r.ratio = r.ours / float64(len(text))
	return r, err
}

func originVsScan(context.Context) (result, error) {
	c := warrant.New(vocabulary.Shipped())
	args := tool.NewArgs(nil)
	var all strings.Builder
	for i := 0; all.Len() < 10<<20; i++ {
		text := fmt.Sprintf("part %d\n%s", i, page(2000))
		all.WriteString(text)
		c.Result(warrant.Result{Tool: "read_page", Args: &args, Content: []byte(text)})
	}
	c.User("Write to the person I met at the harbour")
	content := []byte(strings.ToLower(all.String()))
	value := strings.Repeat("nobody ever wrote these very words here ", 5)[:200]
	call := tool.NewArgs([]byte(`{"to":"` + value + `"}`))
	ours := func(b *testing.B) {
		for b.Loop() {
			c.Of("send_note", &call)
		}
	}
	scan := func(b *testing.B) {
		for b.Loop() {
			if bytes.Contains(content, []byte(value)) {
				b.Fatal("it is there after all")
			}
		}
	}
	return compare(run(ours), run(scan))
}

func replayRuns(ctx context.Context) (result, error) {
	set, faults := policy.Parse("bench.yaml", nil)
	if err := faults.Err(); err != nil {
		return result{}, err
	}
	var runs []replay.Run
	for u, err := range replay.Units("bench", strings.NewReader(recorded(1000)), replay.Trace) {
		if err != nil {
			return result{}, err
		}
		list, err := u.Runs()
		if err != nil {
			return result{}, err
		}
		runs = append(runs, list...)
	}
	var speeds []float64
	for range rounds {
		n, err := replay.Speed(ctx, replay.Options{Policy: set}, runs)
		if err != nil {
			return result{}, err
		}
		speeds = append(speeds, n)
	}
	m := median(speeds)
	return result{ours: 1e9 / m, theirs: 1e9 / m, ratio: m}, nil
}

// recorded is so many runs in the trace form.
func recorded(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"run-%d","events":[{"user":"Read the page and mail Petra a note"},`+
			`{"call":{"tool":"read_page","args":{"url":"https://a.example/%d"}},"result":%q},`+
			`{"call":{"tool":"send_note","args":{"to":"petra@lund.example","body":"a note"}},"result":"sent","answer":"approve"}]}`+
			"\n", i, i, page(30))
	}
	return b.String()
}

// hear is what one message of the user's costs, about 2 kB of requests.
func hear(context.Context) (result, error) {
	text := strings.Repeat("Please look at the parcels of Ilse Brandt, rename the oldest to Birch and mail her what you found. ", 20)
	program, err := question.NewProgram()
	if err != nil {
		return result{}, err
	}
	values := question.Values()
	r, err := compare(run(func(b *testing.B) {
		for b.Loop() {
			c := warrant.New(vocabulary.Shipped())
			c.User(text)
			c.Is(warrant.FactSpoken, "") // it is heard when something is asked
		}
	}), run(func(b *testing.B) {
		for b.Loop() {
			if _, _, err := program.Eval(values); err != nil {
				b.Fatal(err)
			}
		}
	}))
	r.ratio = r.ours / 1000
	return r, err
}
