package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/proxy"
)

// The proxy beside httputil.ReverseProxy, which understands nothing, before the same
// upstream. A conversation grows by one exchange with every request.

// rig is both proxies.
type rig struct {
	ours, theirs string
	client       *http.Client
	said         int
}

func newRig(b *testing.B) *rig {
	w := open(b, func(o *proxy.Options) { o.MaxConcurrent = 1024 })
	upstream := httptest.NewServer(http.HandlerFunc(speak))
	b.Cleanup(upstream.Close)
	w.provider.server.Config.Handler = http.HandlerFunc(speak)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	bare := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/openai")
	}})
	b.Cleanup(bare.Close)
	return &rig{ours: w.url, theirs: bare.URL, client: w.client}
}

// speak is the upstream: it reads the request and says one sentence.
func speak(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if r.Header.Get("X-Stream") == "" {
		answerJSON(chatText("That is it."))(w, r)
		return
	}
	answerEvents(chatEvents("That is it.")...)(w, r)
}

func (r *rig) message() string {
	r.said++
	return user(fmt.Sprintf("%d %s", r.said, strings.Repeat("what does it say about this ", 36)))
}

// bodies are the requests of a conversation that begins with so many bytes.
func (r *rig) bodies(size, n int) [][]byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[` + r.message())
	grow := func() { b.WriteString("," + assistant("That is it.") + "," + r.message()) }
	for b.Len() < size {
		grow()
	}
	var out [][]byte
	for range n {
		grow()
		out = append(out, []byte(b.String()+"]}"))
	}
	return out
}

func (r *rig) post(base string, body []byte, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, base+"/openai/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range header {
		req.Header.Set(h, "1")
	}
	return r.client.Do(req)
}

func (r *rig) send(base string, body []byte, header ...string) error {
	resp, err := r.post(base, body, header...)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("got %s: %s", resp.Status, got)
	}
	return err
}

func BenchmarkGrowing(b *testing.B) {
	for _, size := range []int{10 << 10, 1 << 20, 5 << 20} {
		for _, side := range []string{"proxy", "reverse"} {
			b.Run(fmt.Sprintf("%s/%dkB", side, size>>10), func(b *testing.B) {
				r := newRig(b)
				base := map[string]string{"proxy": r.ours, "reverse": r.theirs}[side]
				var left [][]byte
				for b.Loop() {
					if len(left) == 0 { // the first request, new as a whole, is not measured
						b.StopTimer()
						left = r.bodies(size, 17)
						if err := r.send(base, left[0]); err != nil {
							b.Fatal(err)
						}
						left = left[1:]
						b.StartTimer()
					}
					if err := r.send(base, left[0]); err != nil {
						b.Fatal(err)
					}
					left = left[1:]
				}
			})
		}
	}
}

// BenchmarkFirstDelta is the time to the first line of a stream.
func BenchmarkFirstDelta(b *testing.B) {
	for _, side := range []string{"proxy", "reverse"} {
		b.Run(side, func(b *testing.B) {
			r := newRig(b)
			base := map[string]string{"proxy": r.ours, "reverse": r.theirs}[side]
			var left [][]byte
			for b.Loop() {
				b.StopTimer()
				if len(left) == 0 { // the first request, new as a whole, is not measured
					left = r.bodies(10<<10, 17)
					if err := r.send(base, left[0]); err != nil {
						b.Fatal(err)
					}
					left = left[1:]
				}
				b.StartTimer()
				resp, err := r.post(base, left[0], "X-Stream")
				if err != nil {
					b.Fatal(err)
				}
				left = left[1:]
				lines := bufio.NewReader(resp.Body)
				if _, err := lines.ReadString('\n'); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				_, _ = io.Copy(io.Discard, lines)
				_ = resp.Body.Close()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkManyStreams holds 500 streams open at once and reports the memory each takes.
func BenchmarkManyStreams(b *testing.B) {
	const streams = 500
	w := open(b, func(o *proxy.Options) { o.MaxConcurrent = streams })
	for b.Loop() {
		leave := make(chan struct{})
		var entered, done sync.WaitGroup
		entered.Add(streams)
		w.provider.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			answerEvents(chunk(`{"content":"a"}`, "null"))(rw, r)
			entered.Done()
			<-leave
			answerEvents(chatEvents("b")...)(rw, r)
		})
		before := heap()
		for i := range streams {
			done.Go(func() { w.post("/openai/v1/chat/completions", chatRequest(true, user(fmt.Sprint("Hi ", i)))) })
		}
		entered.Wait()
		b.ReportMetric(float64(heap()-before)/streams, "B/stream")
		close(leave)
		done.Wait()
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
