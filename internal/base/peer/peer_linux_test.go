package peer_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/peer"
)

// speak has a process of its own connect, by a shell's command line, and returns what the server sees.
func speak(t *testing.T, b *peer.Book, line string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", strings.ReplaceAll(line, "SOCKET", path))
	cmd.Env = append(os.Environ(), "PEER_TEST="+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	got := b.Agent(peer.With(context.Background(), conn), false)
	_ = conn.Close()
	_ = cmd.Wait()
	return got
}

// TestMain is the hook of the test: it connects, and waits until it was looked at.
func TestMain(m *testing.M) {
	path := os.Getenv("PEER_TEST")
	if path == "" {
		os.Exit(m.Run())
	}
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", path)
	if err != nil {
		os.Exit(1)
	}
	_, _ = conn.Read(make([]byte, 1))
}

// A hook is known by the process that started it; a script that the agent runs, and its children, are not the agent.
func TestAHookIsKnownByWhatStartedIt(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var b peer.Book
	own := speak(t, &b, self+"; true # "+peer.HookProgram)
	if own == "" || own != speak(t, &b, "exec "+self) {
		t.Fatalf("the hook is of %q and, without a shell, of another", own)
	}
	for name, line := range map[string]string{
		"a command":             self + "; true",
		"a script's child":      "/bin/sh -c '" + self + "; true'; true # " + peer.HookProgram,
		"one that let go of it": "(" + self + " &) ; sleep 0.2; true # " + peer.HookProgram,
	} {
		if got := speak(t, &b, line); got == own {
			t.Errorf("%s is taken for the agent's hook", name)
		}
	}
	if b.Follows(own, own) {
		t.Error("a process that lives has ended")
	}
}

// A reader is known by the word that it was given and by its descent: its children are it, also while it is being started, and nobody
// else with the same word is, nor it with another.
func TestAReaderIsItsWordAndItsDescent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := peer.Book{Children: peer.Children{Folder: filepath.Join(t.TempDir(), "readers")}}
	path := filepath.Join(t.TempDir(), "s")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	speaker := func() (*exec.Cmd, context.Context) {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", self+"; true")
		cmd.Env = append(os.Environ(), "PEER_TEST="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = conn.Close(), cmd.Wait() })
		return cmd, peer.With(context.Background(), conn)
	}
	child, err := b.Children.Expect()
	if err != nil {
		t.Fatal(err)
	}
	cmd, reader := speaker()
	soon := make(chan bool)
	go func() { soon <- b.Reads(reader, child.Word) }()
	if err := child.Started(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if !<-soon {
		t.Error("a child of the reader is not known")
	}
	_, other := speaker()
	for name, got := range map[string]bool{
		"another process": b.Reads(other, child.Word), "another word": b.Reads(reader, "x"), "no word": b.Reads(reader, ""),
		"another folder": (&peer.Book{}).Reads(reader, child.Word), "no process": b.Reads(t.Context(), child.Word),
	} {
		if got {
			t.Errorf("%s is taken for the reader", name)
		}
	}
	child.Ended()
	if b.Reads(reader, child.Word) {
		t.Error("its word counts when it is over")
	}
}
