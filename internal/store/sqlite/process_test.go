package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

// appendVariable holds the path of the log this test binary is to append to.
const appendVariable = "TIDEMARK_TEST_APPEND"

// command is this test binary, to be run with a variable set.
func command(t *testing.T, variable, value string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), variable+"="+value)
	return cmd
}

// The append program: some goroutines append steps of three events to a session each
// and write a line for every step that was acknowledged, until somebody kills them.
const (
	appenders = 8
	stepSize  = 3
)

var padding = strings.Repeat(".", 500)

func crashSession(appender int) string { return fmt.Sprint("crash ", appender) }

func appendProgram(path string) int {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var all sync.WaitGroup
	for i := range appenders {
		all.Go(func() { appendForever(ctx, s, i) })
	}
	all.Wait()
	return 1 // only reached on an error
}

func appendForever(ctx context.Context, s *sqlite.Store, appender int) {
	session, seq := crashSession(appender), 0
	for _, err := range s.Load(ctx, session, 0) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		seq++
	}
	for ; ; seq += stepSize {
		if err := s.Append(ctx, session, uint64(seq), storetest.Events(session, seq, stepSize)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		// One write, so that lines do not mix; a long one, so that a pipe nobody reads is soon full.
		fmt.Fprintf(os.Stdout, "%d %d %s\n", appender, seq+stepSize, padding)
	}
}

// acknowledged reads lines of the append program until there were limit of them, or to
// the end, and keeps the highest number of each appender.
func acknowledged(t *testing.T, out *bufio.Reader, acks map[int]int, limit int) {
	t.Helper()
	for n := 0; limit < 0 || n < limit; n++ {
		line, err := out.ReadString('\n')
		if err == io.EOF {
			return // a line cut short was not acknowledged
		}
		if err != nil {
			t.Fatal(err)
		}
		var appender, seq int
		if _, err := fmt.Sscan(strings.TrimSpace(line), &appender, &seq); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		acks[appender] = max(acks[appender], seq)
	}
}
