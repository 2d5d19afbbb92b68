package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/store/memory"
	"github.com/tidemark/tidemark/store/notify"
)

// The LLM proxy against httputil.ReverseProxy, which understands nothing, before the same
// upstream: a conversation that grows by one exchange with every request.

func proxy1MB(ctx context.Context) (result, error) { return proxied(ctx, 1<<20) }
func proxy5MB(ctx context.Context) (result, error) { return proxied(ctx, 5<<20) }

// proxied sends conversations that grow through both proxies in turn, request by request,
// and compares the medians. The first request of each conversation, which is new as a
// whole, is not measured.
func proxied(ctx context.Context, size int) (_ result, err error) {
	p, err := openProxies(ctx)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	var times [2][]float64
	for range 12 {
		for i, body := range p.bodies(size, cycle+1) {
			for side, base := range []string{p.ours, p.theirs} {
				start := time.Now()
				if err := p.send(ctx, base, body); err != nil {
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

// proxies are both proxies and their upstream.
type proxies struct {
	ours, theirs string
	client       *http.Client
	servers      []*http.Server
	proxy        *proxy.Proxy
	said         int // makes every message a new one
}

func openProxies(ctx context.Context) (*proxies, error) {
	p := &proxies{client: &http.Client{Transport: &http.Transport{WriteBufferSize: 64 << 10}}}
	upstream, err := p.listen(ctx, http.HandlerFunc(answer))
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(upstream)
	if err != nil {
		return nil, err
	}
	bare := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/openai")
	}}
	if p.theirs, err = p.listen(ctx, bare); err != nil {
		return nil, err
	}
	if p.proxy, err = newProxy(upstream); err != nil {
		return nil, err
	}
	p.ours, err = p.listen(ctx, p.proxy.Handler(http.NotFoundHandler()))
	return p, err
}

func newProxy(upstream string) (*proxy.Proxy, error) {
	set, faults := policy.Parse("bench.yaml", []byte("maxIterations: 1000000"))
	if err := faults.Err(); err != nil {
		return nil, err
	}
	f := notify.New(memory.New())
	m, err := tidemark.New(tidemark.Options{Policy: set, Store: f, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	return proxy.New(proxy.Options{
		Monitor: m, Feed: f, Logger: quiet,
		Bus: hook.New(hook.Options{Logger: quiet}), Follower: conversation.New(m, conversation.Options{}),
		Tokens: proxy.Tokens{Agent: token}, Upstreams: []proxy.Upstream{{Name: "openai", API: "openai", BaseURL: upstream}},
		Owner: true, MaxContext: 32 << 20, MaxConcurrent: 512,
	})
}

func (p *proxies) listen(ctx context.Context, h http.Handler) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	p.servers = append(p.servers, s)
	go func() { _ = s.Serve(listener) }() // ends with close
	return "http://" + listener.Addr().String(), nil
}

func (p *proxies) close() error {
	var errs []error
	p.client.CloseIdleConnections()
	p.proxy.Close()
	for _, s := range p.servers {
		errs = append(errs, s.Close())
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
		for side, base := range []string{p.ours, p.theirs} {
			bodies := p.bodies(10<<10, cycle)
			for i, body := range bodies {
				took, err := p.firstDelta(ctx, base, body)
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
