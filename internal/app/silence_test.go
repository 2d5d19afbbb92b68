//go:build unix

package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// hanging is how long an answer may take before the test says that the server hangs; its own limit is far below.
const hanging = time.Minute

// silence is a server whose database falls silent.
type silence struct {
	*testing.T

	paths datafolder.Paths
	app   *app.App
	url   string

	mu      sync.Mutex
	allowed []string // calls that were let through
	refused int
	reasons map[string]int
}

func newSilence(t *testing.T, address string) *silence {
	t.Helper()
	data := t.TempDir()
	s := &silence{
		T: t, reasons: map[string]int{}, paths: datafolder.Paths{Data: data, Config: filepath.Join(data, "tidemark.yaml"), Store: address},
	}
	if err := os.WriteFile(s.paths.Config, []byte("server: {deadlineMs: 700}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.app, err = app.New(t.Context(), app.Options{Paths: s.paths, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	if s.url, err = s.app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// get asks for a page and returns its status.
func (s *silence) get(path string) int {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), hanging)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.app.Tokens.Reader)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Errorf("%s: %v", path, err)
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// call asks about a call, and notes what became of it.
func (s *silence) call(session, id string) (ran bool) {
	ctx, cancel := context.WithTimeout(s.Context(), hanging)
	defer cancel()
	body := fmt.Sprintf(`{"event":{"toolName":"read","params":{"path":"a"},"toolCallId":%q},"ctx":{"sessionKey":%q,"messageProvider":"x","senderId":"1"}}`,
		id, session)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/hooks/before_tool_call", strings.NewReader(body))
	if err != nil {
		s.Error(err)
		return false
	}
	req.Header.Set("Authorization", "Bearer "+s.app.Tokens.Agent)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Errorf("call %s of %s hangs: %v", id, session, err)
		return false
	}
	defer func() { _ = res.Body.Close() }()
	var out struct {
		Block  bool   `json:"block"`
		Reason string `json:"blockReason"`
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		s.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ran = res.StatusCode == http.StatusOK && !out.Block; ran {
		s.allowed = append(s.allowed, id)
		return true
	}
	if s.refused++; res.StatusCode == http.StatusOK || !out.Block || out.Reason == "" {
		s.Errorf("call %s of %s: status %d, block %v, %q; want a refusal with a reason", id, session, res.StatusCode, out.Block, out.Reason)
	}
	s.reasons[out.Reason]++
	return false
}

// press has calls come in many sessions, several at a time in each, until it is told to stop.
func (s *silence) press() (stop func()) {
	done := make(chan struct{})
	var busy sync.WaitGroup
	for w := range 12 {
		busy.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if !s.call(fmt.Sprintf("s%d", w%4), fmt.Sprintf("c%d-%d", w, i)) {
					time.Sleep(20 * time.Millisecond) // the server says so itself: Retry-After
				}
			}
		})
	}
	return func() { close(done); busy.Wait() }
}

// through waits until so many calls more were let through, or refused.
func (s *silence) through(what string, count func() int, more int) {
	s.Helper()
	limit := time.Now().Add(2 * hanging)
	for want := count() + more; count() < want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			s.Fatalf("no more calls were %s", what)
		}
	}
}

func (s *silence) ran() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.allowed)
}

func (s *silence) no() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// story is calls before, during and after a silence; what was let through is in the log, and the log is whole.
func (s *silence) story(quiet, speak func()) {
	s.Helper()
	stop := s.press()
	s.through("let through", s.ran, 50)
	if status := s.get("/readyz"); status != http.StatusOK {
		s.Errorf("before: readyz is %d", status)
	}
	quiet()
	s.through("refused", s.no, 60) // so that whoever was in flight has an answer too
	for range 5 {
		if status := s.get("/readyz"); status != http.StatusServiceUnavailable {
			s.Errorf("silent: readyz is %d", status)
		}
		if status := s.get("/v1/sessions"); status != http.StatusServiceUnavailable {
			s.Errorf("silent: the list of sessions is %d", status)
		}
		if status := s.get("/healthz"); status != http.StatusOK {
			s.Errorf("silent: healthz is %d", status)
		}
	}
	s.call("new", "new-1")
	speak()
	s.through("let through", s.ran, 50)
	if status := s.get("/readyz"); status != http.StatusOK {
		s.Errorf("after: readyz is %d", status)
	}
	stop()
	again := 0
	for began := time.Now(); !s.call("new", fmt.Sprint("new-again-", again)); again++ { // a connection that died unseen costs the call that finds it
		if time.Since(began) > hanging {
			s.Fatal("calls of the new session are refused when all is well again")
		}
	}
	if late := s.late(); late == 0 {
		s.Errorf("nobody was told that the log did not answer in time: %v", s.reasons)
	}
	ctx, cancel := context.WithTimeout(context.Background(), hanging)
	defer cancel()
	if err := s.app.Stop(ctx); err != nil {
		s.Error(err)
	}
}

