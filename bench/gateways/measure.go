package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// figures are what was measured of one of them: times in nanoseconds, CPU in seconds for a
// thousand requests, memory in bytes.
type figures struct {
	p50, p99, first, rate, cpu float64
	memory                     int64
	mute                       bool // its streams fail

	said atomic.Int64 // makes every message a new one
}

const (
	atOnce  = 16
	told    = "That is what it says."
	cycle   = 8 // requests of a conversation
	warm    = 8 // that do not count
	batches = 8 // parts in which the rate is measured, in turns
)

// answer is the upstream: it reads the request and says one sentence, at once.
func answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if !bytes.Contains(body, []byte(`"stream":true`)) && !bytes.Contains(body, []byte(`"stream": true`)) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1,"model":"m",`+
			`"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, told)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,`
	fmt.Fprintf(w, chunk+`"delta":{"role":"assistant","content":%q},"finish_reason":null}]}`+"\n\n", told)
	_ = http.NewResponseController(w).Flush()
	fmt.Fprint(w, chunk+`"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// measure asks all of them in turns, so that a busy machine is busy for all.
func measure(ctx context.Context, list []*gateway, rounds int) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce}}
	defer client.CloseIdleConnections()
	whole, first := make([][]float64, len(list)), make([][]float64, len(list))
	talks := make([]*talk, len(list))
	for i := range rounds + warm {
		for j, g := range list {
			if i%cycle == 0 {
				talks[j] = newTalk(g)
			}
			took, err := g.ask(ctx, client, talks[j].next(false))
			if err != nil {
				return fmt.Errorf("ask %s: %w", g.name, err)
			}
			begun, err := g.stream(ctx, client, talks[j], i == 0)
			if err != nil {
				return fmt.Errorf("ask %s for a stream: %w", g.name, err)
			}
			if i >= warm {
				whole[j], first[j] = append(whole[j], took), append(first[j], begun)
			}
		}
	}
	for j, g := range list {
		g.p50, g.p99, g.first = percentile(whole[j], 50), percentile(whole[j], 99), percentile(first[j], 50)
	}
	return crowd(ctx, client, list, rounds)
}

// crowd asks with many at once, and looks what that took of CPU and memory.
func crowd(ctx context.Context, client *http.Client, list []*gateway, rounds int) error {
	spent, took := make([]float64, len(list)), make([]float64, len(list))
	for range batches {
		for j, g := range list {
			before, err := g.used()
			if err != nil {
				return err
			}
			start := time.Now()
			if err := g.rush(ctx, client, rounds/batches); err != nil {
				return fmt.Errorf("ask %s, %d at once: %w", g.name, atOnce, err)
			}
			took[j] += time.Since(start).Seconds()
			after, err := g.used()
			if err != nil {
				return err
			}
			spent[j] += after - before
		}
	}
	n := float64(rounds / batches * batches)
	for j, g := range list {
		g.rate, g.cpu = n/took[j], spent[j]/1e9/n*1000
		if g.process != nil {
			var err error
			if g.memory, _, err = g.process.Memory(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gateway) used() (float64, error) {
	if g.process == nil {
		return 0, nil
	}
	return g.process.CPU()
}

// stream asks for a stream. One that fails from the start is not asked for again.
func (g *gateway) stream(ctx context.Context, client *http.Client, t *talk, start bool) (float64, error) {
	if g.mute {
		return 0, nil
	}
	took, err := g.ask(ctx, client, t.next(true))
	if err != nil && start && g.process != nil {
		fmt.Fprintf(os.Stderr, "gateways: %s: a stream: %v\n", g.name, err)
		g.mute, err = true, nil
	}
	return took, err
}

// rush sends so many requests, some at once, each the first of a conversation.
func (g *gateway) rush(ctx context.Context, client *http.Client, n int) error {
	work := make(chan []byte)
	var running sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range atOnce {
		running.Go(func() {
			for body := range work {
				if _, err := g.ask(ctx, client, body); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	for range n {
		work <- newTalk(g).next(false)
	}
	close(work)
	running.Wait()
	return failed
}

// ask sends a request. Of a stream the time is that of the first text, else of the whole answer.
func (g *gateway) ask(ctx context.Context, client *http.Client, body []byte) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.base+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, values := range g.header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	start := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read to its end
	r := bufio.NewReader(resp.Body)
	var took float64
	found, head := false, ""
	for {
		line, err := r.ReadString('\n')
		if len(head) < 300 {
			head += line
		}
		if strings.Contains(line, told) && !found {
			found, took = true, float64(time.Since(start).Nanoseconds())
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	if !found || resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("got %s without the answer: %.300s", resp.Status, head)
	}
	return took, nil
}

// talk is a conversation of about ten kilobytes that grows.
type talk struct {
	g    *gateway
	list []string
}

func newTalk(g *gateway) *talk {
	t := &talk{g: g}
	for range 9 {
		t.list = append(t.list, t.message(), `{"role":"assistant","content":"`+told+`"}`)
	}
	return t
}

func (t *talk) message() string {
	return fmt.Sprintf(`{"role":"user","content":"%d %s"}`, t.g.said.Add(1), strings.Repeat("what does it say about this ", 36))
}

func (t *talk) next(stream bool) []byte {
	t.list = append(t.list, t.message())
	body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[%s]}`, stream, strings.Join(t.list, ","))
	t.list = append(t.list, `{"role":"assistant","content":"`+told+`"}`)
	return []byte(body)
}

func percentile(values []float64, n int) float64 {
	slices.Sort(values)
	return values[min(len(values)-1, len(values)*n/100)]
}
