package pipe_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// plain speaks to a relay line by line.
type plain struct {
	testing.TB
	*running
	lines *bufio.Reader
	log   string // what the server read
}

// scripted starts a relay before a server that answers each line it reads with one of the script's.
func scripted(t testing.TB, script ...string) *plain {
	t.Helper()
	dir := t.TempDir()
	file, log := filepath.Join(dir, "script"), filepath.Join(dir, "log")
	if err := os.WriteFile(file, []byte(strings.Join(script, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &agent{TB: t, port: mcptest.New(t, "").Engine, patience: time.Nanosecond}
	r := a.start("raw", command(t, "raw", file, log))
	return &plain{t, r, bufio.NewReader(r.out), log}
}

func (p *plain) send(lines ...string) {
	p.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.Fatal(err)
		}
	}
}

func (p *plain) next() string {
	p.Helper()
	line, err := p.lines.ReadString('\n')
	if err != nil {
		p.Fatalf("read: %v; %s", err, p.errOut)
	}
	return strings.TrimSuffix(line, "\n")
}

// got is what the server read.
func (p *plain) got() string {
	p.Helper()
	raw, err := os.ReadFile(p.log)
	if err != nil {
		p.Fatal(err)
	}
	return string(raw)
}

func ask(id any, name string) string {
	raw, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": name}})
	return string(raw)
}

const ok = `{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}`

// Each twice in a row, then a call that works.
// MCP-11
func TestWhatIsNoMessageNeverReachesTheServer(t *testing.T) {
	p := scripted(t, ok, ok)
	for name, line := range map[string]string{
		"a batch":              "[" + ask(1, "look") + "]",
		"no JSON":              "hello",
		"a call without an id": `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"drop"}}`,
		"a carriage return":    "{\"jsonrpc\":\"2.0\",\r\"id\":1,\"method\":\"ping\"}",
		"cut off":              `{"jsonrpc":"2.0","id":1,"method":"tools/call"`,
		"trailing garbage":     ask(1, "look") + " x",
		"a key twice":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","name":"drop"}}`,
		"Name beside name":     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","Name":"drop"}}`,
		"a lone surrogate":     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"a":"\ud800"}}}`,
		"an id of null":        `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"look"}}`,
		"an id of 1.5":         `{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"look"}}`,
		"arguments in a list":  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":[]}}`,
		"arguments of null":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":null}}`,
		"too long":             `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"` + strings.Repeat("y", 1<<20) + `"}}`,
	} {
		for range 2 {
			p.send(line)
			if reply := p.next(); !strings.Contains(reply, `"error":{"code":-32`) {
				t.Errorf("%s: got %s", name, reply)
			}
		}
	}
	p.send(ask("end", "look"))
	if reply := p.next(); reply != `{"jsonrpc":"2.0","id":"end","result":{"content":[]}}` {
		t.Errorf("afterwards: got %s", reply)
	}
	if got := p.got(); got != ask("end", "look")+"\n" {
		t.Errorf("the server read %q", got)
	}
}

// MCP-11, MCP-34
func TestAServerThatWritesNonsense(t *testing.T) {
	cut := `{"jsonrpc":"2.0","id":ID,"result":{"content":[`
	tests := []struct{ name, says, want string }{
		{"a banner", "Listening...␤" + ok, `"content":[]`},
		{"a banner of braces", `{"banner":true}␤` + ok, "could not be read"},
		{"half an answer", cut, "could not be read"},
		{"a key twice in its answer", `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"content":[]}}`, "could not be read"},
		{"a batch", `[` + ok + `]␤` + ok, "batch, which is not taken"},
		{"an answer to nobody", `{"jsonrpc":"2.0","id":99,"result":{"content":[{"type":"text","text":"evil"}]}}␤` + ok, `"content":[]`},
		{"an answer twice", ok + "␤" + ok, `"content":[]`},
		{"an answer that is too long", `{"jsonrpc":"2.0","id":ID,"result":{"content":"` + strings.Repeat("x", 1<<20) + `"}}`, "could not be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := scripted(t, tt.says, ok)
			p.send(ask(1, "look"))
			if reply := p.next(); !strings.Contains(reply, tt.want) || !strings.Contains(reply, `"id":1`) || strings.Contains(reply, "evil") {
				t.Errorf("got %.300s", reply)
			}
			p.send(ask(2, "look"))
			if reply := p.next(); reply != strings.ReplaceAll(ok, "ID", "2") {
				t.Errorf("afterwards: got %s", reply)
			}
		})
	}
}

