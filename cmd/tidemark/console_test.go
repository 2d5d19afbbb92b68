package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// consoleRun is tidemark console in a terminal, with a browser that is a script.
type consoleRun struct {
	lines  *bufio.Reader
	typed  io.WriteCloser
	done   chan int
	opened string // what the browser was started with
	page   string // the file as the browser saw it
}

func startConsole(t *testing.T, data string) *consoleRun {
	t.Helper()
	dir := t.TempDir()
	r := &consoleRun{done: make(chan int, 1), opened: filepath.Join(dir, "opened"), page: filepath.Join(dir, "page")}
	script := "#!/bin/sh\nstat -c '%a' \"$1\" >" + r.page + ".mode\ncp \"$1\" " + r.page + "\necho \"$@\" >" + r.opened + "\n"
	if err := os.WriteFile(filepath.Join(dir, "browser"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BROWSER", filepath.Join(dir, "browser"))
	in, typed := io.Pipe()
	out, said := io.Pipe()
	r.lines, r.typed = bufio.NewReader(out), typed
	go func() {
		r.done <- run(t.Context(), []string{"console", "--data", data}, in, said, io.Discard)
		_ = said.Close() // the test reads to the end
	}()
	return r
}

// until reads what the command says up to a word.
func (r *consoleRun) until(t *testing.T, word string) string {
	t.Helper()
	var b strings.Builder
	for !strings.Contains(b.String(), word) {
		c, err := r.lines.ReadByte()
		if err != nil {
			t.Fatalf("it said only %q", b.String())
		}
		b.WriteByte(c)
	}
	return b.String()
}

func waitFor(t *testing.T, file string) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if raw, err := os.ReadFile(file); err == nil && len(raw) > 0 {
			return string(raw)
		}
	}
	t.Fatalf("%s was never written", file)
	return ""
}

// CON-27
func TestTheConsoleIsOpenedByAPrivateFile(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		code   int
		want   string
	}{
		"the digits match":         {"y\n", exitOK, "Questions"},
		"they do not":              {"n\n", exitUsage, "Sign in to Tidemark"},
		"nothing is a no":          {"\n", exitUsage, "Sign in to Tidemark"},
		"something else is a no":   {"47\n", exitUsage, "Sign in to Tidemark"},
		"the end of input is a no": {"", exitUsage, "Sign in to Tidemark"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, t.TempDir())
			r := startConsole(t, s.data)
			said := r.until(t, "good for a minute")
			opened := waitFor(t, r.opened)
			page, mode := waitFor(t, r.page), strings.TrimSpace(waitFor(t, r.page+".mode"))
			_, code, _ := strings.Cut(page, "/console/login#")
			code, _, _ = strings.Cut(code, `"`)
			if mode != "600" || len(code) < 20 || strings.Contains(opened, code) || strings.Contains(said, code) {
				t.Fatalf("mode %s; started with %q; said %q", mode, opened, said)
			}
			jar, err := cookiejar.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			browser := &http.Client{Jar: jar}
			base := strings.Replace(s.base, "127.0.0.1", "localhost", 1)
			visit(t, browser, http.MethodPost, base+"/console/login", url.Values{"code": {code}}, "Compare the digits")
			r.until(t, "[y/N] ")
			if _, err := io.WriteString(r.typed, c.answer); err != nil {
				t.Fatal(err)
			}
			_ = r.typed.Close()
			go func() { _, _ = io.Copy(io.Discard, r.lines) }()
			if got := <-r.done; got != c.code {
				t.Errorf("ended with %d", got)
			}
			visit(t, browser, http.MethodGet, base+"/console/", nil, c.want)
		})
	}
}

// visit is one step of a browser, and what the page must say.
func visit(t *testing.T, browser *http.Client, method, address string, form url.Values, want string) {
	t.Helper()
	if status, body := browse(t, browser, method, address, form); !strings.Contains(body, want) {
		t.Errorf("%s: %d: %s", address, status, body)
	}
}

// browse is one step of a browser, and what the page says.
func browse(t *testing.T, browser *http.Client, method, address string, form url.Values) (status int, page string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	res, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestTheConsoleNeedsAServer(t *testing.T) {
	data := t.TempDir()
	_, stderr, code := command(t, "console", "--data", data)
	if code != exitUsage || !strings.Contains(stderr, "tidemark serve") {
		t.Errorf("%d: %s", code, stderr)
	}
	s := startServer(t, data)
	if _, stderr, code := command(t, "console", "forget-keys", "--data", s.data); code != exitUsage || !strings.Contains(stderr,
		"stop it first") {
		t.Errorf("%d: %s", code, stderr)
	}
	if _, stderr, code := command(t, "console", "--role", "agent", "--data", s.data); code != exitUsage ||
		!strings.Contains(stderr, "no role") {
		t.Errorf("%d: %s", code, stderr)
	}
}

// CON-24
func TestWithoutAServerNothingIsDoneThatTakesAProof(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	if err := s.hook(t.Context(), "s", "message_received", map[string]any{"content": "hello"}, nil); err != nil {
		t.Fatal(err)
	}
	s.kill()
	file := filepath.Join(data, "tidemark.yaml")
	if err := os.WriteFile(file, []byte("approvals:\n  proof: passkey\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := command(t, "reset-trust", "s", "--data", data); code != exitUsage || !strings.Contains(stderr, "takes a proof") {
		t.Errorf("%d: %s", code, stderr)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := command(t, "reset-trust", "s", "--data", data); code != exitOK {
		t.Errorf("where none is required: %d: %s", code, stderr)
	}
}
