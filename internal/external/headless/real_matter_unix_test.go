//go:build unix

package headless_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/headless"
)

// provider is a scripted one on loopback that all programs reach, and what it does to whoever asks.
type provider struct {
	url   string
	does  atomic.Pointer[func(w http.ResponseWriter, r *http.Request)] // nil: it answers
	asked atomic.Int32

	mu   sync.Mutex
	sent []string // guarded by mu; what it was asked
}

// bodies are what it was asked.
func (p *provider) bodies() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// keep notes what it is asked, and leaves it to be read.
func (p *provider) keep(r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever reads it next finds that too
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, string(raw))
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	var script http.Handler
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if headless.Asks(r.URL.Path) && r.Method == http.MethodPost {
			p.asked.Add(1)
			p.keep(r)
			if does := p.does.Load(); does != nil {
				(*does)(w, r)
				return
			}
		}
		script.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	p.url, script = srv.URL, headless.Scripted(srv.URL)
	return p
}

// loggedIn is the real program as its owner has it: it reaches its provider by itself. A trial of it says where else to go.
func (p *provider) loggedIn(t *testing.T, r *headless.Recipe, real, home string) string {
	t.Helper()
	text := "#!/bin/sh\n"
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": p.url, "ANTHROPIC_API_KEY": "sk-ant-api03-none", "GOOGLE_GEMINI_BASE_URL": p.url, "GEMINI_API_KEY": "none",
	} {
		text += "export " + name + "=\"${" + name + ":-" + value + "}\"\n"
	}
	if r.Name == "codex" {
		if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".codex", "auth.json"), []byte(`{"OPENAI_API_KEY":"none"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		text += `case "$*" in *tm.base_url*) ;; *model_provider=*tm*) first=$1; shift; set -- "$first" -c 'model_providers.tm.base_url="` +
			p.url + `/v1"' "$@" ;; esac` + "\n"
	}
	if r.Name == "opencode" {
		text += "[ -n \"$OPENCODE_CONFIG_CONTENT\" ] || OPENCODE_CONFIG_CONTENT='{\"provider\":{\"anthropic\":{\"options\":{\"baseURL\":\"" +
			p.url + "/v1\"}}}}'\nexport OPENCODE_CONFIG_CONTENT\n"
	}
	path := filepath.Join(t.TempDir(), r.Binary)
	if err := os.WriteFile(path, []byte(text+"exec '"+real+"' \"$@\"\n"), 0o700); err != nil { // it is a program
		t.Fatal(err)
	}
	return path
}

// says is a wire's answer that is a text and no more, or what is said beside one.
func says(body string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		switch {
		case strings.HasSuffix(r.URL.Path, "/messages"):
			stop := map[bool]string{true: "refusal", false: "end_turn"}[body == ""]
			fmt.Fprintf(w, "event: message_start\ndata: %s\n\n", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`)
			if body != "" {
				fmt.Fprintf(w, "event: content_block_start\ndata: %s\n\n", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
				fmt.Fprintf(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%q}}\n\n", body)
				fmt.Fprintf(w, "event: content_block_stop\ndata: %s\n\n", `{"type":"content_block_stop","index":0}`)
			}
			fmt.Fprintf(w, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":%q,\"stop_sequence\":null},\"usage\":{\"output_tokens\":1}}\n\n", stop)
			fmt.Fprintf(w, "event: message_stop\ndata: %s\n\n", `{"type":"message_stop"}`)
		case strings.HasSuffix(r.URL.Path, "/responses"):
			part := fmt.Sprintf(`{"type":"output_text","text":%q}`, body)
			if body == "" {
				part = `{"type":"refusal","refusal":"no"}`
			}
			fmt.Fprintf(w, "event: response.created\ndata: %s\n\n", `{"type":"response.created","response":{"id":"r"}}`)
			fmt.Fprintf(w, "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"role\":\"assistant\",\"id\":\"m\",\"content\":[%s]}}\n\n", part)
			fmt.Fprintf(w, "event: response.completed\ndata: %s\n\n", `{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}`)
		default:
			parts, finish := fmt.Sprintf(`{"text":%q}`, body), "STOP"
			if body == "" {
				parts, finish = "", "SAFETY"
			}
			fmt.Fprintf(w, "data: {\"candidates\":[{\"index\":0,\"finishReason\":%q,\"content\":{\"role\":\"model\",\"parts\":[%s]}}]}\n\n", finish, parts)
		}
	}
}

func status(code int) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"x","code":%d,"message":"no"}}`, code)
	}
}

// matters are what may become of a question, and how often a provider may be asked for it at most.
var matters = map[string]struct {
	does func(w http.ResponseWriter, r *http.Request)
	most int32
}{
	"refused":       {says(""), 6}, // one that is held to a form asks for it again
	"garbage":       {says("They want a mail, I think."), 6},
	"not logged in": {status(http.StatusUnauthorized), 6}, // a token is refreshed in between
	"rate limited":  {status(http.StatusTooManyRequests), 2},
	"cut off": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: message_start\ndata: {\"type\":")
		panic(http.ErrAbortHandler)
	}, 6},
}

// MAN-12: the real programs, in every way in which a provider answers and fails. An answer is used; everything else is no contract, and
// whatever happens nothing of it runs on, nothing is left behind and the words are in no list of processes.
func TestTheRealProgramsInEveryMatter(t *testing.T) {
	for _, name := range headless.Names() {
		t.Run(name, func(t *testing.T) {
			p, up, folder := realProgram(t, name)
			r, _ := headless.Find(name)
			everyMatter(t, p, up, folder, r.Retries)
		})
	}
}

