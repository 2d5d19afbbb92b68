package proxy

import (
	"bytes"
	"io"
	"testing"

	"github.com/coder/websocket"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Whatever a message holds, it is one event of one line, and what is served is one object of one type.
func FuzzSocketMessages(f *testing.F) {
	for _, seed := range []string{`{"type":"response.create","input":"hi"}`, `{"type":"response.completed","response":{}}`, "{\n\"type\":\"error\"}", `{"type":"response.create","stream_id":"a"}`, "\xff\n\ndata: {}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		ended := make(chan []byte)
		close(ended)
		s := &socketReader{ctx: t.Context(), t: &socketTransport{open: true, events: ended}}
		s.take(message)
		event, err := io.ReadAll(s)
		if s.t.open != (err != nil) {
			t.Fatalf("%q: got %v, want an end where the answer has one", message, err)
		}
		if !bytes.HasPrefix(event, []byte("data: ")) || !bytes.HasSuffix(event, []byte("\n\n")) || bytes.Count(event, []byte{'\n'}) != 2 || bytes.IndexByte(event, '\r') >= 0 {
			t.Fatalf("%q became %q, want one event of one line", message, event)
		}
		if askedFor(websocket.MessageText, message) != nil {
			return
		}
		var given map[string]strictjson.Value
		if strictjson.Unmarshal(message, &given) != nil || string(given["type"]) != `"response.create"` || given["stream_id"] != nil {
			t.Fatalf("%q is served", message)
		}
	})
}