// MCP-33
func TestAServerThatDiesIsToldAndItsCodeIsOurs(t *testing.T) {
	p := scripted(t, "hang", "die") // whichever comes first
	p.send(ask(1, "look"), ask(2, "look"))
	replies := p.next() + p.next()
	if !strings.Contains(replies, `"id":1`) || !strings.Contains(replies, `"id":2`) || strings.Count(replies, `"isError":true`) != 2 {
		t.Errorf("got %s", replies)
	}
	if code := <-p.ended; code != 3 {
		t.Errorf("got the code %d, want the server's", code)
	}
}

// MCP-33
func TestWhatTheServerStartedEndsWithIt(t *testing.T) {
	p := scripted(t, "child")
	p.send(ask(1, "look"))
	if reply := p.next(); !strings.Contains(reply, `"id":1`) {
		t.Fatal(reply)
	}
	children := sleepers(t)
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	for _, pid := range children {
		for end := time.Now().Add(20 * time.Second); alive(pid); time.Sleep(time.Millisecond) { // the kernel takes its time
			if time.Now().After(end) {
				t.Fatalf("process %d is still there", pid)
			}
		}
	}
}

// sleepers are the processes that servers of this test left behind, by the relay's group.
func sleepers(t *testing.T) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("there is no /proc here")
	}
	var out []int
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscanf(e.Name(), "%d", &pid); err != nil {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && strings.HasPrefix(string(line), "sleep\x00300") && parentIs(pid, os.Getpid()) {
			out = append(out, pid)
		}
	}
	if len(out) == 0 {
		t.Fatal("the server left nobody behind")
	}
	return out
}

// parentIs reports whether a process descends from another.
func parentIs(pid, ancestor int) bool {
	for range 5 {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if _, err := fmt.Sscanf(fields[1], "%d", &pid); err != nil || pid <= 1 {
			return false
		}
		if pid == ancestor {
			return true
		}
	}
	return false
}

// alive reports whether a process runs, and is no zombie.
func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	return fields[0] != "Z"
}

// MCP-7
func TestNothingOfOursComesFirst(t *testing.T) {
	p := scripted(t, ok)
	p.send(ask("first", "look"))
	if reply := p.next(); !strings.Contains(reply, `"first"`) {
		t.Errorf("got %s", reply)
	}
	if got := p.got(); got != ask("first", "look")+"\n" {
		t.Errorf("the server read %q", got)
	}
}

// What is longer than a buffer passes as it is, in both directions, and so does what comes after it.
// MCP-5
func TestLongMessagesPassAsTheyAre(t *testing.T) {
	long := func(n int) string {
		return strings.Repeat(`a line with \"words\" in it\n`, n/28)
	}
	answer := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + long(700_000) + `"}]}}`
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"text":"` + long(200_000) + `"}}}`
	p := scripted(t, answer, strings.ReplaceAll(ok, "ID", "2"))
	p.send(call)
	if got := p.next(); got != answer {
		t.Errorf("got %d bytes, want %d: %.200s", len(got), len(answer), got)
	}
	p.send(ask(2, "look"))
	if got := p.next(); !strings.Contains(got, `"id":2`) {
		t.Errorf("after it: got %.200s", got)
	}
	if got := p.got(); !strings.HasPrefix(got, call+"\n") {
		t.Errorf("the server read %d bytes: %.200s", len(got), got)
	}
}

// MCP-24
// A server that answers in a batch, which one revision knew, is not left without a word: the client is told at once.
func TestABatchOfTheServerIsToldToWhoeverWaits(t *testing.T) {
	p := scripted(t, `[{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"in a batch"}]}}]`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{}}}`)
	if got := p.next(); !strings.Contains(got, `"id":1`) || !strings.Contains(got, "batch, which is not taken") || strings.Contains(got, "in a batch\"") {
		t.Errorf("got %s", got)
	}
}
