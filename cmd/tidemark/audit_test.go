package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What an agent ran yesterday can be read without any setting: a line per event, newest first, with what was done, and never a
// secret. Who has the log and not the key of the data folder reads no command.
func TestTheLogIsReadLineByLine(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.hook(t.Context(), "one", "message_received", map[string]any{"content": "look at the page"}, nil))
	run := func(session, command string) {
		must(s.hook(t.Context(), session, "before_tool_call", map[string]any{"toolName": "exec", "params": map[string]any{"command": command}}, nil))
	}
	run("one", "ls -la /work")
	run("one", "login --password hunter2hunter2 --token ghp_0123456789abcdefghijklmnopqrstuvwxyz")
	must(s.hook(t.Context(), "two", "message_received", map[string]any{"content": "hello"}, nil))

	out, errOut, code := command(t, "audit", "--data", data)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitOK || len(lines) < 4 || !strings.Contains(lines[0], " two ") || !strings.Contains(lines[len(lines)-1], " one ") {
		t.Fatalf("exit %d, %q, %q; want the newest first", code, out, errOut)
	}
	ran := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `exec Run “ls -la /work”`) })
	if ran < 0 || !strings.Contains(lines[ran], " allowed ") {
		t.Errorf("what ran is not told:\n%s", out)
	}
	if strings.Contains(out, "ghp_0123456789") {
		t.Errorf("a secret is in the log:\n%s", out)
	}
	if out, _, _ := command(t, "sessions", "one", "--data", data); !strings.Contains(out, "allowed exec Run “ls -la /work”") {
		t.Errorf("the session does not tell what ran:\n%s", out)
	}
	if out, _, _ := command(t, "audit", "--data", data, "--text", "LS -la"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "ls -la /work") {
		t.Errorf("by a text that is sealed: got\n%s", out)
	}
	if raw := folderText(t, data); strings.Contains(raw, "ls -la /work") {
		t.Error("a command stands in the log for who has no key")
	}
	if out, _, _ := command(t, "audit", "--data", data, "--session", "two"); strings.Count(out, "\n") != 1 {
		t.Errorf("one session: got\n%s", out)
	}
	if out, _, _ := command(t, "audit", "--data", data, "--kind", "call.decided", "--limit", "1"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "login") {
		t.Errorf("the newest decision: got\n%s", out)
	}
	if out, _, _ := command(t, "audit", "--data", data, "--after", "1", "--limit", "1", "--json"); !strings.Contains(out, `"id": 2`) {
		t.Errorf("the page after the first record: got\n%s", out)
	}
}

// --follow tells what happens while it happens.
func TestTheLogCanBeFollowed(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	if err := s.hook(t.Context(), "before", "message_received", map[string]any{"content": "one"}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"audit", "--follow", "--data", data}, strings.NewReader(""), in, io.Discard)
		_ = in.Close()
	}()
	said, lines := "", bufio.NewScanner(out)
	for lines.Scan() {
		said += lines.Text() + "\n"
		if strings.Contains(lines.Text(), " before ") {
			if err := s.hook(t.Context(), "after", "message_received", map[string]any{"content": "two"}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(lines.Text(), " after ") {
			cancel()
		}
	}
	if code := <-done; !strings.Contains(said, " after ") || code == exitOK {
		t.Errorf("exit %d, it printed\n%s", code, said)
	}
}

func TestAuditRefusesWhatDoesNotExist(t *testing.T) {
	for _, args := range [][]string{{"--kind", "call.decide"}, {"--limit", "0"}, {"--limit", "-5"}, {"--limit", "200000"}, {"--after", "-1"}} {
		if _, errOut, code := command(t, append([]string{"audit", "--data", t.TempDir()}, args...)...); code != exitUsage || !strings.Contains(errOut, args[0]) {
			t.Errorf("%q: exit %d, %q; want a refusal that names the flag", args, code, errOut)
		}
	}
}

// Where a server runs the log is read at its route, and else in the file; both print the same.
func TestTheLogIsReadAtTheServer(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	for i := range 3 {
		session := string(rune('a' + i))
		if err := s.hook(t.Context(), session, "message_received", map[string]any{"content": "<b>\"look\"</b> \u00e9\u2028 " + session}, nil); err != nil {
			t.Fatal(err)
		}
		call := map[string]any{"toolName": "exec", "params": map[string]any{"command": "ls -la /work && echo <" + session + ">"}}
		if err := s.hook(t.Context(), session, "before_tool_call", call, nil); err != nil {
			t.Fatal(err)
		}
	}
	asked := [][]string{
		{}, {"--json"}, {"--limit", "2"}, {"--session", "b"}, {"--kind", "call.decided", "--json"}, {"--after", "2"}, {"--after", "2", "--limit", "1", "--json"},
		{"--tool", "exec"}, {"--effect", "allow", "--from", "2020-01-01", "--to", "2100-01-01"}, {"--to", "2020-01-01"}, {"--text", "LOOK"}, {"--person", "nobody"},
		{"--text", "/WORK && echo"},
	}
	read := func() (out []string) {
		t.Helper()
		for _, args := range asked {
			text, errOut, code := command(t, append([]string{"audit", "--data", data}, args...)...)
			if code != exitOK {
				t.Fatalf("%q: exit %d, %s", args, code, errOut)
			}
			out = append(out, text)
		}
		return out
	}
	both := read()
	aside := t.TempDir()
	move := func(from, to string) {
		t.Helper()
		for _, name := range []string{"tidemark.db", "tidemark.db-wal", "tidemark.db-shm"} {
			if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	move(data, aside) // the server has it open, and nobody else can
	route := read()
	move(aside, data)
	s.end(t)
	for i, file := range read() {
		if route[i] != file || both[i] != file {
			t.Errorf("%q: the server's route says\n%s, the file\n%s", asked[i], route[i], file)
		}
	}
}

// A log that is followed at a server goes on when the server ends: in the file, and with what another server writes.
func TestFollowingOutlivesTheServer(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	say := func(s *server, session string) {
		t.Helper()
		if err := s.hook(t.Context(), session, "message_received", map[string]any{"content": "one"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	say(s, "before")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"audit", "--follow", "--data", data}, strings.NewReader(""), in, io.Discard)
		_ = in.Close()
	}()
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch said = append(said, lines.Text()); {
		case strings.Contains(lines.Text(), " before "):
			s.end(t)
			s = startServer(t, data)
			say(s, "after")
		case strings.Contains(lines.Text(), " after "):
			cancel()
		}
	}
	if <-done; len(said) < 2 || !strings.Contains(said[len(said)-1], " after ") {
		t.Errorf("it printed %q", said)
	}
}

// folderText is everything that the files of a log hold.
func folderText(t *testing.T, data string) string {
	t.Helper()
	var out []byte
	for _, name := range []string{"tidemark.db", "tidemark.db-wal"} {
		raw, err := os.ReadFile(filepath.Join(data, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		out = append(out, raw...)
	}
	return string(out)
}
