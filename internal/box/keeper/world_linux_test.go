package keeper_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/keeper"
)

// helpers are what this program is when a test starts it once more.
var helpers = map[string]func(){
	"client": func() { os.Exit(entry.Main(os.Args[1:], os.Stderr)) },
	"shell": func() {
		os.Exit(entry.Do(os.Getenv("DATA"), entry.Request{Do: entry.Shell, Session: os.Getenv("SESSION"), Dir: here()}, os.Stderr))
	},
	"keeper": func() {
		o := options(os.Getenv("DATA"), os.Getenv("HOME"), anything{os.Getenv("WS")})
		k, err := keeper.New(o)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("ready")
		if err := k.Serve(context.Background()); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	},
}

func here() []byte {
	dir, _ := os.Getwd()
	return []byte(dir)
}

func TestMain(m *testing.M) {
	box.Become()
	if f := helpers[os.Getenv("KEEPER_HELPER")]; f != nil {
		f()
		return
	}
	os.Exit(m.Run())
}

// ordinary is a user who owns nothing on any machine but what a test gives them.
const ordinary = 54322

// Everything holds for a user without rights as it does for root.
func TestAnOrdinaryUserHasTheSameKeeper(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("every test of this run is one of an ordinary user's: run them as root for both")
	}
	if testing.Short() {
		t.Skip("it runs all others once more")
	}
	dir := openFolder(t)
	tmp := filepath.Join(dir, "tmp")
	if err := errors.Join(os.Mkdir(tmp, 0o777), os.Chown(tmp, ordinary, ordinary)); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "keeper.test")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.v", "-test.timeout=10m")
	cmd.Dir = tmp
	cmd.Env = append(os.Environ(), "HOME="+tmp, "TMPDIR="+tmp, "USER=ordinary")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "keep-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// book is a monitor of which tests know what it was asked.
type book struct {
	mu      sync.Mutex
	tickets map[string]keeper.Grant // by ticket and hash
	ended   []keeper.Ended
}

func (b *book) Redeem(_ context.Context, t keeper.Ticket) (keeper.Grant, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, ok := b.tickets[t.Ticket+t.Command]
	if !ok {
		return g, &keeper.Refusal{Reason: "nobody gave it"}
	}
	delete(b.tickets, t.Ticket+t.Command)
	return g, nil
}

func (b *book) tell(_ context.Context, e keeper.Ended) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = append(b.ended, e)
	return nil
}

// anything gives leave to every ticket: a session of that name in one workspace.
type anything struct{ ws string }

func (a anything) Redeem(_ context.Context, t keeper.Ticket) (keeper.Grant, error) {
	return keeper.Grant{Session: t.Ticket, Workspace: a.ws}, nil
}

func options(data, home string, r keeper.Redeemer) keeper.Options {
	return keeper.Options{
		Data: data, Home: home, Redeemer: r, Say: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
		Take: func(string, string) (keeper.Snapshot, error) { return keeper.Snapshot{}, nil },
	}
}

// world is a home with a workspace and a keeper.
type world struct {
	t                   *testing.T
	dir, home, ws, data string
	env                 []string
	book                *book
	stop                func()
	n                   int
}

func newWorld(t *testing.T, change func(*keeper.Options)) *world {
	t.Helper()
	w := &world{t: t, dir: openFolder(t), book: &book{tickets: map[string]keeper.Grant{}}}
	w.home, w.data = filepath.Join(w.dir, "home"), filepath.Join(w.dir, "home", ".local", "share", "tidemark")
	w.ws = filepath.Join(w.home, "src", "site")
	for name, text := range map[string]string{
		".ssh/id_ed25519": "SECRET-ssh\n", "src/site/a.txt": "a\n", "src/site/.github/workflows/ci.yml": "on: push\n", "src/other/b.txt": "b\n",
	} {
		w.put(filepath.Join(w.home, name), text)
	}
	if err := errors.Join(os.MkdirAll(w.data, 0o700), os.Mkdir(filepath.Join(w.ws, ".git"), 0o755)); err != nil {
		t.Fatal(err)
	}
	w.env = []string{"HOME=" + w.home, "LANG=C.UTF-8", "TERM=xterm", "PATH=/usr/local/bin:/usr/bin:/bin", "GITHUB_TOKEN=SECRET-env", "SHELL=/bin/bash"}
	w.needsBoxes()
	o := options(w.data, w.home, w.book)
	o.Ended = w.book.tell
	if change != nil {
		change(&o)
	}
	w.keep(o)
	return w
}

// needsBoxes skips the test on a machine that has none.
func (w *world) needsBoxes() {
	w.t.Helper()
	b, err := box.Open(box.Want{Workspace: w.ws, Home: w.home, State: filepath.Join(w.dir, "try"), Env: w.env})
	var lack *box.Lack
	if errors.As(err, &lack) {
		w.t.Skip(err)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := b.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(path, text string) {
	w.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

// keep has a keeper serve until the test ends, or stop is called.
func (w *world) keep(o keeper.Options) {
	w.t.Helper()
	k, err := keeper.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := k.Serve(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	w.stop = func() { cancel(); <-done }
	w.t.Cleanup(w.stop)
}

// ticket gives leave to run a line in a session.
func (w *world) ticket(session, line string, change ...func(*keeper.Grant)) string {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	w.n++
	g := keeper.Grant{Session: session, Call: strconv.Itoa(w.n), Workspace: w.ws}
	for _, f := range change {
		f(&g)
	}
	sum := sha256.Sum256([]byte(line))
	name := fmt.Sprintf("%032x", w.n)
	w.book.tickets[name+hex.EncodeToString(sum[:])] = g
	return name
}

// client is the small program with a ticket and a line.
func (w *world) client(ticket, line string) *exec.Cmd {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(self, "--data", w.data, ticket, "--", line)
	cmd.Dir, cmd.Env = w.ws, append(w.env, "KEEPER_HELPER=client")
	return cmd
}

// run has a line run in a session's box.
func (w *world) run(session, line string) (int, string) {
	w.t.Helper()
	cmd := w.client(w.ticket(session, line), line)
	return finish(w.t, cmd)
}

// finish runs a program and takes in what it says. What is left running in the box may hold its output.
func finish(t *testing.T, cmd *exec.Cmd) (int, string) {
	t.Helper()
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = wr, wr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = wr.Close()
	var out bytes.Buffer
	done := make(chan struct{})
	go func() { _, _ = io.Copy(&out, r); close(done) }()
	_ = cmd.Wait()
	_ = r.SetReadDeadline(time.Now().Add(2 * time.Second))
	<-done
	return cmd.ProcessState.ExitCode(), out.String()
}

// until waits for something that must come true.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: it never came true", what)
		}
	}
}
