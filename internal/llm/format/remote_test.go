package format_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// remotePart is a user's message with one part, in each format.
func remotePart(api format.API, part string) string {
	switch api {
	case format.Responses:
		return `{"input":[{"role":"user","content":[` + part + `]}]}`
	case format.Gemini:
		return `{"contents":[{"role":"user","parts":[` + part + `]}]}`
	}
	return `{"messages":[{"role":"user","content":[` + part + `]}]}`
}

func TestWhatAProviderFetchesIsToldFromWhatIsThere(t *testing.T) {
	long := strings.Repeat("A", 1<<16)
	deep := strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20)
	for name, c := range map[string]struct {
		api        format.API
		part, want string
	}{
		"Chat, an address":              {format.Chat, `{"type":"image_url","image_url":{"url":"https://a.example/x.png","detail":"low"}}`, "https://a.example/x.png"},
		"Chat, an address in escapes":   {format.Chat, `{"type":"image_url","image_url":{"url":"\u0068ttps:\/\/a.example"}}`, "https://a.example"},
		"Chat, a bare text":             {format.Chat, `{"type":"image_url","image_url":"http://a.example"}`, "http://a.example"},
		"Chat, another spelling":        {format.Chat, `{"type":"image_url","image_url":{"URL":" HTTPS://a.example"}}`, "HTTPS://a.example"},
		"Chat, something no scheme has": {format.Chat, `{"type":"image_url","image_url":{"url":"//a.example"}}`, "//a.example"},
		"Chat, data":                    {format.Chat, `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + long + `"}}`, ""},
		"Chat, data in escapes":         {format.Chat, `{"type":"image_url","image_url":{"url":"\u0044ATA:image\/png,AA"}}`, ""},
		"Chat, sound":                   {format.Chat, `{"type":"input_audio","input_audio":{"data":"AA","format":"wav"}}`, ""},
		"Chat, a file":                  {format.Chat, `{"type":"file","file":{"file_data":"` + long + `","filename":"https://a.example"}}`, ""},
		"Chat, a file that is fetched":  {format.Chat, `{"type":"file","file":{"file_data":"https://a.example/x.pdf"}}`, "https://a.example/x.pdf"},
		"Chat, an uploaded file":        {format.Chat, `{"type":"file","file":{"file_id":"file-1"}}`, ""},
		"Chat, too deep to tell":        {format.Chat, `{"type":"image_url","image_url":` + deep + `}`, "nested too deep"},
		"Responses, a picture":          {format.Responses, `{"type":"input_image","image_url":"https://a.example/x.png"}`, "https://a.example/x.png"},
		"Responses, data":               {format.Responses, `{"type":"input_image","image_url":"data:image/png;base64,AA"}`, ""},
		"Responses, an id":              {format.Responses, `{"type":"input_image","file_id":"file-1","image_url":null}`, ""},
		"Responses, a file":             {format.Responses, `{"type":"input_file","file_url":"https://a.example/x.pdf"}`, "https://a.example/x.pdf"},
		"Responses, a file in it":       {format.Responses, `{"type":"input_file","filename":"x.pdf","file_data":"data:application/pdf;base64,AA"}`, ""},
		"Messages, a picture":           {format.Messages, `{"type":"image","source":{"type":"url","url":"https://a.example/x.png"}}`, "https://a.example/x.png"},
		"Chat, a sound elsewhere":       {format.Chat, `{"type":"input_audio","input_audio":{"data":"https://a.example/x.wav","format":"wav"}}`, "https://a.example/x.wav"},
		"Messages, data":                {format.Messages, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}`, ""},
		"Messages, an uploaded file":    {format.Messages, `{"type":"image","source":{"type":"file","file_id":"file-1"}}`, ""},
		"Messages, a document":          {format.Messages, `{"type":"document","source":{"type":"url","url":"https://a.example/x.pdf"},"title":"x"}`, "https://a.example/x.pdf"},
		"Messages, a text":              {format.Messages, `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"https://a.example"},"title":"https://b.example","context":"https://c.example"}`, ""},
		"Messages, a picture in a text": {format.Messages, `{"type":"document","source":{"type":"content","content":[{"type":"text","text":"https://b.example"},{"type":"image","source":{"type":"url","url":"https://a.example"}}]}}`, "https://a.example"},
		"Gemini, a file":                {format.Gemini, `{"fileData":{"mimeType":"video/mp4","fileUri":"https://a.example/v"}}`, "https://a.example/v"},
		"Gemini, in snake case":         {format.Gemini, `{"file_data":{"file_uri":"gs://bucket/x"}}`, "gs://bucket/x"},
		"Gemini, data":                  {format.Gemini, `{"inlineData":{"mimeType":"image/png","data":"AA"}}`, ""},
		"Gemini, an uploaded file":      {format.Gemini, `{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/abc-1"}}`, ""},
		"Gemini, a host that looks so":  {format.Gemini, `{"fileData":{"fileUri":"https://generativelanguage.googleapis.com@a.example/v1beta/files/a"}}`, "https://generativelanguage.googleapis.com@a.example/v1beta/files/a"},
		"Gemini, a path that looks so":  {format.Gemini, `{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/../x"}}`, "https://generativelanguage.googleapis.com/v1beta/files/../x"},
	} {
		r, err := format.NewCache(4).Read(c.api, "t", []byte(remotePart(c.api, c.part)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := r.New[0].Parts[0]; got.Kind != format.Media || got.URL != c.want {
			t.Errorf("%s: got %v from %.80q, want a medium from %q", name, got.Kind, got.URL, c.want)
		}
	}
}