func (s *silence) late() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for reason, times := range s.reasons {
		if strings.Contains(reason, "did not answer in time") {
			n += times
		}
	}
	return n
}

// recorded checks the log.
func (s *silence) recorded() {
	s.Helper()
	log, err := installation.OpenLog(s.Context(), s.paths)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	report, err := log.Verify(s.Context(), nil)
	if err != nil || !report.OK() {
		s.Fatalf("verify: %v, %v", report.Breaks, err)
	}
	found := map[string]bool{}
	for after := int64(0); ; {
		page, err := log.Reader.Since(s.Context(), store.EntryQuery{After: after, Kind: "call.decided", Limit: store.MaxLimit})
		if err != nil {
			s.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			after = page[i].ID
			e, err := event.FromRecord(page[i].Record)
			if err != nil {
				s.Fatal(err)
			}
			if e.Decided.Runs() {
				found[e.Decided.CallID] = true
			}
		}
	}
	for _, id := range s.allowed {
		if !found[id] {
			s.Errorf("call %s was let through, and no record says so", id)
		}
	}
	s.Logf("%d calls were let through, %d refused; %d records", len(s.allowed), s.refused, report.Records)
}

// SEQ-09 BEY-12: PostgreSQL is stopped where it is, with its connections open. Calls are refused with a reason, and none hangs; what was in
// flight is recorded or not, and no call was let through whose record is missing.
func TestAStoppedDatabaseHoldsNobodyUp(t *testing.T) {
	cluster := pgtest.Start(t)
	s := newSilence(t, cluster.New(t))
	s.story(cluster.Pause, cluster.Resume)
	s.recorded()
}

// hole is a network between a server and its database that begins to drop everything.
type hole struct {
	listener net.Listener
	to       string
	epoch    atomic.Int64 // odd: nothing passes
}

// newHole makes one, and the address of the database behind it.
func newHole(t *testing.T, cluster *pgtest.Cluster) (h *hole, address string) {
	t.Helper()
	address = cluster.New(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	h = &hole{listener: listener, to: filepath.Join(cluster.Dir(), ".s.PGSQL.5432")}
	go h.serve(t.Context())
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Del("host")
	u.Host, u.RawQuery = listener.Addr().String(), q.Encode()
	return h, u.String()
}

func (h *hole) serve(ctx context.Context) {
	for {
		in, err := h.listener.Accept()
		if err != nil {
			return
		}
		out, err := (&net.Dialer{}).DialContext(ctx, "unix", h.to)
		if err != nil {
			_ = in.Close()
			continue
		}
		epoch := h.epoch.Load()
		for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
			go func() {
				defer func() { _, _ = way[0].Close(), way[1].Close() }()
				h.carry(way[0], way[1], epoch)
			}()
		}
	}
}

// carry hands pieces on while the network is the one in which the connection began: what was dropped never comes.
func (h *hole) carry(from io.Reader, to io.Writer, epoch int64) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if h.epoch.Load() != epoch || epoch%2 == 1 {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// SEQ-09 BEY-12: the same over TCP, where a network drops everything and later forgets the connections that there were.
func TestANetworkThatDropsEverythingHoldsNobodyUp(t *testing.T) {
	h, address := newHole(t, pgtest.Start(t))
	s := newSilence(t, address)
	s.story(func() { h.epoch.Add(1) }, func() { h.epoch.Add(1) })
	s.recorded()
}
