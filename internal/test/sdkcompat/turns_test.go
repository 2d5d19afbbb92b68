//go:build judges

package sdkcompat_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/trust"
)

// talker answers every question with a few words, in the form of each provider.
func talker(t *testing.T) string {
	var count atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := count.Add(1)
		stream := strings.Contains(string(body), `"stream":true`) || strings.Contains(r.URL.Path, "stream")
		switch {
		case strings.HasSuffix(r.URL.Path, "/responses"):
			answerTurn(w, stream, responseTurn(n))
		case strings.HasSuffix(r.URL.Path, "/chat/completions"):
			content := []object{{"type": "thinking", "thinking": []object{{"type": "text", "text": "Hm. "}}}, {"type": "text", "text": fmt.Sprintf("Answer %d, ", n)}, {"type": "text", "text": "in two parts."}}
			answerTurn(w, false, []streamed{{data: encoded(object{"id": fmt.Sprint("c", n), "object": "chat.completion", "created": 1, "model": "m",
				"choices": []object{{"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": content}}},
				"usage":   object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})}})
		default:
			answerTurn(w, stream, geminiTurn(stream, n))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func encoded(v any) string {
	raw, _ := json.Marshal(v) //nolint:errchkjson // it is written down in this file
	return string(raw)
}

// answerTurn sends an answer: all events, or the whole of it, which is the last.
func answerTurn(w http.ResponseWriter, stream bool, events []streamed) {
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, events[len(events)-1].data)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events[:max(1, len(events)-1)] {
		_, _ = io.WriteString(w, e.String())
	}
}

func geminiTurn(stream bool, n int64) []streamed {
	words := []string{fmt.Sprintf("Answer %d, ", n), "in three ", "pieces."}
	if !stream {
		words = []string{strings.Join(words, "")}
	}
	s := &script{kind: "gemini"}
	for i, word := range words {
		finish := ""
		if i == len(words)-1 {
			finish = "STOP"
		}
		s.candidate(finish, object{"text": word})
	}
	return append(s.events, s.events[len(s.events)-1])
}

// responseTurn is an answer with reasoning that is sealed and says nothing.
func responseTurn(n int64) []streamed {
	id := fmt.Sprint("rs_", n)
	thought := object{"id": id, "type": "reasoning", "summary": []object{}, "encrypted_content": fmt.Sprint("sealed-", n)}
	part := object{"type": "output_text", "text": fmt.Sprintf("Answer %d.", n), "annotations": []object{}, "logprobs": []object{}}
	said := object{"id": fmt.Sprint("msg_", n), "type": "message", "role": "assistant", "status": "completed", "content": []object{part}}
	whole := object{
		"id": fmt.Sprint("resp_", n), "object": "response", "created_at": 1, "status": "completed", "model": "m", "output": []object{thought, said},
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []object{}, "metadata": object{}, "error": nil, "incomplete_details": nil,
		"instructions": nil, "temperature": 1, "top_p": 1,
		"usage": object{"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": object{"reasoning_tokens": 1}, "total_tokens": 2},
	}
	begun := object{}
	for k, v := range whole {
		begun[k] = v
	}
	begun["status"], begun["output"] = "in_progress", []object{}
	open := object{"id": said["id"], "type": "message", "role": "assistant", "status": "in_progress", "content": []object{}}
	place := func(o object) object {
		o["item_id"], o["output_index"], o["content_index"] = said["id"], 1, 0
		return o
	}
	s := &script{kind: "responses"}
	s.add("response.created", object{"response": begun})
	s.add("response.output_item.added", object{"output_index": 0, "item": object{"id": id, "type": "reasoning", "summary": []object{}}})
	s.add("response.output_item.done", object{"output_index": 0, "item": thought})
	s.add("response.output_item.added", object{"output_index": 1, "item": open})
	s.add("response.content_part.added", place(object{"part": object{"type": "output_text", "text": "", "annotations": []object{}, "logprobs": []object{}}}))
	s.add("response.output_text.delta", place(object{"delta": part["text"], "logprobs": []object{}}))
	s.add("response.output_text.done", place(object{"text": part["text"], "logprobs": []object{}}))
	s.add("response.content_part.done", place(object{"part": part}))
	s.add("response.output_item.done", object{"output_index": 1, "item": said})
	s.add("response.completed", object{"response": whole})
	return append(s.events, streamed{data: encoded(whole)})
}

// worst is the lowest level that the log says any context had. A server that has stopped has
// written everything.
func (w *world) worst(t *testing.T) (trust.Level, int) {
	t.Helper()
	if err := w.app.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	log, err := installation.OpenLog(t.Context(), w.paths)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	page, err := log.Since(t.Context(), store.EntryQuery{Limit: store.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	level, turns := trust.System, 0
	for _, e := range page {
		event, err := event.FromRecord(e.Record)
		if err != nil {
			t.Fatal(err)
		}
		if event.Began != nil {
			turns++
			level = min(level, event.Began.Label.Level)
		}
		if event.Seen != nil {
			level = min(level, event.Seen.Label.Level)
		}
	}
	return level, turns
}

// A conversation in which nobody but the user and the model has spoken is clean in every turn,
// however the client sends the model's words back.
func TestASecondTurnIsCleanWithTheClientsThatPeopleUse(t *testing.T) {
	run := panel.judges[len(inProcess())].run // the clients of npm
	for kind, streams := range map[string][]bool{"gemini-chat": {false, true}, "vercel": {false, true}, "mistral": {false}, "sealed": {false, true}} {
		for _, stream := range streams {
			t.Run(fmt.Sprintf("%s, stream %v", kind, stream), func(t *testing.T) {
				w := newWorld(t, talker(t))
				base := w.base(strings.TrimSuffix(kind, "-chat"))
				r := run(job{ID: t.Name(), Kind: kind, Base: base, Key: keys + kind, Stream: stream, Prompts: []string{"hello", "go-on", "go-on again"}, DeadlineMs: inNoHurry(deadline)})
				if r.Error != nil || len(r.Rounds) != 3 {
					t.Fatalf("got %+v, %+v", r.Rounds, r.Error)
				}
				for i, round := range r.Rounds {
					if !strings.Contains(round.Final, fmt.Sprintf("Answer %d", i+1)) {
						t.Errorf("round %d: got %q", i, round.Final)
					}
				}
				if level, turns := w.worst(t); level < trust.Owner || turns < 3 {
					t.Errorf("after %d turns the worst context was %s, want owner", turns, level)
				}
			})
		}
	}
}
