package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/question"
	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// token guards the API; the bare handler takes it and looks away.
const token = "ratios-agent-token"

func httpVsBare(ctx context.Context) (_ result, err error) {
	dir, err := os.MkdirTemp("", "tidemark-ratios-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log, err := sqlite.Open(ctx, filepath.Join(dir, "http.db"), sqlite.Options{})
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return overHTTP(ctx, log, log, plain, nil)
}

// httpVsBareCommit has the other side commit a row of the same bytes before it answers, grouped as ours are.
func httpVsBareCommit(ctx context.Context) (_ result, err error) {
	dir, err := os.MkdirTemp("", "tidemark-ratios-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log, err := sqlite.Open(ctx, filepath.Join(dir, "http.db"), sqlite.Options{})
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	m, err := question.NewMonitor(question.Shipped, log)
	if err != nil {
		return result{}, err
	}
	ref, err := question.BeginAsked(ctx, m, "the row's own")
	if err != nil {
		return result{}, err
	}
	record, err := decisionRecord(ctx, m, log, ref)
	if err != nil {
		return result{}, err
	}
	bare, err := openBare(ctx, filepath.Join(dir, "bare.db"), record)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	return overHTTP(ctx, log, log, setup{question.Shipped, question.BeginAsked}, bare.insert)
}

func httpShippedVsBare(ctx context.Context) (_ result, err error) {
	dir, err := os.MkdirTemp("", "tidemark-ratios-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log, err := sqlite.Open(ctx, filepath.Join(dir, "http.db"), sqlite.Options{})
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return overHTTP(ctx, log, log, setup{question.Shipped, question.BeginAsked}, nil)
}

func httpMemoryVsBare(ctx context.Context) (result, error) {
	log := memory.New()
	return overHTTP(ctx, log, log, plain, nil)
}

// setup is a policy and how its sessions begin.
type setup struct {
	file  string
	begin func(ctx context.Context, m *engine.Monitor, session string) (engine.Ref, error)
}

var plain = setup{question.Plain, question.Begin}

// overHTTP compares before_tool_call with a handler that only decodes and encodes, and commits if it is told how. Both
// stand behind the same server on loopback and are asked by the same clients.
func overHTTP(ctx context.Context, store engine.Store, log httpapi.Log, s setup, commit func(session int) error) (_ result, err error) {
	api, m, err := newAPI(store, log, s.file)
	if err != nil {
		return result{}, err
	}
	if _, err := begin(ctx, m, s.begin); err != nil {
		return result{}, err
	}
	ours, err := serve(ctx, api.Handler())
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, ours.close()) }()
	answer, err := ours.ask(ctx, 0)
	if err != nil {
		return result{}, err
	}
	handler, err := newBareHandler(answer, commit)
	if err != nil {
		return result{}, err
	}
	theirs, err := serve(ctx, handler)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, theirs.close()) }()
	return rates(compare(run(ours.benchmark(ctx)), run(theirs.benchmark(ctx))))
}

func newAPI(store engine.Store, log httpapi.Log, file string) (*httpapi.API, *engine.Monitor, error) {
	f := notify.New(store)
	m, err := question.NewMonitor(file, f)
	if err != nil {
		return nil, nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	api, err := httpapi.New(httpapi.Options{
		Monitor: m, Log: log, Feed: f, Bus: hook.New(hook.Options{Logger: quiet}), Logger: quiet, Now: time.Now,
		Tokens: httpapi.Tokens{Agent: token},
	})
	return api, m, err
}

// site is a server with its clients.
type site struct {
	server *http.Server
	url    string
	client *http.Client
	bodies [][]byte
	served chan error
}

func serve(ctx context.Context, h http.Handler) (*site, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s := &site{
		server: &http.Server{Handler: h, ReadHeaderTimeout: time.Minute},
		url:    "http://" + listener.Addr().String() + "/v1/hooks/before_tool_call",
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * clients}},
		served: make(chan error, 1),
	}
	for i := range 2 * clients {
		s.bodies = append(s.bodies, fmt.Appendf(nil,
			`{"event":{"toolName":%q,"toolCallId":"call-1","params":%s},"ctx":{"sessionKey":"session-%d","runId":"turn","agentId":"main"}}`,
			question.Tool, question.Call().Args, i))
	}
	go func() { s.served <- s.server.Serve(listener) }()
	return s, nil
}

// ask posts the question of one client and returns the answer.
func (s *site) ask(ctx context.Context, client int) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(s.bodies[client]))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || bytes.Contains(answer, []byte(`"block":true`)) {
		return nil, fmt.Errorf("ask: got %s: %s, want a call that may run", resp.Status, answer)
	}
	return answer, nil
}

func (s *site) benchmark(ctx context.Context) func(b *testing.B) {
	return func(b *testing.B) {
		together(b, func(client int) error {
			_, err := s.ask(ctx, client)
			return err
		})
	}
}

func (s *site) close() error {
	err := s.server.Close()
	s.client.CloseIdleConnections()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