// question is one that is in no list of processes.
func question(n int) auditor.Prompt {
	return auditor.Prompt{System: "instructions-7\nAnswer with one JSON object.", User: fmt.Sprintf("words-7-%d Mail Petra", n), Schema: intent.ContractSchema}
}

func everyMatter(t *testing.T, p *headless.Program, up *provider, folder string, retries bool) {
	clean := func(when string) {
		t.Helper()
		if left, _ := filepath.Glob(filepath.Join(folder, "run-*")); len(left) > 0 {
			t.Errorf("%s: left behind %v", when, left)
		}
		if who := running(folder); who != "" {
			t.Errorf("%s: still running: %s", when, who)
		}
	}
	for name, m := range matters {
		up.does.Store(&m.does)
		up.asked.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		got, err := p.Ask(ctx, question(1))
		if err == nil {
			_, err = intent.ParseContract(got.Text, nil)
		}
		if err == nil {
			t.Errorf("%s: %q is taken for a contract", name, got.Text)
		}
		if n := up.asked.Load(); n == 0 || n > m.most || ctx.Err() != nil && !retries {
			t.Errorf("%s: it asked %d times, at most %d are expected; %v", name, n, m.most, ctx.Err())
		}
		cancel()
		clean(name)
	}
	up.does.Store(nil)
	if got, err := p.Ask(t.Context(), question(2)); err != nil || !strings.Contains(got.Text, "items") {
		t.Errorf("answered: %+v, %v", got, err)
	}
	clean("answered")
	late(t, p, up, folder)
	clean("late and killed")
	up.does.Store(nil)
	many := 20
	if n, err := strconv.Atoi(os.Getenv("HEADLESS_MANY")); err == nil {
		many = n // Gemini CLI takes three seconds of a processor to start
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2) // so many a server has
	for n := range many {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if got, err := p.Ask(t.Context(), question(100+n)); err != nil || !strings.Contains(got.Text, "items") {
				t.Errorf("one of twenty: %+v, %v", got, err)
			}
		})
	}
	wg.Wait()
	clean("twenty at once")
}

// late asks somebody who does not answer: once until nobody waits any more, once until the program is killed.
func late(t *testing.T, p *headless.Program, up *provider, folder string) {
	t.Helper()
	for _, killed := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		come := make(chan struct{}, 8)
		hold := func(_ http.ResponseWriter, r *http.Request) {
			come <- struct{}{}
			select {
			case <-r.Context().Done():
			case <-t.Context().Done():
			}
		}
		up.does.Store(&hold)
		ended := make(chan error, 1)
		go func() {
			_, err := p.Ask(ctx, question(3))
			ended <- err
		}()
		<-come
		if who := speaks("words-7-3"); who != "" {
			t.Errorf("the words stand in the command line or environment of %s", who)
		}
		if where := exposed(filepath.Dir(folder), "words-7-3"); len(where) > 0 {
			t.Errorf("others can read %v", where)
		}
		if killed {
			for _, pid := range pidsIn(folder) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone with the first
			}
		} else {
			cancel()
		}
		if err := <-ended; err == nil {
			t.Errorf("killed %v: it answered", killed)
		}
		cancel()
	}
}

// pidsIn are the processes that work below a folder.
func pidsIn(folder string) []int {
	var out []int
	list, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range list {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, folder) {
			var pid int
			if _, err := fmt.Sscanf(link, "/proc/%d/cwd", &pid); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}

func running(folder string) string {
	for range 100 { // the kernel may take a moment to end what was killed
		if len(pidsIn(folder)) == 0 {
			return ""
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Sprint(pidsIn(folder))
}

// exposed are the files below a folder that hold a text and that others can read: none of the folders above them is closed, and their own
// mode lets them.
func exposed(folder, text string) []string {
	var out []string
	open := map[string]bool{} // folders that others can enter
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it went while we looked
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		mode := info.Mode().Perm()
		reached := path == folder || open[filepath.Dir(path)]
		open[path] = e.IsDir() && reached && (path == folder || mode&0o011 != 0)
		if e.Type().IsRegular() && reached && mode&0o044 != 0 {
			if raw, err := os.ReadFile(path); err == nil && strings.Contains(string(raw), text) {
				out = append(out, path)
			}
		}
		return nil
	})
	return out
}

func TestWhatOthersCanReadIsFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		dir, file fs.FileMode
		found     int
	}{
		"open": {0o755, 0o644, 1}, "for a group": {0o710, 0o640, 1}, "a closed folder": {0o700, 0o644, 0}, "a closed file": {0o755, 0o600, 0},
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "dir")
		file := filepath.Join(dir, "deeper", "file")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("some words"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chmod(file, tt.file), os.Chmod(dir, tt.dir)); err != nil {
			t.Fatal(err)
		}
		if got := exposed(root, "words"); len(got) != tt.found {
			t.Errorf("%s: found %v, want %d", name, got, tt.found)
		}
	}
}

// speaks is the process whose command line or environment holds a text; "": none.
func speaks(text string) string {
	for _, what := range []string{"cmdline", "environ"} {
		list, _ := filepath.Glob("/proc/[0-9]*/" + what)
		for _, file := range list {
			if raw, err := os.ReadFile(file); err == nil && strings.Contains(string(raw), text) {
				return file
			}
		}
	}
	return ""
}
