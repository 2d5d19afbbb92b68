package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What a server prints goes into journals and logs of containers: only a terminal is shown
// the tokens it made.
func TestAServerPrintsNoTokensIntoAPipe(t *testing.T) {
	for name, args := range map[string][]string{"in words": nil, "as JSON": {"--json"}} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], append([]string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0"}, args...)...)
			cmd.Env = append(os.Environ(), "TIDEMARK_TEST_MAIN=1")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			})
			said, lines := "", bufio.NewScanner(out)
			for lines.Scan() {
				said += lines.Text() + "\n"
				if strings.Contains(said, "tidemark token new") || lines.Text() == "}" || args != nil && strings.HasSuffix(lines.Text(), "}") {
					break
				}
			}
			if strings.Contains(said, "tm-") || !strings.Contains(said, "127.0.0.1") {
				t.Errorf("it printed %s", said)
			}
		})
	}
}

// A server says on its first lines which preset a file stands on, and what the file gives up.
func TestAServerSaysWhatAPolicyFileGivesUp(t *testing.T) {
	data := t.TempDir()
	writeFile(t, data+"/tidemark.yaml", "taintPolicy: {shared: allow}\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, strings.NewReader(""), in, io.Discard)
		_ = in.Close()
	}()
	said := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "console:") {
			cancel()
		}
	}
	if code := <-done; code != exitOK || !strings.Contains(said, "preset balanced") || !strings.Contains(said, "warning") || !strings.Contains(said, "switches the table of balanced off") {
		t.Errorf("exit %d, it printed\n%s", code, said)
	}
}
