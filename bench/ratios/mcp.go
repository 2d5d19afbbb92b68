package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/bench/rig"
	"github.com/tidemark/tidemark/internal/base/debounce"
	"github.com/tidemark/tidemark/internal/base/sameorigin"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/pipe"
	"github.com/tidemark/tidemark/internal/mcp/relay"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/waiting"
	"github.com/tidemark/tidemark/policy"
)

// The MCP gateway with the shipped policy against a reverse proxy, and against no middle at all. The upstream answers
// a call of about 200 bytes; what the middle costs is what the whole costs more than without it.

const (
	mcpToken  = "agent-token-of-the-ratios-0123456789"
	mcpPolicy = "trustRules:\n  - {name: own, tools: ['up__*'], trust: local}\n"
	mcpBatch  = 400
)

var mcpCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_note","arguments":{"title":"a","text":"` +
	strings.Repeat("x", 100) + `"}}}`

// mcpEngine is the monitor behind the gate.
func mcpEngine(store engine.Store) (*judge.Engine, error) {
	set, faults := policy.Parse("policy.yaml", []byte(mcpPolicy))
	if err := faults.Err(); err != nil {
		return nil, err
	}
	feed := notify.New(store)
	m, err := engine.New(engine.Options{Policy: set, Store: feed, Now: time.Now, Rand: rand.Reader, Key: []byte(strings.Repeat("k", 32))})
	if err != nil {
		return nil, err
	}
	shown := debounce.New(20*time.Millisecond, func(session string) { // as the server does it
		if err := m.Flush(context.Background(), session); err != nil {
			fail(err)
		}
	})
	return &judge.Engine{Monitor: m, Waiter: waiting.New(m, feed), Soon: shown}, nil
}

// mcpSides are the same upstream behind the gateway, behind a reverse proxy, and as it is.
type mcpSides struct {
	ours, theirs, direct *httptest.Server
	engine               *judge.Engine
	n                    int
}

