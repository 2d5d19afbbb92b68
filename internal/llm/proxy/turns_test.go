package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// chatForm is how a format writes down a conversation.
type chatForm struct {
	path      string
	body      string // %s is the entries
	user      string // %s is a text
	assistant string // likewise
	picture   string // the user's message of nothing but a picture
	answer    string // of the model; %s is a text
	header    []string
}

func chatForms() map[string]chatForm {
	key := []string{"Authorization", "Bearer " + clientKey}
	return map[string]chatForm{
		"Chat": {
			"/openai/v1/chat/completions", `{"model":"m","messages":[%s]}`, `{"role":"user","content":"%s"}`, `{"role":"assistant","content":"%s"}`,
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]}`,
			`{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}]}`, key,
		},
		"Responses": {
			responsesPath, `{"model":"m","input":[%s]}`, `{"role":"user","content":"%s"}`, `{"role":"assistant","content":"%s"}`,
			`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA"}]}`,
			`{"id":"r1","object":"response","status":"completed","model":"m","output":[{"id":"m1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"%s"}]}]}`, key,
		},
		"Messages": {
			"/anthropic/v1/messages", `{"model":"m","max_tokens":9,"messages":[%s]}`, `{"role":"user","content":"%s"}`, `{"role":"assistant","content":"%s"}`,
			`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}]}`,
			`{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"%s"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`, []string{"X-Api-Key", clientKey},
		},
		"Gemini": {
			"/gemini/v1beta/models/m:generateContent", `{"contents":[%s]}`, `{"role":"user","parts":[{"text":"%s"}]}`, `{"role":"model","parts":[{"text":"%s"}]}`,
			`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AA"}}]}`,
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"%s"}]},"finishReason":"STOP","index":0}]}`, []string{"X-Goog-Api-Key", clientKey},
		},
	}
}

// tells sends a conversation and answers with a text.
func (w *world) tells(c chatForm, answer string, entries ...string) got {
	w.t.Helper()
	w.provider.only(answerJSON(fmt.Sprintf(c.answer, answer)))
	return w.do(http.MethodPost, c.path, fmt.Sprintf(c.body, strings.Join(entries, ",")), c.header...)
}

// A completed turn is over: what comes next begins another, whether or not the user says
// something in it.
func TestAMessageWithoutWordsOfTheUsersBeginsATurn(t *testing.T) {
	const long = "The harbour has two piers, and the ferry leaves from the longer of them at nine in the morning on every day but Sunday. " +
		"Tickets are sold on board, and dogs are welcome as long as they stay on the lower deck with their owners."
	for format, c := range chatForms() {
		hello, said := fmt.Sprintf(c.user, "Hello"), fmt.Sprintf(c.assistant, long)
		for name, more := range map[string][]string{
			"a picture":                    {hello, said, c.picture},
			"a reminder":                   {hello, said, fmt.Sprintf(c.user, "<system-reminder>the date changed</system-reminder>")},
			"the output of a command":      {hello, said, fmt.Sprintf(c.user, "<bash-stdout>done</bash-stdout>")},
			"a model's text pasted":        {hello, said, fmt.Sprintf(c.user, long)},
			"an edited answer":             {hello, fmt.Sprintf(c.assistant, "I never said that"), fmt.Sprintf(c.user, "Go on")},
			"an edited answer and no word": {hello, fmt.Sprintf(c.assistant, "I never said that"), c.picture},
			"instructions on the way":      {hello, said, `{"role":"developer","content":"Be brief"}`},
		} {
			if format != "Chat" && format != "Responses" && strings.HasPrefix(name, "instructions") {
				continue // the others have none
			}
			t.Run(format+", "+name, func(t *testing.T) {
				w := open(t)
				if g := w.tells(c, long, hello); g.status != http.StatusOK {
					t.Fatalf("the first turn: %d %s", g.status, g.body)
				}
				for i := range 2 {
					if g := w.tells(c, "Fine.", more...); g.status != http.StatusOK {
						t.Errorf("try %d: got %d %s, want an answer", i, g.status, g.body)
					}
				}
			})
		}
	}
}
