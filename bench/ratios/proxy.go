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
	"strings"
	"time"

	"github.com/tidemark/tidemark/bench/rig"
)

// `tidemark serve` against httputil.ReverseProxy, which understands nothing, before the same
// upstream: a conversation that grows by one exchange with every request.

func proxy10kB(ctx context.Context) (result, error) { return proxied(ctx, 10<<10, 40) }
func proxy1MB(ctx context.Context) (result, error)  { return proxied(ctx, 1<<20, 12) }
func proxy5MB(ctx context.Context) (result, error)  { return proxied(ctx, 5<<20, 8) }

// proxied sends conversations that grow through both proxies in turn, request by request,
// and compares the medians. The first request of each conversation, which is new as a
// whole, is not measured.
func proxied(ctx context.Context, size, conversations int) (_ result, err error) {
	p, err := openProxies(ctx)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	var times [2][]float64
	for range conversations {
		for i, body := range p.bodies(size, cycle+1) {
			for side, proxy := range []*rig.Process{p.ours, p.theirs} {
				start := time.Now()
				if err := p.send(ctx, proxy.URL, body); err != nil {
					return result{}, err
				}
				if i > 0 {
					times[side] = append(times[side], float64(time.Since(start).Nanoseconds()))
				}
			}
		}
	}
	ours, theirs := median(times[0]), median(times[1])
	return result{ours, theirs, ours / theirs}, nil
}

// proxyCPU compares the CPU time of both processes for conversations of 1 MB that grow, first
// requests included in neither.
func proxyCPU(ctx context.Context) (_ result, err error) {
	p, err := openProxies(ctx)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	var spent [2]float64
	n := 0
	for range 10 {
		bodies := p.bodies(1<<20, 2*cycle+1)
		for side, proxy := range []*rig.Process{p.ours, p.theirs} {
			if err := p.send(ctx, proxy.URL, bodies[0]); err != nil {
				return result{}, err
			}
			before, err := proxy.CPU()
			if err != nil {
				return result{}, err
			}
			for _, body := range bodies[1:] {
				if err := p.send(ctx, proxy.URL, body); err != nil {
					return result{}, err
				}
			}
			after, err := proxy.CPU()
			if err != nil {
				return result{}, err
			}
			spent[side] += after - before
		}
		n += len(bodies) - 1
	}
	return result{spent[0] / float64(n), spent[1] / float64(n), spent[0] / spent[1]}, nil
}

// proxies are both proxies and their upstream.
type proxies struct {
	ours, theirs *rig.Process
	dir          string
	client       *http.Client
	upstream     *http.Server
	said         int // makes every message a new one
}

func openProxies(ctx context.Context) (p *proxies, err error) {
	p = &proxies{client: &http.Client{Transport: &http.Transport{WriteBufferSize: 64 << 10}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	upstream, server, err := rig.Listen(ctx, http.HandlerFunc(answer))
	if err != nil {
		return p, err
	}
	p.upstream = server
	if p.dir, err = os.MkdirTemp("", "tidemark-ratios-"); err != nil {
		return p, err
	}
	if p.theirs, err = rig.Bare(ctx, upstream); err != nil {
		return p, err
	}
	if p.ours, err = rig.Serve(ctx, p.dir, upstream); err != nil {
		return p, err
	}
	return p, errors.Join(rig.Ready(ctx, p.client, p.theirs.URL+"/healthz"), rig.Ready(ctx, p.client, p.ours.URL+"/healthz"))
}

func (p *proxies) close() error {
	var errs []error
	p.client.CloseIdleConnections()
	for _, side := range []*rig.Process{p.ours, p.theirs} {
		if side != nil {
			side.Stop()
		}
	}
	if p.upstream != nil {
		errs = append(errs, p.upstream.Close())
	}
	if p.dir != "" {
		errs = append(errs, os.RemoveAll(p.dir))
	}
	return errors.Join(errs...)
}

const said = "That is what it says."

// answer is the upstream: it reads the request and says one sentence.
func answer(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	if r.Header.Get("X-Stream") == "" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1,"model":"m",`+
			`"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, said)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,`
	fmt.Fprintf(w, chunk+`"delta":{"content":%q},"finish_reason":null}]}`+"\n\n", said)
	_ = http.NewResponseController(w).Flush()
	fmt.Fprint(w, chunk+`"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// message is one of about a kilobyte that was never sent before.
func (p *proxies) message() string {
	p.said++
	return fmt.Sprintf(`{"role":"user","content":"%d %s"}`, p.said, strings.Repeat("what does it say about this ", 36))
}

const (
	listBegin = `{"model":"m","messages":[`
	listEnd   = `]}`
	cycle     = 16 // requests before a conversation of its own begins anew
)

// bodies are the requests of a conversation that begins with so many bytes.
func (p *proxies) bodies(size, n int) [][]byte {
	var b strings.Builder
	b.WriteString(listBegin + p.message())
	for b.Len() < size {
		b.WriteString(`,{"role":"assistant","content":"` + said + `"},` + p.message())
	}
	var out [][]byte
	for range n {
		b.WriteString(`,{"role":"assistant","content":"` + said + `"},` + p.message())
		out = append(out, []byte(b.String()+listEnd))
	}
	return out
}

func (p *proxies) send(ctx context.Context, base string, body []byte, header ...string) error {
	resp, err := p.post(ctx, base, body, header...)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !bytes.Contains(got, []byte(said)) {
		return fmt.Errorf("ask: got %s: %s", resp.Status, got)
	}
	return nil
}

func (p *proxies) post(ctx context.Context, base string, body []byte, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/openai/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range header {
		req.Header.Set(h, "1")
	}
	return p.client.Do(req)
}

// proxyFirstDelta is how many microseconds later the first text arrives, medians of many.
func proxyFirstDelta(ctx context.Context) (_ result, err error) {
	p, err := openProxies(ctx)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	var times [2][]float64
	for range 20 {
		for side, proxy := range []*rig.Process{p.ours, p.theirs} {
			bodies := p.bodies(10<<10, cycle)
			for i, body := range bodies {
				took, err := p.firstDelta(ctx, proxy.URL, body)
				if err != nil && side == 1 { // a reverse proxy loses a connection now and then
					continue
				}
				if err != nil {
					return result{}, err
				}
				if i > 0 {
					times[side] = append(times[side], took)
				}
			}
		}
	}
	ours, theirs := median(times[0]), median(times[1])
	return result{ours, theirs, (ours - theirs) / 1000}, nil
}

func (p *proxies) firstDelta(ctx context.Context, base string, body []byte) (float64, error) {
	start := time.Now()
	resp, err := p.post(ctx, base, body, "X-Stream")
	if err != nil {
		return 0, err
	}
	r := bufio.NewReader(resp.Body)
	line, err := r.ReadString('\n')
	took := float64(time.Since(start).Nanoseconds())
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if err = errors.Join(err, resp.Body.Close()); err == nil && !strings.Contains(line, said) {
		err = fmt.Errorf("first delta: got %q", line)
	}
	return took, err
}
