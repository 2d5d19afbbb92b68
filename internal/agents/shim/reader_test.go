package shim_test

import (
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/peer"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/policy"
)

// announced is where nobody listens: hooks come by the socket.
const announced = "http://127.0.0.1:9"

// seeing is a server that sees whose hooks speak, and the readers that it knows.
type seeing struct {
	*world
	readers peer.Children
	log     *memory.Store
}

func see(t *testing.T) *seeing {
	t.Helper()
	if !peer.Known {
		t.Skip("this system does not tell which process speaks")
	}
	w := &seeing{world: folder(t), readers: peer.Children{Folder: t.TempDir()}, log: &memory.Store{}}
	set, _ := policy.Parse("tidemark.yaml", nil)
	feed := notify.New(w.log)
	monitor, err := engine.New(engine.Options{Policy: set, Store: feed, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	api, err := httpapi.New(httpapi.Options{
		Monitor: monitor, Log: w.log, Feed: feed, Bus: hook.New(hook.Options{Logger: quiet}), Logger: quiet, Now: time.Now,
		Tokens: httpapi.Tokens{Agent: agentToken, Approver: "approver-token-0123456789", Admin: "admin-token-0123456789"},
		Peers:  &peer.Book{Children: w.readers}, At: func() string { return announced },
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: api.Handler(), ConnContext: peer.With, ReadHeaderTimeout: time.Minute}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", peer.Socket(w.data))
	if err == nil {
		err = os.Chmod(peer.Socket(w.data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Serve(l) // it is closed
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		<-ended
	})
	w.announce(announced)
	return w
}

// kinds and bodies are what the log has of a session.
func (w *seeing) kinds(session string) string {
	return w.of(session, func(e *store.Entry) string { return e.Kind })
}

func (w *seeing) bodies(session string) string {
	return w.of(session, func(e *store.Entry) string { return string(e.Body) })
}

func (w *seeing) of(session string, show func(*store.Entry) string) string {
	w.t.Helper()
	list, err := w.log.Since(w.t.Context(), store.EntryQuery{Session: "claude:" + session, Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for i := range list {
		out = append(out, show(&list[i]))
	}
	return strings.Join(out, " ")
}

func (w *seeing) tells(event, session, more string) printed {
	return w.run("claude", "", []byte(`{"hook_event_name":"`+event+`","session_id":"`+session+`","cwd":"`+w.data+`"`+more+`}`))
}

const (
	banned     = `,"prompt":"Never write to Bob."`
	calledBash = `,"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c1"`
	readPage   = `,"tool_name":"WebFetch","tool_input":{"url":"https://page.example"},"tool_response":"words of a page","tool_use_id":"c2"`
	structured = `,"tool_name":"StructuredOutput","tool_input":{"items":[]},"tool_use_id":"c3"`
)

// MAN-12: hooks fire in a program of ours that reads. Nothing of it is recorded, and it may call nothing but the tool by which it
// answers.
func TestAReaderIsKnownByItsWordAndItsDescent(t *testing.T) {
	w := see(t)
	child, err := w.readers.Expect()
	if err == nil {
		err = child.Started(os.Getpid()) // the hook of this test is part of it
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(peer.ReaderVariable, child.Word)
	for event, more := range map[string]string{"SessionStart": `,"source":"startup"`, "UserPromptSubmit": banned, "SessionEnd": ""} {
		if got := w.tells(event, "r", more); got.code != 0 || got.err != "" {
			t.Errorf("%s: %+v", event, got)
		}
	}
	for event, more := range map[string]string{"PreToolUse": structured, "PostToolUse": structured + `,"tool_response":"ok"`} {
		if got := w.tells(event, "r", more); refuses("claude", got) {
			t.Errorf("%s of the tool that it answers by: %+v", event, got)
		}
	}
	if got := w.tells("PreToolUse", "r", calledBash); !refuses("claude", got) || !strings.Contains(got.err, "what reads has no tools") {
		t.Errorf("a reader calls a tool: %+v", got)
	}
	if got := w.kinds("r"); got != "" {
		t.Errorf("the log has %q of a reader", got)
	}
	if left, _ := filepath.Glob(filepath.Join(w.data, "kin", "*")); len(left) > 0 {
		t.Errorf("it left %v behind", left)
	}
}

// Somebody who has read how readers are known: the variable alone, a word that is somebody else's or over, a session that is known
// already, and what was read are worth nothing to them.
//
// MAN-12
func TestWhoSaysToBeAReaderGainsNothing(t *testing.T) {
	for name, say := range map[string]func(t *testing.T, w *seeing) string{
		"a word that nobody gave": func(*testing.T, *seeing) string { return "ABCDEFGHIJKLMNOPQRSTUVWXYZ" },
		"the way to a note":       func(_ *testing.T, w *seeing) string { return "../" + filepath.Base(w.readers.Folder) },
		"the word of another process": func(t *testing.T, w *seeing) string {
			other := exec.CommandContext(t.Context(), "sleep", "600")
			child, err := w.readers.Expect()
			if err == nil {
				err = other.Start()
			}
			if err == nil {
				err = child.Started(other.Process.Pid)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = other.Process.Kill(), other.Wait() })
			return child.Word
		},
		"a word that is over": func(t *testing.T, w *seeing) string {
			child, err := w.readers.Expect()
			if err == nil {
				err = child.Started(os.Getpid())
			}
			if err != nil {
				t.Fatal(err)
			}
			child.Ended()
			return child.Word
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := see(t)
			t.Setenv(peer.ReaderVariable, say(t, w))
			if got := w.tells("SessionStart", "a", `,"source":"startup"`); !strings.Contains(got.out, "counts as nobody's") {
				t.Errorf("its person is told %+v", got)
			}
			w.tells("UserPromptSubmit", "a", banned)
			w.tells("PostToolUse", "a", readPage)
			if got := w.kinds("a"); !strings.Contains(got, "turn.began") || !strings.Contains(got, "result.seen") {
				t.Errorf("the log has %q", got)
			}
			if got := w.bodies("a"); !strings.Contains(got, "Never write to Bob") || strings.Contains(got, `"level":"owner"`) {
				t.Errorf("its words are an owner's: %s", got)
			}
		})
	}
}

// Whoever became a reader in between could hide what its owner forbids, and what it read.
//
// MAN-12
func TestASessionThatIsKnownIsNoReaders(t *testing.T) {
	w := see(t)
	w.tells("UserPromptSubmit", "k", `,"prompt":"Good morning."`)
	before := w.kinds("k")
	child, err := w.readers.Expect()
	if err == nil {
		err = child.Started(os.Getpid())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(peer.ReaderVariable, child.Word)
	w.tells("UserPromptSubmit", "k", banned)
	after := w.kinds("k")
	if strings.Count(after, "turn.began") != strings.Count(before, "turn.began")+1 {
		t.Errorf("what is said in a known session is not heard: %q, then %q", before, after)
	}
	w.tells("PostToolUse", "new", readPage)
	if got := w.kinds("new"); !strings.Contains(got, "result.seen") {
		t.Errorf("what a reader read is not heard: %q", got)
	}
}
