package serverproof_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/test/prooftest"
)

const secret = "a-secret-of-both-0123456789"

// ear is a listener that answers each connection as told and keeps all it was sent.
type ear struct {
	net.Listener
	mu    sync.Mutex
	heard strings.Builder
}

func listen(t *testing.T, answer string) *ear {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &ear{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go e.serve(conn, answer)
		}
	}()
	return e
}

func (e *ear) serve(conn net.Conn, answer string) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		e.mu.Lock()
		e.heard.WriteString(line)
		e.mu.Unlock()
		if err != nil {
			return
		}
		if line == "\r\n" {
			_, _ = io.WriteString(conn, answer)
		}
	}
}

func ask(t *testing.T, url, at string) error {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DialContext: serverproof.Dialer(secret, at), DisableKeepAlives: true}}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/hooks/x", strings.NewReader("what the agent does"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	res, err := c.Do(req)
	if err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	return err
}

func TestAStrangerIsToldNothing(t *testing.T) {
	whole := func(body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	other, err := serverproof.KeyOf("another secret").Show(strings.Repeat("ab", 32), "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]string{
		"says yes to everything":          whole(`{"status":"ok","tidemark":{"verdict":"allow"}}`),
		"knows another secret":            whole(`{"nonce":"` + other.Nonce + `","at":"` + other.At + `","proof":"` + other.Proof + `"}`),
		"says nothing":                    "",
		"says that there is nothing here": "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
		"is no web server":                "220 mail.example ESMTP\r\n",
		"never ends":                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		"talks too much":                  whole(strings.Repeat(" ", 1<<16)),
		"sends us elsewhere":              "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			e := listen(t, answer)
			url := "http://" + e.Addr().String()
			if err := ask(t, url, url); err == nil {
				t.Error("it was spoken to")
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			if got := e.heard.String(); strings.Contains(got, secret) || strings.Contains(got, "agent does") || strings.Contains(got, "Bearer") {
				t.Errorf("it was told %q", got)
			}
		})
	}
}

func TestTheServerIsSpokenToOnAProvenConnection(t *testing.T) {
	srv := httptest.NewServer(prooftest.Handler(secret, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) != "what the agent does" || r.Header.Get("Authorization") != "Bearer "+secret {
			w.WriteHeader(http.StatusTeapot)
		}
	})))
	defer srv.Close()
	if err := ask(t, srv.URL, srv.URL); err != nil {
		t.Errorf("got %v", err)
	}
}

// A program that took the old port hands the challenge on to the server that now listens
// elsewhere, and the proof back.
func TestAProofFromElsewhereIsNone(t *testing.T) {
	srv := httptest.NewServer(prooftest.Handler(secret, http.NotFoundHandler()))
	defer srv.Close()
	told := false
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told = told || r.URL.Path != serverproof.Path
		req, err := http.NewRequestWithContext(r.Context(), r.Method, srv.URL+r.URL.Path, r.Body)
		if err != nil {
			return
		}
		req.Header = r.Header
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer func() { _ = res.Body.Close() }()
		_, _ = io.Copy(w, res.Body)
	}))
	defer relay.Close()
	if err := ask(t, relay.URL, relay.URL); !errors.Is(err, serverproof.ErrStranger) || told {
		t.Errorf("got %v, told %v; want it to be a stranger", err, told)
	}
}

func TestNoProofWithoutASecretOrANonce(t *testing.T) {
	if _, err := serverproof.Dialer("", "http://127.0.0.1:1")(t.Context(), "tcp", "127.0.0.1:1"); err == nil {
		t.Error("no secret: got no error")
	}
	for _, nonce := range []string{"", "ab", strings.Repeat("zz", 32), strings.Repeat("ab", 33)} {
		if _, err := serverproof.KeyOf(secret).Show(nonce, ""); !errors.Is(err, serverproof.ErrNonce) {
			t.Errorf("nonce %q: got %v", nonce, err)
		}
	}
}

func TestOneByteOfAnythingSpoilsAProof(t *testing.T) {
	nonce, err := serverproof.NewNonce()
	if err != nil {
		t.Fatal(err)
	}
	key := serverproof.KeyOf(secret)
	a, err := key.Show(nonce, "http://127.0.0.1:8417")
	if err != nil || !key.Holds(nonce, a) {
		t.Fatalf("got %v; want a proof that holds", err)
	}
	for name, b := range map[string]serverproof.Answer{
		"nonce": {Nonce: nonce, At: a.At, Proof: a.Proof}, "address": {Nonce: a.Nonce, At: a.At + "0", Proof: a.Proof},
		"proof": {Nonce: a.Nonce, At: a.At, Proof: a.Nonce}, "nothing": {},
	} {
		if key.Holds(nonce, b) {
			t.Errorf("another %s: it holds", name)
		}
	}
	if key.Holds(a.Nonce, a) || serverproof.KeyOf("x").Holds(nonce, a) {
		t.Error("another question, or another secret: it holds")
	}
}

func TestAProcessThatIsGoneIsKnownToBe(t *testing.T) {
	own := serverproof.Own()
	if own.PID != os.Getpid() || own.Over() {
		t.Errorf("this process: got %+v, over %v", own, own.Over())
	}
	if own.Since == "" {
		t.Skip("this system does not say when a process started")
	}
	later := own
	later.Since += "0"
	if !later.Over() {
		t.Error("its number belongs to another now: want it over")
	}
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skip(err)
	}
	gone := own
	gone.PID = cmd.ProcessState.Pid()
	if !gone.Over() {
		t.Error("a process that ended: want it over")
	}
	for name, l := range map[string]serverproof.Life{
		"one that said no more than its number": {PID: 1 << 30}, "one of another machine": {PID: 1 << 30, Since: "1", Space: "pid:[1]"}, "none": {},
	} {
		if l.Over() {
			t.Errorf("%s: it is said to be over", name)
		}
	}
}
