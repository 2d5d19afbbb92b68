package pipe_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// thinking is a port that decides nothing before it is let.
type thinking struct {
	judge.Port
	let chan struct{}
}

func (p thinking) Decide(ctx context.Context, a judge.Ask) (judge.Ruling, error) {
	select {
	case <-p.let:
		return p.Port.Decide(ctx, a)
	case <-ctx.Done():
		return judge.Ruling{}, ctx.Err()
	}
}

// While as many calls wait as may, a further one is refused at once, and what the client answers the server still
// arrives: otherwise a call that waits for that answer would never end.
// MCP-35
func TestWhenTooManyCallsWaitAnswersStillPass(t *testing.T) {
	const most = 256
	port := thinking{mcptest.New(t, "").Engine, make(chan struct{})}
	file := filepath.Join(t.TempDir(), "heard")
	r := (&agent{TB: t, port: port}).start("pages", []string{
		"sh", "-c", `echo '{"jsonrpc":"2.0","id":"s-1","method":"roots/list"}'; cat >"$1"`, "sh", file,
	})
	lines := bufio.NewScanner(r.out)
	if !lines.Scan() || !strings.Contains(lines.Text(), "roots/list") {
		t.Fatalf("the server's question did not come: %q", lines.Text())
	}
	for i := range most + 1 {
		if _, err := fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"look"}}`+"\n", i); err != nil {
			t.Fatal(err)
		}
	}
	if !lines.Scan() || !strings.Contains(lines.Text(), fmt.Sprintf(`"id":%d`, most)) || !strings.Contains(lines.Text(), "Too many calls wait at once") {
		t.Fatalf("got %q, want that the last call is refused", lines.Text())
	}
	const answer = `{"jsonrpc":"2.0","id":"s-1","result":{"roots":[]}}`
	if _, err := fmt.Fprintln(r.in, answer); err != nil {
		t.Fatal(err)
	}
	heard := func() string {
		raw, _ := os.ReadFile(file) // it is made when the server begins to read
		return string(raw)
	}
	for end := time.Now().Add(time.Minute); heard() != answer+"\n"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the server heard %q, want the answer", heard())
		}
	}
	close(port.let)
	for end := time.Now().Add(time.Minute); strings.Count(heard(), "tools/call") != most; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the server heard %d calls, want those that waited", strings.Count(heard(), "tools/call"))
		}
	}
	if strings.Contains(heard(), fmt.Sprintf(`"id":%d,`, most)) {
		t.Error("the call that was refused ran")
	}
}
