//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// itself is the program under test with these arguments.
func itself(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "TIDEMARK_TEST_MAIN=1")
	return cmd
}

// interrupt presses Ctrl-C.
func interrupt(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

// wantStopped waits for a command that was stopped: it must say so in a word, with the code shells know.
func wantStopped(t *testing.T, cmd *exec.Cmd, said *bytes.Buffer) {
	t.Helper()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitStopped || said.String() != "tidemark: stopped\n" {
		t.Errorf("got %v and %q, want exit code %d and one word", err, said.String(), exitStopped)
	}
}

// listened starts a command and reads its standard output.
func listened(t *testing.T, cmd *exec.Cmd) *bufio.Scanner {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return bufio.NewScanner(out)
}

// A program that waits for what never comes is ended by a second signal.
func TestASecondSignalEndsTheProgram(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "tidemark.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := itself("check", pipe)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the program reads
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} { // two kinds: two of one kind could be taken for one
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(said.String(), "stopped at once") {
		t.Errorf("got %v and %q, want exit code %d and a reason", err, said.String(), exitUsage)
	}
}

// Ctrl-C is no failure: it is said in a word, with the code shells know.
func TestAStoppedCommandSaysSo(t *testing.T) {
	data := t.TempDir()
	startServer(t, data).kill() // makes a log
	cmd := itself("audit", "--follow", "--data", data)
	var said bytes.Buffer
	cmd.Stderr = &said
	log := startServer(t, data)
	if err := log.hook(t.Context(), "s", "message_received", map[string]any{"content": "hi"}, nil); err != nil {
		t.Fatal(err)
	}
	if !listened(t, cmd).Scan() {
		t.Fatal("it printed nothing")
	}
	interrupt(t, cmd)
	wantStopped(t, cmd, &said)
}

// A command that waits for input on standard input is stopped at once too, not only after the next line.
func TestACommandThatReadsIsStoppedAtOnce(t *testing.T) {
	for _, name := range []string{"replay", "annotate"} {
		t.Run(name, func(t *testing.T) {
			cmd := itself(name, "-", "--data", t.TempDir())
			var said bytes.Buffer
			cmd.Stderr = &said
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close() }()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := in.Write(bytes.Repeat([]byte{' '}, 1<<16+1)); err != nil { // more than a pipe holds: it reads
				t.Fatal(err)
			}
			interrupt(t, cmd)
			wantStopped(t, cmd, &said)
		})
	}
}

// A server that is asked to end says that it has, and that is no failure.
func TestAServerSaysThatItStopped(t *testing.T) {
	cmd := itself("serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--log-level", "error")
	var said []string
	for lines := listened(t, cmd); lines.Scan(); {
		said = append(said, lines.Text())
		if strings.HasPrefix(lines.Text(), "new tokens") { // the last it says of its start
			interrupt(t, cmd)
		}
	}
	if err := cmd.Wait(); err != nil || said[len(said)-1] != "stopped" {
		t.Errorf("got %v and %q, want exit code 0 and the word at the end", err, said)
	}
}

// What Ctrl-C means to a command that runs behind the proxy is that command's affair: it hears it, and nobody ends it for that. Its end
// is that of tidemark, as a shell tells it.
func TestACommandBehindTheProxyHeedsSignalsItself(t *testing.T) {
	start := func(script string) (*exec.Cmd, *bufio.Scanner) {
		cmd := itself("llm", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--", "sh", "-c", script)
		return cmd, listened(t, cmd)
	}
	cmd, said := start(`n=0; trap 'n=$((n+1)); echo heard $n' INT; echo ready; while [ $n -lt 3 ]; do sleep 0.1; done; exit 7`)
	for _, want := range []string{"ready", "heard 1", "heard 2", "heard 3"} {
		if !said.Scan() || said.Text() != want {
			t.Fatalf("it said %q, want %q", said.Text(), want)
		}
		interrupt(t, cmd)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("%v, want the command's own 7", cmd.ProcessState)
	}
	cmd, said = start(`echo ready; exec sleep 60`)
	if !said.Scan() {
		t.Fatal("it said nothing")
	}
	interrupt(t, cmd)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != exitStopped {
		t.Errorf("%v, want %d", cmd.ProcessState, exitStopped)
	}
}
