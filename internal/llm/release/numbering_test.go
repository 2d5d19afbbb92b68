package release_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// chatReader is a way in which clients put the pieces of Chat's calls together.
type chatReader struct {
	name string
	join func(have, got string) string // of names
}

var chatReaders = []chatReader{
	{"the first name counts", func(have, got string) string {
		if have != "" {
			return have
		}
		return got
	}},
	{"the last name counts", func(have, got string) string {
		if got != "" {
			return got
		}
		return have
	}},
	{"names are joined", func(have, got string) string { return have + got }},
}

// read is the calls that a client finds in a stream, by their index.
func (r chatReader) read(t *rapid.T, out string) []string {
	type call struct{ name, args string }
	calls, order := map[int]*call{}, []int(nil)
	for line := range strings.SplitSeq(out, "\n") {
		var c struct {
			Choices []struct {
				Delta struct {
					ToolCalls []struct {
						Index    int
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		for _, ch := range c.Choices {
			for _, e := range ch.Delta.ToolCalls {
				if calls[e.Index] == nil {
					calls[e.Index], order = &call{}, append(order, e.Index)
				}
				k := calls[e.Index]
				k.name, k.args = r.join(k.name, e.Function.Name), k.args+e.Function.Arguments
			}
		}
	}
	var got []string
	for _, i := range order {
		if calls[i].args == "" {
			calls[i].args = "{}"
		}
		got = append(got, calls[i].name+" "+calls[i].args)
	}
	return got
}

// However a server numbers its calls, what any client reads is what was decided.
func TestHoweverCallsAreNumberedClientsReadWhatWasDecided(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var in strings.Builder
		for range rapid.IntRange(1, 6).Draw(rt, "pieces") {
			index := rapid.SampledFrom([]string{"", `"index":null,`, `"index":0,`, `"index":0,`, `"index":1,`}).Draw(rt, "index")
			id := rapid.SampledFrom([]string{"", "", `"id":"a",`, `"id":"b",`}).Draw(rt, "id")
			name := rapid.SampledFrom([]string{"", "", `"name":"x",`, `"name":"y",`}).Draw(rt, "name")
			args := rapid.SampledFrom([]string{"", "{}", `{\"v\":1}`, `{\"v\":`, "2}"}).Draw(rt, "args")
			fmt.Fprint(&in, chunk(fmt.Sprintf(`{"index":0,"delta":{"tool_calls":[{%s%s"function":{%s"arguments":"%s"}}]}}`, index, id, name, args)))
		}
		in.WriteString(chunk(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`) + chatEnd)
		out, _, j, err := through(t, format.Chat, in.String(), rapid.SampledFrom(cuts).Draw(rt, "cut"))
		if err != nil {
			if strings.Contains(out, "tool_calls") {
				rt.Fatalf("something went out: %s", out)
			}
			return
		}
		var decided []string
		for _, c := range j.calls {
			decided = append(decided, c.Name+" "+string(c.Args))
		}
		for _, r := range chatReaders {
			if got := r.read(rt, out); strings.Join(got, ";") != strings.Join(decided, ";") {
				rt.Fatalf("%s: the client reads %q, decided were %q\nin: %s\nout: %s", r.name, got, decided, in.String(), out)
			}
		}
	})
}
