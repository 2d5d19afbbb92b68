package pipe_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// Both sides number from 0, and numbers are not their texts. The server answers in any order, some twice, and some that
// nobody asked for.
// MCP-35
func TestManyCallsAtOnceAreAnsweredEachByItsOwn(t *testing.T) {
	const each = 32
	w := mcptest.New(t, "trustRules:\n  - {name: mine, tools: [\"pages__*\"], trust: local}\n")
	r := (&agent{TB: t, port: w.Engine}).start("pages", command(t, "shuffle", strconv.Itoa(2*each)))
	want := map[string]string{}
	for i := range each {
		want[strconv.Itoa(i)], want[strconv.Quote(strconv.Itoa(i))] = fmt.Sprintf("n%d", i), fmt.Sprintf("t%d", i)
	}
	ids := make([]string, 0, len(want))
	for id := range want {
		ids = append(ids, id)
	}
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	go func() {
		for _, id := range ids {
			_, _ = fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"echo","arguments":{"say":%q}}}`+"\n", id, want[id])
		}
	}()
	lines := bufio.NewScanner(r.out)
	for range ids {
		if !lines.Scan() {
			t.Fatalf("%d calls are not answered; %s", len(want), r.errOut)
		}
		var got struct {
			ID     strictjson.Value `json:"id"`
			Result struct {
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"result"`
		}
		if err := strictjson.Unmarshal(lines.Bytes(), &got); err != nil || len(got.Result.Content) != 1 || got.Result.Content[0].Text != want[string(got.ID)] {
			t.Fatalf("got %s, %v; want %q", lines.Bytes(), err, want[string(got.ID)])
		}
		delete(want, string(got.ID))
	}
	// Nothing more came: what the server says next is the next answer.
	if _, err := fmt.Fprintln(r.in, `{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"echo","arguments":{"say":"last"}}}`); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || !strings.Contains(lines.Text(), `"id":"last"`) {
		t.Errorf("after all of them: got %s", lines.Text())
	}
}

// children are the processes that this one has started, and that are still there, dead or alive.
func children(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(files) == 0 {
		t.Skip("this system does not say which processes somebody started")
	}
	var out []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			continue // a thread that has ended
		}
		out = append(out, strings.Fields(string(raw))...)
	}
	return out
}

// Some servers end with their input, some are told to, some die; each leaves something behind.
// MCP-33
func TestManyServersStartAndEndAndLeaveNothing(t *testing.T) {
	const times = 200
	(&mcptest.World{TB: t}).Eventually("the servers of other tests are gone", func() bool { return len(children(t)) == 0 })
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	w := mcptest.New(t, "")
	a := &agent{TB: t, port: w.Engine}
	run := func(script string) {
		r := a.start("x", []string{"sh", "-c", "sleep 300 2>/dev/null & " + script})
		if !strings.HasPrefix(script, "exit") {
			_ = r.in.Close()
		}
		<-r.ended
		_, _ = r.in.Close(), r.out.Close()
	}
	run("cat >/dev/null")
	goroutines, open := runtime.NumGoroutine(), files()
	for i := range times {
		run([]string{"cat >/dev/null", "exit 3", "kill -9 $$", "read line; exit 0"}[i%4])
	}
	(&mcptest.World{TB: t}).Eventually("everything is gone", func() bool {
		return len(children(t)) == 0 && runtime.NumGoroutine() <= goroutines+4 && files() <= open+4
	})
	if left, err := filepath.Glob("/proc/[0-9]*/cmdline"); err == nil {
		for _, f := range left {
			if raw, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(raw), "sleep\x00300\x00") && isOurs(f) {
				t.Errorf("%s is still there: %q", f, raw)
			}
		}
	}
}

// isOurs reports whether a process has our working folder: what was left behind has nobody as its parent.
func isOurs(cmdline string) bool {
	at, err := os.Readlink(filepath.Join(filepath.Dir(cmdline), "cwd"))
	here, _ := os.Getwd()
	return err == nil && at == here
}
