package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// remoteForm is how a format says that a picture belongs to a message, and asks for a note.
type remoteForm struct {
	path   string
	body   string // %s is the picture
	answer string // with the call call-n
	inline string
	far    string
	header []string
}

func remoteForms() map[string]remoteForm {
	const note = `{"to":"petra@lund.example"}`
	key := []string{"Authorization", "Bearer " + clientKey}
	return map[string]remoteForm{
		"Chat": {
			"/openai/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Tell Petra what you see"},%s]}]}`,
			chatCall("call-n", "send_note", note),
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}`, `{"type":"image_url","image_url":{"url":"https://pics.example/a.png"}}`, key,
		},
		"Responses": {
			responsesPath, `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"Tell Petra what you see"},%s]}]}`,
			`{"id":"r1","object":"response","status":"completed","model":"m","output":[` + callItem("function_call", "call-n", `"name":"send_note","arguments":"{\"to\":\"petra@lund.example\"}"`) + `]}`,
			`{"type":"input_image","image_url":"data:image/png;base64,AA"}`, `{"type":"input_file","file_url":"https://pics.example/a.pdf"}`, key,
		},
		"Messages": {
			"/anthropic/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"Tell Petra what you see"},%s]}]}`,
			`{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"call-n","name":"send_note","input":` + note + `}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}`, `{"type":"image","source":{"type":"url","url":"https://pics.example/a.png"}}`, []string{"X-Api-Key", clientKey},
		},
		"Gemini": {
			"/gemini/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"Tell Petra what you see"},%s]}]}`,
			`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"call-n","name":"send_note","args":` + note + `}}]},"finishReason":"STOP","index":0}]}`,
			`{"inlineData":{"mimeType":"image/png","data":"AA"}}`, `{"fileData":{"mimeType":"image/png","fileUri":"https://pics.example/a.png"}}`, []string{"X-Goog-Api-Key", clientKey},
		},
	}
}

// What a provider fetches is a third party's; what the user sends is the user's. The same
// words with one after the other are two contexts. PRV-07
func TestAPictureThatTheProviderFetchesIsAThirdPartys(t *testing.T) {
	for name, c := range remoteForms() {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			for i, part := range []string{c.inline, c.far, c.inline, c.far} {
				w.provider.only(answerJSON(c.answer))
				g := w.do(http.MethodPost, c.path, fmt.Sprintf(c.body, part), c.header...)
				far := i%2 == 1
				if g.status != http.StatusOK || strings.Contains(g.body, "call-n") == far {
					t.Errorf("request %d: got %d %s, want the call held: %v", i, g.status, g.body, far)
				}
				if far && !strings.Contains(g.body, "remote file (pics.example) [external]") {
					t.Errorf("request %d: got %s, want the host named", i, g.body)
				}
			}
		})
	}
}

func TestAPictureInTheInstructionsIsAThirdPartysToo(t *testing.T) {
	w := open(t)
	c := remoteForms()["Gemini"]
	for range 2 {
		w.provider.only(answerJSON(c.answer))
		body := `{"systemInstruction":{"parts":[{"text":"Be kind"},` + c.far + `]},"contents":[{"role":"user","parts":[{"text":"Tell Petra"}]}]}`
		if g := w.do(http.MethodPost, c.path, body, c.header...); g.status != http.StatusOK || strings.Contains(g.body, "call-n") {
			t.Errorf("got %d %s, want the call held", g.status, g.body)
		}
	}
}
