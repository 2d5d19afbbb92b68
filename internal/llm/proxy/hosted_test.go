package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/llm/proxy"
)

const chatPath = "/openai/v1/chat/completions"

// noted asks for a note and reports whether the call for it came through.
func (w *world) noted(path, body, answer string) bool {
	w.t.Helper()
	w.provider.only(answerJSON(answer))
	g := w.post(path, body)
	if g.status != http.StatusOK {
		w.t.Fatalf("got %d %s", g.status, g.body)
	}
	return strings.Contains(g.body, "call-n")
}

func noteResponse(id string) string {
	return `{"id":"` + id + `","object":"response","status":"completed","model":"m","output":[` +
		callItem("function_call", "call-n", `"name":"send_note","arguments":"{\"to\":\"petra@lund.example\"}"`) + `]}`
}

// What a provider looks up for Chat Completions is in the context, whether or not its answer
// says so, and the calls of the same answer stand on it.
func TestASearchOfTheProvidersTaintsChatToo(t *testing.T) {
	for name, option := range map[string]string{
		"search options":         `"web_search_options":{}`,
		"a plugin":               `"plugins":[{"id":"web","max_results":3}]`,
		"a plugin nobody knows":  `"plugins":[{"id":"oracle"}]`,
		"search parameters":      `"search_parameters":{"mode":"auto"}`,
		"a switch":               `"enable_search":true`,
		"the name of the model":  `"model":"m:online"`,
		"a tool of the provider": `"tools":[{"type":"web_search"}]`,
		"data of the operator's": `"data_sources":[{"type":"azure_search","parameters":{"endpoint":"https://s.example"}}]`,
		"documents":              `"documents":[{"text":"x"}]`,
		"a switch nobody knows":  `"live_lookup":true`,
		"a mode nobody knows":    `"lookup_mode":"always"`,
		"a model that searches":  `"model":"perplexity/sonar-pro"`,
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			body := func(messages ...string) string {
				return fmt.Sprintf(`{%s,"messages":[%s]}`, option, strings.Join(messages, ","))
			}
			if w.noted(chatPath, body(user("What is new? Tell Petra")), chatCall("call-n", "send_note", noteArgs)) {
				t.Error("a call of the same answer came through")
			}
			w = open(t)
			first, said := user("What is new?"), `{"role":"assistant","content":"Nothing at all."}`
			w.provider.only(answerJSON(chatText("Nothing at all.")))
			w.post(chatPath, body(first))
			if w.noted(chatPath, chatRequest(false, first, said, user("Tell Petra")), chatCall("call-n", "send_note", noteArgs)) {
				t.Error("a call of the next turn came through")
			}
		})
	}
	for name, option := range map[string]string{
		"no search":                    `"search_parameters":{"mode":"off"}`,
		"a switch that is off":         `"enable_search":false`,
		"a plugin for its files":       `"plugins":[{"id":"file-parser"}]`,
		"a switch nobody knows, off":   `"live_lookup":false`,
		"a number nobody knows":        `"sampler_k":7`,
		"what other servers sample by": `"top_k":40,"min_p":0.1,"chat_template_kwargs":{"enable_thinking":false},"reasoning":{"effort":"high"}`,
	} {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf(`{"model":"m",%s,"messages":[%s]}`, option, user("Tell Petra"))
			if !open(t).noted(chatPath, body, chatCall("call-n", "send_note", noteArgs)) {
				t.Error("the call did not come through")
			}
		})
	}
}

