package main

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What an agent ran yesterday can be read: a line per event, newest first, with the arguments
// where the policy has them kept, and never a secret.
func TestTheLogIsReadLineByLine(t *testing.T) {
	data := t.TempDir()
	writeFile(t, filepath.Join(data, "tidemark.yaml"), "record: {arguments: redacted}\n")
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
	ran := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `exec {"command":"ls -la /work"}`) })
	if ran < 0 || !strings.Contains(lines[ran], " allowed ") {
		t.Errorf("what ran is not told:\n%s", out)
	}
	if strings.Contains(out, "ghp_0123456789") {
		t.Errorf("a secret is in the log:\n%s", out)
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
