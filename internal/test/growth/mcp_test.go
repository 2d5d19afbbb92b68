//go:build unix

package growth_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/pipe"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// carried are what passes a gateway: calls, results and lists, as a request and its answer.
func carried(through func(request, answer string)) kinds {
	const plain = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`
	call := func(args string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_mail","arguments":` + args + `}}`
	}
	all := kinds{}
	add := func(name string, of func(n int) string, pair func(text string) (request, answer string)) {
		maps.Copy(all, texts(map[string]func(n int) string{name: of}, func(text string) { through(pair(text)) }))
	}
	for name, of := range few(shapes, "keys", "entries", "objects", "rows", "escapes") {
		add("arguments: "+name, of, func(args string) (string, string) { return call(args), plain })
		add("a shaped result: "+name, of, func(value string) (string, string) {
			return call(`{"to":"a"}`), `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":` + value + `}}`
		})
	}
	for name, of := range few(some, "words", "a table", "rows") {
		add("a value: "+name, of, func(text string) (string, string) { return call(`{"to":` + quote(text) + `}`), plain })
		add("a result: "+name, of, func(text string) (string, string) {
			return call(`{"to":"a"}`), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":` + quote(text) + `}]}}`
		})
	}
	add("parts of a result", func(n int) string { return strings.Repeat(`,{"type":"text","text":"a part"}`, n) }, func(parts string) (string, string) {
		return call(`{"to":"a"}`), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}` + parts + `]}}`
	})
	for name, of := range few(definitions(func(name, description, schema string) string {
		return fmt.Sprintf(`{"name":%q,"description":%s,"inputSchema":%s}`, name, quote(description), schema)
	}), "tools", "parameters", "values of an enum", "depth", "references") {
		add("definitions: "+name, of, func(list string) (string, string) {
			return `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"tools":` + list + `}}`
		})
	}
	return all
}

// The MCP gateway over HTTP.
func TestTheGatewayOverHTTP(t *testing.T) {
	h := newHouse(t, "1ms")
	linear(t, carried(func(request, answer string) {
		h.answers.Store(&script{"application/json", answer})
		h.post("/mcp/mail", request, "Authorization", "Bearer "+h.app.Tokens.Agent, "Accept", "application/json, text/event-stream")
	}))
}

// answering is a server on standard input and output: it answers each line with what stands in a file.
const answering = `while IFS= read -r line; do cat "$0"; done`

// The MCP gateway over standard input and output. Its server is a shell, whose time is not this process's.
func TestTheGatewayOverPipes(t *testing.T) {
	file := t.TempDir() + "/answer"
	world := mcptest.New(t, "")
	conn, err := judge.New(judge.Options{
		Server: judge.Server{Name: "mail", Command: []string{"sh"}}, Port: world.Engine, Pins: mcptest.AcceptAll{}, Patience: time.Nanosecond,
		Origin: judge.Origin{Env: func(string) string { return "" }, Session: "1-growth", Owner: true}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := pipe.Run(t.Context(), pipe.Options{
			Command: []string{"sh", "-c", answering, file}, Gate: conn, In: fromClient, Out: toClient, ErrOut: io.Discard,
		})
		ended <- err
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = out.Close()
		<-ended
	})
	lines := bufio.NewReader(out)
	linear(t, carried(func(request, answer string) {
		write(t, file, answer+"\n")
		if _, err := io.WriteString(in, request+"\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}))
}
