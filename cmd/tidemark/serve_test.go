package main

import (
	"bufio"
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
