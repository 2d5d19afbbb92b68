package shim_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/serverproof"
)

// After a crash the announcement stays, and its port can be anybody's.
func TestAProgramOnTheServersPortIsNeitherBelievedNorTold(t *testing.T) {
	var mu sync.Mutex
	var told strings.Builder
	yes := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		told.WriteString(r.Header.Get("Authorization") + string(body))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"block":false,"tidemark":{"taint":"owner","verdict":"allow"}}`)
	})
	w := at(t, yes)
	for _, of := range catalogue.Names() {
		l := page(t, of)
		got := w.run(of, l.Event, l.Body)
		if !refuses(of, got) || !strings.Contains(got.out+got.err, "could not show that it is") {
			t.Errorf("%s: got %+v; want it refused because the server is a stranger", of, got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if told.Len() > 0 {
		t.Errorf("it was told %q", told.String())
	}
}

func TestAnAnnouncementOfAProcessThatIsGoneIsNone(t *testing.T) {
	own := serverproof.Own()
	if own.Since == "" {
		t.Skip("this system does not say when a process started")
	}
	w := behind(t, answers(200, `{"tidemark":{"verdict":"allow"}}`))
	w.write("server.json", `{"url":"http://127.0.0.1:1","pid":1,"since":"`+own.Since+`0","space":"`+own.Space+`"}`)
	l := page(t, "claude")
	if got := w.run("claude", l.Event, l.Body); !refuses("claude", got) || !strings.Contains(got.err, "no server is running") {
		t.Errorf("got %+v; want it said that no server runs", got)
	}
}
