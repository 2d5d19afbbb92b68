package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/hook"
)

// keeper is a provider that keeps what was said, as Responses does: it waits for the output
// of every call it made, and answers nothing before it has them.
type keeper struct {
	mu    sync.Mutex
	open  map[string][]string // calls without an output, by the id of an answer or conversation
	next  []string            // items of the answers to come
	count int
	sent  []string // bodies
}

// ask answers one request, whole or as a stream.
func (k *keeper) ask(w http.ResponseWriter, body string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sent = append(k.sent, body)
	var r struct {
		Previous     string `json:"previous_response_id"`
		Conversation string `json:"conversation"`
		Stream       bool   `json:"stream"`
		Input        any    `json:"input"`
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		http.Error(w, `{"error":{"message":"no JSON"}}`, http.StatusBadRequest)
		return
	}
	open := slices.Clone(k.open[r.Previous+r.Conversation])
	list, _ := r.Input.([]any)
	for _, entry := range list {
		item, _ := entry.(map[string]any)
		kind, _ := item["type"].(string)
		id, _ := item["call_id"].(string)
		if !strings.HasSuffix(kind, "_output") {
			continue
		}
		at := slices.Index(open, id)
		if at < 0 {
			http.Error(w, fmt.Sprintf(`{"error":{"message":"No tool call found for function call output with call_id %s."}}`, id), http.StatusBadRequest)
			return
		}
		open = slices.Delete(open, at, at+1)
	}
	if len(open) > 0 {
		http.Error(w, fmt.Sprintf(`{"error":{"message":"No tool output found for function call %s."}}`, open[0]), http.StatusBadRequest)
		return
	}
	k.answer(w, r.Conversation, r.Stream)
}

// answer gives the next items. The caller holds mu.
func (k *keeper) answer(w http.ResponseWriter, conversation string, stream bool) {
	items := `[{"id":"m1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Fine."}]}]`
	if len(k.next) > 0 {
		items, k.next = k.next[0], k.next[1:]
	}
	k.count++
	id := fmt.Sprintf("resp_%d", k.count)
	var all []map[string]any
	_ = json.Unmarshal([]byte(items), &all)
	k.open[id], k.open[conversation] = nil, nil
	for _, item := range all {
		if call, ok := item["call_id"].(string); ok {
			k.open[id] = append(k.open[id], call)
		}
	}
	k.open[conversation] = k.open[id]
	delete(k.open, "")
	whole := fmt.Sprintf(`{"id":%q,"object":"response","created_at":1,"status":"completed","model":"m","output":%s}`, id, items)
	if !stream {
		answerJSON(whole)(w, nil)
		return
	}
	events := []string{fmt.Sprintf("event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":%q,\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"m\",\"output\":[]}}\n\n", id)}
	for i, item := range all {
		raw, _ := json.Marshal(item)
		for j, kind := range []string{"added", "done"} {
			events = append(events, fmt.Sprintf("event: response.output_item.%s\ndata: {\"type\":\"response.output_item.%s\",\"sequence_number\":%d,\"output_index\":%d,\"item\":%s}\n\n", kind, kind, 1+2*i+j, i, raw))
		}
	}
	events = append(events, fmt.Sprintf("event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":%d,\"response\":%s}\n\n", 1+2*len(all), whole))
	answerEvents(events...)(w, nil)
}

func callItem(kind, id, rest string) string {
	return fmt.Sprintf(`{"id":"item-%s","type":%q,"status":"completed","call_id":%q,%s}`, id, kind, id, rest)
}

func wipeItem(id string) string {
	return callItem("function_call", id, `"name":"wipe","arguments":"{}"`)
}

// openStored is a proxy before a keeper whose answers are these.
func openStored(t *testing.T, answers ...string) (*world, *keeper) {
	w, k := open(t), &keeper{open: map[string][]string{}, next: answers}
	for range 20 {
		w.provider.then(func(rw http.ResponseWriter, _ *http.Request) { k.ask(rw, w.provider.last().body) })
	}
	return w, k
}

func (k *keeper) last() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sent[len(k.sent)-1]
}

const responsesPath = "/openai/v1/responses"

func TestARefusedCallIsSettledWhereTheProviderKeepsTheAnswer(t *testing.T) {
	both := "[" + wipeItem("call-w") + "," + callItem("function_call", "call-a", `"name":"add","arguments":"{}"`) + "]"
	for name, c := range map[string]struct {
		items, input, want string
	}{
		"a text":          {"[" + wipeItem("call-w") + "]", `"input":"And \"now\"?"`, `{"role":"user","content":"And \"now\"?"}`},
		"a list":          {"[" + wipeItem("call-w") + "]", `"input":[ {"role":"user","content":"And now?"} ]`, `}, {"role":"user"`},
		"an empty list":   {"[" + wipeItem("call-w") + "]", `"input":[]`, `"call_id":"call-w"`},
		"nothing":         {"[" + wipeItem("call-w") + "]", `"store":true`, `"call_id":"call-w"`},
		"null":            {"[" + wipeItem("call-w") + "]", `"input":null`, `"call_id":"call-w"`},
		"one of two":      {both, `"input":[{"type":"function_call_output","call_id":"call-a","output":"3"}]`, `"call_id":"call-w"`},
		"its own outputs": {both, `"input":[{"type":"function_call_output","call_id":"call-a","output":"3"},{"type":"function_call_output","call_id":"call-w","output":"no"}]`, `"output":"no"`},
		"free text":       {"[" + callItem("custom_tool_call", "call-w", `"name":"wipe","input":"all"`) + "]", `"input":"Go on"`, `"custom_tool_call_output"`},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", name, stream), func(t *testing.T) {
				w, k := openStored(t, c.items)
				g := w.post(responsesPath, fmt.Sprintf(`{"model":"m","stream":%v,"input":"Wipe it"}`, stream))
				if g.status != http.StatusOK || strings.Contains(g.body, "call-w") || !strings.Contains(g.body, "blocked") {
					t.Fatalf("first: got %d %s, want the refusal alone", g.status, g.body)
				}
				next := fmt.Sprintf(`{"model":"m","stream":%v,"previous_response_id":"resp_1",%s}`, stream, c.input)
				for range 2 { // an answer can be gone on from twice
					g = w.post(responsesPath, next)
					if g.status != http.StatusOK || !strings.Contains(g.body, "Fine.") {
						t.Fatalf("next: got %d %s, want an answer; sent %s", g.status, g.body, k.last())
					}
					if !strings.Contains(k.last(), c.want) {
						t.Errorf("sent %s, want %s in it", k.last(), c.want)
					}
				}
				if own := strings.Contains(c.input, `"no"`); strings.Contains(k.last(), "is blocked by security policy") == own {
					t.Errorf("sent %s, want our words only where the client has none", k.last())
				}
			})
		}
	}
}

