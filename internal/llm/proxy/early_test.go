package proxy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// reads is a provider that shows what it has read so far.
type reads struct {
	mu    sync.Mutex
	more  *sync.Cond
	body  []byte   // of the latest request
	whole []string // requests that came to their end
	cut   int      // requests that did not
}

func newReads() *reads {
	r := &reads{}
	r.more = sync.NewCond(&r.mu)
	return r
}

func (p *reads) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.body = nil
	p.mu.Unlock()
	piece := make([]byte, 16<<10)
	for {
		n, err := r.Body.Read(piece)
		p.mu.Lock()
		p.body = append(p.body, piece[:n]...)
		if err == io.EOF {
			p.whole, p.body = append(p.whole, string(p.body)), nil
		} else if err != nil {
			p.cut++
		}
		p.more.Broadcast()
		p.mu.Unlock()
		if err == io.EOF {
			answerJSON(chatText("ok"))(w, r)
		}
		if err != nil {
			return
		}
	}
}

// upTo waits until the latest request has so many bytes, and returns them.
func (p *reads) upTo(n int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.body) < n {
		p.more.Wait()
	}
	return string(p.body)
}

// long is the beginning of a conversation of a few hundred kilobytes.
func long(rest string) string {
	old := user(strings.Repeat("what was said before, at length; ", 12_000))
	return `{"model":"m","messages":[` + old + "," + assistant("ok") + "," + rest
}

func TestWhatTheProviderHasHadIsSentOnWhileTheRestComesIn(t *testing.T) {
	w := open(t)
	p := newReads()
	w.provider.server.Config.Handler = http.HandlerFunc(p.serve)
	first := long(user("first wish") + `]}`)
	if g := w.post("/openai/v1/chat/completions", first); g.status != http.StatusOK {
		t.Fatalf("got %d %s", g.status, g.body)
	}
	secret := "a thing never said before"
	second := long(user("first wish") + "," + assistant("ok") + "," + user(secret) + `]}`)
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "POST /openai/v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n",
		strings.TrimPrefix(w.url, "http://"), clientKey, len(second))
	_, _ = io.WriteString(conn, second[:len(second)-1])
	seen := p.upTo(256 << 10)
	if strings.Contains(seen, secret) || !strings.HasPrefix(second, seen) {
		t.Errorf("before the request was complete the provider had %d bytes, and among them what is new", len(seen))
	}
	_, _ = io.WriteString(conn, second[len(second)-1:])
	raw, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(raw), "200 OK") {
		t.Fatalf("got %v %s", err, raw)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.whole) != 2 || p.whole[1] != second {
		t.Errorf("the provider got %d whole requests, want 2, the second as it was sent", len(p.whole))
	}
}

func TestARequestThatMustBeChangedIsBrokenOffAndSentAnew(t *testing.T) {
	w := open(t)
	p := newReads()
	w.provider.server.Config.Handler = http.HandlerFunc(p.serve)
	if g := w.post("/openai/v1/chat/completions", long(user("first wish")+`]}`)); g.status != http.StatusOK {
		t.Fatalf("got %d %s", g.status, g.body)
	}
	for i := range 3 { // a tool that is hidden comes in
		body := long(user("first wish") + "," + assistant("ok") + "," + user(fmt.Sprint("wish ", i)) + `],"tools":` + chatTools + `}`)
		if g := w.post("/openai/v1/chat/completions", body); g.status != http.StatusOK {
			t.Fatalf("got %d %s", g.status, g.body)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.whole) != 4 {
		t.Errorf("the provider got %d whole requests, want 4", len(p.whole))
	}
	for _, body := range p.whole[1:] {
		if strings.Contains(body, `"wipe"`) {
			t.Error("a whole request offers what is hidden")
		}
	}
}

func TestAnotherTenantsBytesAreNotSentAhead(t *testing.T) {
	w := open(t)
	p := newReads()
	w.provider.server.Config.Handler = http.HandlerFunc(p.serve)
	if g := w.post("/openai/v1/chat/completions", long(user("first wish")+`]}`)); g.status != http.StatusOK {
		t.Fatalf("got %d %s", g.status, g.body)
	}
	body := long(user("first wish") + `]}`)
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintf(conn, "POST /openai/v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer other-key-000000\r\nContent-Length: %d\r\n\r\n%s",
		strings.TrimPrefix(w.url, "http://"), len(body), body[:len(body)-1])
	_ = conn.Close() // it never came to its end
	if g := w.post("/openai/v1/chat/completions", long(user("second wish")+`]}`)); g.status != http.StatusOK {
		t.Fatalf("got %d %s", g.status, g.body)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut != 0 {
		t.Errorf("the provider got %d cut requests: somebody else's bytes were sent on", p.cut)
	}
}
