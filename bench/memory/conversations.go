package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// kind is a kind of conversation: how it comes to its length.
type kind struct {
	name, what string
	bodies     func(t *talk, size int) [][]byte // the requests of one
}

var kinds = []kind{
	{"words", "what the user and the model said, sent as a whole and then once more with another message", words},
	{"results", "what a tool brought, in ten results", results},
	{"growing", "what the user said, ten messages one after the other", growing},
}

// atOnce is how many conversations go on side by side.
const atOnce = 8

// clients send conversations.
type clients struct {
	base string
	http *http.Client
}

func newClients(base string) *clients {
	return &clients{base, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce, WriteBufferSize: 64 << 10}}}
}

func (c *clients) run(ctx context.Context, k kind, many, size int) error {
	places := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for i := range many {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			t := &talk{rand: rand.New(rand.NewPCG(uint64(i), 7)), number: i} //nolint:gosec // the same texts in every run
			for _, body := range k.bodies(t, size) {
				if err := c.send(ctx, body); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	running.Wait()
	return failed
}

func (c *clients) send(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/openai/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-one-of-many")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("got %s: %.300s", resp.Status, got)
	}
	return err
}

const said = "That is what it says."

// answer is the upstream: it asks for a page as long as the user wants one and has none, and
// else says a sentence.
func answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	message, reason := fmt.Sprintf(`{"role":"assistant","content":%q}`, said), "stop"
	if i := bytes.LastIndex(body, []byte("next call-")); i >= 0 {
		id, _, _ := bytes.Cut(body[i+len("next "):], []byte("."))
		message, reason = string(calls(string(id))), "tool_calls"
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":%s,"finish_reason":%q}]}`, message, reason)
}

func calls(id string) []byte {
	const call = `{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"web_fetch","arguments":"{\"url\":\"https://a.example/%s\"}"}}]}`
	return fmt.Appendf(nil, call, id, id)
}

// talk is one conversation.
type talk struct {
	rand   *rand.Rand
	number int
}

// text is so many bytes of words that hardly anybody repeats.
func (t *talk) text(size int) string {
	var b strings.Builder
	for b.Len() < size {
		for range 3 + t.rand.IntN(6) {
			b.WriteByte(byte('a' + t.rand.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func user(text string) string      { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }
func assistant(text string) string { return fmt.Sprintf(`{"role":"assistant","content":%q}`, text) }

func request(messages []string) []byte {
	return []byte(`{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`)
}

// words is a conversation of fifty messages of the user's that is there from the start, and one
// exchange more.
func words(t *talk, size int) [][]byte {
	var list []string
	for i := range 50 {
		list = append(list, user(fmt.Sprintf("%d %d %s", t.number, i, t.text(size/50))), assistant(said))
	}
	list = append(list, user("And now?"))
	first := request(list)
	return [][]byte{first, request(append(list, assistant(said), user("Thanks")))}
}

// growing is a conversation of ten messages, one after the other.
func growing(t *talk, size int) [][]byte {
	var list []string
	var out [][]byte
	for i := range 10 {
		list = append(list, user(fmt.Sprintf("%d %d %s", t.number, i, t.text(size/10))))
		out = append(out, request(list))
		list = append(list, assistant(said))
	}
	return out
}

// results is a conversation in which a tool brings ten pages.
func results(t *talk, size int) [][]byte {
	id := func(i int) string { return fmt.Sprintf("call-%d-%d", t.number, i) }
	list := []string{user("Read all ten pages, next " + id(0) + ".")}
	out := [][]byte{request(list)}
	for i := range 10 {
		next := ""
		if i < 9 {
			next = "next " + id(i+1) + "."
		}
		list = append(list, string(calls(id(i))), fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id(i), t.text(size/10)+next))
		out = append(out, request(list))
	}
	return out
}