func TestOurOwnWordsDoNotTaintTheConversationTheySettle(t *testing.T) {
	note := callItem("function_call", "call-n", `"name":"send_note","arguments":"{\"to\":\"petra@lund.example\"}"`)
	w, k := openStored(t, "["+wipeItem("call-w")+"]", "["+note+"]")
	w.post(responsesPath, `{"model":"m","input":"Wipe it"}`)
	g := w.post(responsesPath, `{"model":"m","previous_response_id":"resp_1","input":"Then tell Petra"}`)
	if !strings.Contains(k.last(), "call-w") || !strings.Contains(g.body, `"call-n"`) {
		t.Errorf("got %s after %s, want the note released", g.body, k.last())
	}
}

func TestAConversationThatTheProviderKeepsIsSettledOnce(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w, k := openStored(t, "["+wipeItem("call-1")+"]", "["+wipeItem("call-2")+"]")
		for i, want := range []string{"", "call-1", "call-2", ""} {
			g := w.post(responsesPath, fmt.Sprintf(`{"model":"m","stream":%v,"conversation":"conv_1","input":"Go on %d"}`, stream, i))
			if g.status != http.StatusOK {
				t.Fatalf("stream %v, request %d: got %d %s, want an answer; sent %s", stream, i, g.status, g.body, k.last())
			}
			if want != "" && !strings.Contains(k.last(), want) || want == "" && strings.Contains(k.last(), "_output") {
				t.Errorf("stream %v, request %d: sent %s, want %q settled", stream, i, k.last(), want)
			}
		}
	}
}

func TestWhatIsOwedIsNotToldToAnotherClient(t *testing.T) {
	w, k := openStored(t, "["+wipeItem("call-w")+"]")
	w.post(responsesPath, `{"model":"m","input":"Wipe it"}`)
	body := `{"model":"m","previous_response_id":"resp_1","input":"Go on"}`
	for range 2 {
		g := w.do(http.MethodPost, responsesPath, body, "Authorization", "Bearer sk-somebody-else")
		if g.status != http.StatusBadRequest || k.last() != body {
			t.Errorf("got %d, sent %s, want the provider's own error for %s", g.status, k.last(), body)
		}
	}
}

func TestAnAnswerThatWasFetchedIsGoneOnFrom(t *testing.T) {
	w, k := openStored(t, "["+wipeItem("call-w")+"]")
	k.open["resp_9"] = []string{"call-9"}
	w.provider.only(answerJSON(`{"id":"resp_9","object":"response","status":"completed","model":"m","output":[` + wipeItem("call-9") + `]}`))
	if g := w.do(http.MethodGet, responsesPath+"/resp_9", "", "Authorization", "Bearer "+clientKey); strings.Contains(g.body, "call-9") {
		t.Fatalf("fetched: got %s, want the call refused", g.body)
	}
	w.provider.then(func(rw http.ResponseWriter, _ *http.Request) { k.ask(rw, w.provider.last().body) })
	if g := w.post(responsesPath, `{"model":"m","previous_response_id":"resp_9","input":"Go on"}`); g.status != http.StatusOK {
		t.Errorf("got %d %s, want an answer; sent %s", g.status, g.body, k.last())
	}
}

// What a plugin makes of an answer keeps its id: the provider knows no other.
func TestAnAnswerThatAPluginChangedIsGoneOnFrom(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w, k := openStored(t, "["+wipeItem("call-w")+"]")
		w.plug(hook.Handler{Name: "p", On: hook.Handlers{BeforeResponseEmit: func(context.Context, *hook.BeforeResponseEmit, *hook.Context) (*hook.BeforeResponseEmitResult, error) {
			return &hook.BeforeResponseEmitResult{AppendFooter: "a footer"}, nil
		}}})
		g := w.post(responsesPath, fmt.Sprintf(`{"model":"m","stream":%v,"input":"Wipe it"}`, stream))
		if !strings.Contains(g.body, "a footer") || !strings.Contains(g.body, `"resp_1"`) {
			t.Errorf("stream %v: got %s, want the footer and the provider's id", stream, g.body)
		}
		if g := w.post(responsesPath, `{"model":"m","previous_response_id":"resp_1","input":"Go on"}`); g.status != http.StatusOK {
			t.Errorf("stream %v: got %d %s, want an answer; sent %s", stream, g.status, g.body, k.last())
		}
	}
}
