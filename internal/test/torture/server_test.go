package torture_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

// house is a data folder with what must be the same after every start of its server.
type house struct {
	data   string
	store  string // address of the database; "": a file in the folder
	tokens accounts.Tokens
	under  []string // a program that starts the server, with its arguments; nil: none
}

// newHouse makes a folder with tokens, so that the server shows none.
func newHouse(t testing.TB, store string) *house {
	t.Helper()
	h := &house{data: t.TempDir(), store: store}
	var err error
	if h.tokens, _, err = accounts.LoadTokens(filepath.Join(h.data, "tokens.json")); err != nil {
		t.Fatal(err)
	}
	return h
}

// beside is a folder for another server of the same log.
func (h *house) beside(t testing.TB) *house {
	t.Helper()
	out := &house{data: t.TempDir(), store: h.store, tokens: h.tokens}
	for _, name := range []string{"words.key", "tokens.json"} {
		raw, err := os.ReadFile(filepath.Join(h.data, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(out.data, name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// server is the program, running as a process of its own.
type server struct {
	house *house
	cmd   *exec.Cmd
	url   string
	http  *http.Client
	said  tail // on standard error
	gone  chan struct{}
}

// tail keeps the end of what a program says.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b = append(l.b, p...); len(l.b) > 4<<10 {
		l.b = l.b[len(l.b)-4<<10:]
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.b)
}

// startLimit is how long a start may take before it counts as one that hangs.
const startLimit = 2 * time.Minute

// start runs the server until it says where it listens.
func (h *house) start(t testing.TB) (*server, error) {
	t.Helper()
	program, err := built()
	if err != nil {
		return nil, err
	}
	args := append(append([]string{}, h.under...), program, "serve", "--data", h.data, "--listen", "127.0.0.1:0", "--log-level", "error")
	s := &server{house: h, cmd: exec.Command(args[0], args[1:]...), gone: make(chan struct{})}
	s.cmd.Env = append(os.Environ(), "TIDEMARK_STORE="+h.store)
	s.cmd.Stderr = &s.said
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with whatever it runs under
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(s.kill)
	limit := time.AfterFunc(startLimit, s.kill)
	defer limit.Stop()
	lines := bufio.NewScanner(out)
	for s.url == "" && lines.Scan() {
		s.url, _ = strings.CutPrefix(lines.Text(), "listening on ")
		if !strings.HasPrefix(s.url, "http://") {
			s.url = ""
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = s.cmd.Wait()
		close(s.gone)
	}()
	if s.url == "" {
		s.kill()
		return nil, fmt.Errorf("the server does not start: %s", s.said.String())
	}
	// A connection that was opened and not used is closed by the server after ten seconds; who uses it at that moment finds it gone.
	s.http = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 1024, IdleConnTimeout: 5 * time.Second}}
	return s, nil
}

// must is start, where it cannot fail.
func (h *house) must(t testing.TB) *server {
	t.Helper()
	s, err := h.start(t)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// kill is kill -9 of the server and of what it runs under.
func (s *server) kill() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // it may be gone already
	if s.http != nil {
		<-s.gone
		s.http.CloseIdleConnections()
	}
}

// refused is an answer that is not 2xx: what was asked for was not done, or nobody knows.
type refused struct {
	status int
	text   string
}

func (r *refused) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.text) }

// refusedBy reports whether the server was asked, knew the answer, and it is no. One that cannot read the keys of people, because the
// database is gone, asks for a proof that nobody has (403): it does not know.
func refusedBy(err error) bool {
	var r *refused
	return errors.As(err, &r) && r.status >= 400 && r.status < 500 && r.status != http.StatusForbidden
}

// call sends one request as the administrator.
func (s *server) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := strictjson.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.house.tokens.Admin)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := s.http.Do(req)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return &refused{res.StatusCode, string(raw[:min(len(raw), 300)])}
	}
	if out == nil {
		return nil
	}
	return strictjson.Unmarshal(raw, out)
}

// answer is what a hook is told.
type answer struct {
	Block    bool `json:"block"`
	Tidemark struct {
		Taint    string `json:"taint"`
		Verdict  string `json:"verdict"`
		Rule     string `json:"rule"`
		Spent    string `json:"spent"`
		Write    string `json:"write"`
		Approval *struct {
			ID string `json:"id"`
		} `json:"approval"`
	} `json:"tidemark"`
}

// asked is the question about a held call; "": there is none.
func (a *answer) asked() string {
	if a.Tidemark.Approval == nil {
		return ""
	}
	return a.Tidemark.Approval.ID
}

type fields = map[string]any

// hook posts one hook of a session of the owner's; more is put into its context.
func (s *server) hook(ctx context.Context, session, name string, event, more fields) (a answer, err error) {
	c := fields{"sessionKey": session, "messageProvider": "test", "senderId": "owner", "senderIsOwner": true}
	for k, v := range more {
		c[k] = v
	}
	err = s.call(ctx, http.MethodPost, "/v1/hooks/"+name, fields{"event": event, "ctx": c}, &a)
	return a, err
}