// quick is an upstream that understands nothing.
func quick(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // it was sent
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"saved"}]}}`)
}

// note is what the tool of a real server takes.
type note struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// realServer is one of the Go SDK.
func realServer() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "set_note", Description: "Saves a note"},
		func(context.Context, *mcp.CallToolRequest, note) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "saved"}}}, nil, nil
		})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

func openMCP(store engine.Store, server http.Handler) (*mcpSides, error) {
	upstream := httptest.NewServer(server)
	at, err := url.Parse(upstream.URL)
	if err != nil {
		return nil, err
	}
	port, err := mcpEngine(store)
	if err != nil {
		return nil, err
	}
	pinned, err := mcpPins()
	if err != nil {
		return nil, err
	}
	g, err := sameorigin.New(nil)
	if err != nil {
		return nil, err
	}
	r, err := relay.New(relay.Options{
		Upstreams: []relay.Upstream{{Server: judge.Server{Name: "up", URL: upstream.URL}}}, Port: port, Pins: pinned,
		Transports: relay.Direct{}, Admission: judge.NewAdmission(g, mcpToken), Owner: true, MaxMessage: 1 << 20,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(at) }, FlushInterval: -1}
	return &mcpSides{
		ours:   httptest.NewServer(r.Handler(http.NotFoundHandler())),
		theirs: httptest.NewServer(proxy), direct: upstream, engine: port,
	}, nil
}

// mcpPins are real pins that hold nothing back.
func mcpPins() (judge.Pins, error) {
	k, err := pins.Open(context.Background(), pins.Options{Store: memory.New(), Now: time.Now, Mode: pins.Off})
	return pins.For[judge.Server]{Port: k}, err
}

func (s *mcpSides) close() {
	for _, side := range []*httptest.Server{s.ours, s.theirs, s.direct} {
		side.Close()
	}
	s.engine.Soon.Close()
}

// send makes one call. A conversation has a hundred.
func (s *mcpSides) send(ctx context.Context, at string) error {
	s.n++
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(mcpCall))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+mcpToken)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set(relay.SessionHeader, fmt.Sprint("s-", s.n/300))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if !strings.Contains(string(raw), "saved") {
		return fmt.Errorf("got %d %s", res.StatusCode, raw)
	}
	return nil
}

// spent runs a batch and measures something that grows: CPU time, or garbage.
func (s *mcpSides) spent(ctx context.Context, at string, meter func() float64) (float64, error) {
	before := meter()
	for range mcpBatch {
		if err := s.send(ctx, at); err != nil {
			return 0, err
		}
	}
	return (meter() - before) / mcpBatch, nil
}

// measure is what the gateway and the reverse proxy cost beyond no middle at all, in alternating batches.
func (s *mcpSides) measure(ctx context.Context, meter func() float64) (result, error) {
	var all [3][]float64
	for i := range rounds + 1 {
		var got [3]float64
		for side, at := range []string{s.ours.URL + "/mcp/up", s.theirs.URL, s.direct.URL} {
			var err error
			if got[side], err = s.spent(ctx, at, meter); err != nil {
				return result{}, err
			}
		}
		if ours, theirs := got[0]-got[2], got[1]-got[2]; i > 0 && theirs > 0 {
			all[0], all[1], all[2] = append(all[0], ours), append(all[1], theirs), append(all[2], ours/theirs)
		}
	}
	if len(all[2]) == 0 {
		return result{}, errors.New("the reverse proxy cost nothing that could be measured")
	}
	return result{median(all[0]), median(all[1]), median(all[2])}, nil
}

func cpuNanos() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func allocated() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.TotalAlloc)
}

func mcpHTTP(ctx context.Context) (result, error) {
	s, err := openMCP(memory.New(), http.HandlerFunc(quick))
	if err != nil {
		return result{}, err
	}
	defer s.close()
	return s.measure(ctx, cpuNanos)
}

// mcpGarbage is not a quotient: kilobytes of garbage for a call.
func mcpGarbage(ctx context.Context) (result, error) {
	s, err := openMCP(memory.New(), http.HandlerFunc(quick))
	if err != nil {
		return result{}, err
	}
	defer s.close()
	r, err := s.measure(ctx, allocated)
	r.ratio = r.ours / 1000
	return r, err
}

// mcpDurable compares the time of a call of a real server through the gateway, on a durable log, with that without it.
func mcpDurable(ctx context.Context) (_ result, err error) {
	dir, err := os.MkdirTemp("", "tidemark-ratios-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "log.db"), sqlite.Options{})
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s, err := openMCP(store, realServer())
	if err != nil {
		return result{}, err
	}
	defer s.close() // and with it what waits to be written, before the log
	return s.took(ctx, s.ours.URL+"/mcp/up")
}

// mcpHop is what a second hop alone costs in time: the same call through a reverse proxy that reads and records nothing.
func mcpHop(ctx context.Context) (result, error) {
	s, err := openMCP(memory.New(), realServer())
	if err != nil {
		return result{}, err
	}
	defer s.close()
	return s.took(ctx, s.theirs.URL)
}

// took compares the time of a call by some way with that of one without any middle, in turns.
func (s *mcpSides) took(ctx context.Context, by string) (result, error) {
	var times [2][]float64
	for range 4 * mcpBatch {
		for side, at := range []string{by, s.direct.URL} {
			start := time.Now()
			if err := s.send(ctx, at); err != nil {
				return result{}, err
			}
			times[side] = append(times[side], float64(time.Since(start).Nanoseconds()))
		}
	}
	ours, theirs := median(times[0]), median(times[1])
	return result{ours, theirs, ours / theirs}, nil
}

// mcpStdio is not a quotient: microseconds by which a call over standard input and output takes longer through the relay.
func mcpStdio(ctx context.Context) (result, error) {
	program, err := rig.Built(ctx)
	if err != nil {
		return result{}, err
	}
	server := []string{program, "demo", "server", "mail"}
	direct := exec.CommandContext(ctx, server[0], server[1:]...)
	in, err := direct.StdinPipe()
	if err != nil {
		return result{}, err
	}
	out, err := direct.StdoutPipe()
	if err != nil {
		return result{}, err
	}
	if err := direct.Start(); err != nil {
		return result{}, err
	}
	defer func() { _, _ = in.Close(), direct.Wait() }() // it ends with its input
	port, err := mcpEngine(memory.New())
	if err != nil {
		return result{}, err
	}
	pinned, err := mcpPins()
	if err != nil {
		return result{}, err
	}
	conn, err := judge.New(judge.Options{
		Server: judge.Server{Name: "up"}, Port: port, Pins: pinned, Origin: judge.Origin{Session: "ratios", Owner: true},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return result{}, err
	}
	relayIn, toRelay := io.Pipe()
	fromRelay, relayOut := io.Pipe()
	go func() {
		_, _ = pipe.Run(ctx, pipe.Options{Command: server, Env: os.Environ(), Gate: conn, In: relayIn, Out: relayOut, ErrOut: io.Discard})
		_ = relayOut.Close()
	}()
	defer func() { _ = toRelay.Close() }() // it ends with its input
	type side struct {
		in  io.Writer
		out *bufio.Reader
	}
	sides := []side{{toRelay, bufio.NewReader(fromRelay)}, {in, bufio.NewReader(out)}}
	var times [2][]float64
	for i := range 2000 {
		for n, s := range sides {
			start := time.Now()
			const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"send_mail","arguments":{"to":"a@b.example"}}}` + "\n"
			if _, err := fmt.Fprintf(s.in, call, i); err != nil {
				return result{}, err
			}
			line, err := s.out.ReadString('\n')
			if err != nil || !strings.Contains(line, "sent") {
				return result{}, fmt.Errorf("got %s, %w", line, err)
			}
			times[n] = append(times[n], float64(time.Since(start).Nanoseconds()))
		}
	}
	ours, theirs := median(times[0]), median(times[1])
	return result{ours, theirs, (ours - theirs) / 1000}, nil
}