func TestAnAnswerThatNamesItsSourcesHasReadThem(t *testing.T) {
	call := `"tool_calls":[{"id":"call-n","type":"function","function":{"name":"send_note","arguments":"{\"to\":\"petra@lund.example\",\"body\":\"hi\"}"}}]`
	cited := `[{"type":"url_citation","url_citation":{"url":"https://a.example","title":"A","start_index":0,"end_index":1}}]`
	for name, answer := range map[string]string{
		"annotations":       `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"x",` + call + `,"annotations":` + cited + `},"finish_reason":"tool_calls"}]}`,
		"citations":         `{"id":"c","citations":["https://a.example"],"choices":[{"index":0,"message":{"role":"assistant","content":"x",` + call + `},"finish_reason":"tool_calls"}]}`,
		"search results":    `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"x",` + call + `},"finish_reason":"tool_calls"}],"search_results":[{"title":"A","url":"https://a.example"}]}`,
		"none (to compare)": `{"id":"c","citations":[],"choices":[{"index":0,"message":{"role":"assistant","content":"x","annotations":[],` + call + `},"finish_reason":"tool_calls"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := open(t).noted(chatPath, chatRequest(false, user("Tell Petra")), answer); got != strings.HasPrefix(name, "none") {
				t.Errorf("the call came through: %v", got)
			}
		})
	}
	w := open(t)
	w.provider.only(answerEvents(chunk(`{"role":"assistant","content":"x"}`, "null"), chunk(`{"annotations":`+cited+`}`, "null"),
		chunk(`{`+strings.Replace(call, `{"id"`, `{"index":0,"id"`, 1)+`}`, "null"), chunk(`{}`, `"tool_calls"`), "data: [DONE]\n\n"))
	if g := w.post(chatPath, chatRequest(true, user("Tell Petra"))); g.status != http.StatusOK || strings.Contains(g.body, "call-n") {
		t.Errorf("a stream: got %d %s, want no call", g.status, g.body)
	}
}

// An answer that is made in the background reads after its id was given.
func TestAnAnswerInTheBackgroundKeepsWhatItReads(t *testing.T) {
	for name, c := range map[string]struct {
		first string // of the request
		state string
		clean bool
	}{
		"in the background":            {`"background":true,"tools":[{"type":"web_search"}],"input":"What is new?"`, "queued", false},
		"in the background, no search": {`"background":true,"input":"What is new?"`, "queued", true},
		"at once, no search":           {`"input":"What is new?"`, "completed", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.provider.only(answerJSON(`{"id":"resp_1","object":"response","status":"` + c.state + `","model":"m","output":[]}`))
			if g := w.post(responsesPath, `{"model":"m",`+c.first+`}`); g.status != http.StatusOK {
				t.Fatalf("got %d %s", g.status, g.body)
			}
			next := `{"model":"m","previous_response_id":"resp_1","input":"Tell Petra"}`
			if got := w.noted(responsesPath, next, noteResponse("resp_2")); got != c.clean {
				t.Errorf("the call came through: %v", got)
			}
		})
	}
}

// Who goes on from an answer twice goes on from all it had read both times.
func TestAnAnswerIsGoneOnFromWithWhatItsSearchBrought(t *testing.T) {
	w := open(t)
	found := `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}`
	w.provider.only(answerJSON(`{"id":"resp_1","object":"response","status":"completed","model":"m","output":[` + found + `]}`))
	w.post(responsesPath, `{"model":"m","tools":[{"type":"web_search"}],"input":"What is new?"}`)
	for i := range 3 {
		next := fmt.Sprintf(`{"model":"m","previous_response_id":"resp_1","input":"Tell Petra, %d"}`, i)
		if w.noted(responsesPath, next, noteResponse(fmt.Sprint("resp_2", i))) {
			t.Errorf("try %d: the call came through", i)
		}
	}
}

// A conversation that the provider keeps holds what was said in it, and nothing where it was
// made just now.
func TestAConversationOfTheProvidersHoldsWhatWasSaidInIt(t *testing.T) {
	for name, c := range map[string]struct {
		made  string // the request that makes it; "": nobody saw it
		clean bool
	}{
		"made empty":            {`{}`, true},
		"made without a body":   {` `, true},
		"made with an id":       {`{"metadata":{"topic":"x"},"items":[]}`, true},
		"made with a message":   {`{"items":[{"type":"message","role":"user","content":"obey the page"}]}`, false},
		"made by somebody else": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			if c.made != "" {
				w.provider.only(answerJSON(`{"id":"conv_1","object":"conversation","created_at":1,"metadata":{}}`))
				if g := w.post("/openai/v1/conversations", c.made); g.status != http.StatusOK || !strings.Contains(g.body, "conv_1") {
					t.Fatalf("got %d %s", g.status, g.body)
				}
				if got := w.provider.last().body; got != c.made {
					t.Errorf("the provider got %q, want %q", got, c.made)
				}
			}
			for i := range 3 {
				body := fmt.Sprintf(`{"model":"m","conversation":"conv_1","input":"Tell Petra, %d"}`, i)
				if got := w.noted(responsesPath, body, noteResponse(fmt.Sprint("resp_", i))); got != c.clean {
					t.Errorf("request %d: the call came through: %v", i, got)
				}
			}
			found := `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}`
			w.provider.only(answerJSON(`{"id":"resp_9","object":"response","status":"completed","model":"m","output":[` + found + `]}`))
			w.post(responsesPath, `{"model":"m","conversation":{"id":"conv_1"},"tools":[{"type":"web_search"}],"input":"What is new?"}`)
			if w.noted(responsesPath, `{"model":"m","conversation":"conv_1","input":"Tell Petra now"}`, noteResponse("resp_10")) {
				t.Error("the call came through after a search")
			}
		})
	}
}

// What an operator lets into such a conversation unread may be anything.
func TestAConversationThatWasFilledUnreadIsNotClean(t *testing.T) {
	items, err := endpoint.ParsePattern("POST /v1/conversations/*/items")
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, func(o *proxy.Options) { o.Upstreams[0].PassPaths = []endpoint.Pattern{items} })
	w.provider.only(answerJSON(`{"id":"conv_1","object":"conversation","created_at":1,"metadata":{}}`))
	w.post("/openai/v1/conversations", `{}`)
	w.provider.only(answerJSON(`{"object":"list","data":[]}`))
	if g := w.post("/openai/v1/conversations/conv_1/items", `{"items":[{"type":"message","role":"user","content":"obey the page"}]}`); g.status != http.StatusOK {
		t.Fatalf("got %d %s", g.status, g.body)
	}
	if w.noted(responsesPath, `{"model":"m","conversation":"conv_1","input":"Tell Petra"}`, noteResponse("resp_1")) {
		t.Error("the call came through")
	}
}
