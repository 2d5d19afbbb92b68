package doctor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Bench is a server that was started for a trial, on a data folder of its own.
type Bench struct {
	URL, Token, Data string
	Stop             func() error
}

// taintName is the heading of what follows.
const taintName = "one agent, one taint"

// CheckTaint proves that what an agent read through one MCP server counts at its others: behind a relay that it starts itself, behind one
// that a shell starts, and over HTTP. Program is the one that agents start as a relay; serve starts a monitor that knows the MCP server
// "board" at the address it is given. Nobody's session is touched, and nobody is asked anything.
func CheckTaint(program string, serve func(ctx context.Context, upstream string) (Bench, error)) Check {
	return Check{Name: taintName, Run: func(ctx context.Context) []Finding {
		f := found{about: taintName}
		shell, err := exec.LookPath("sh")
		if err != nil {
			f.add(Limit, "servers", "not tried: there is no sh to stand in the servers' place", "")
			return f.list
		}
		ctx, cancel := context.WithTimeout(ctx, relayLimit)
		defer cancel()
		if err := f.taint(ctx, trials{program: program, shell: shell}, serve); err != nil {
			f.add(Broken, "servers", "could not be tried: "+line(err.Error()), "")
		}
		return f.list
	}}
}

// taint starts the servers, has the first one read, and looks what the others may still do.
func (f *found) taint(ctx context.Context, t trials, serve func(context.Context, string) (Bench, error)) (err error) {
	board, err := newBoard(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, board.Close()) }()
	if t.bench, err = serve(ctx, "http://"+board.Addr().String()+"/"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.bench.Stop()) }()
	pages, err := t.relay(ctx, "pages")
	if err != nil {
		return err
	}
	defer pages.end()
	mail, err := t.relay(ctx, "mail", t.shell, "-c", `"$@"; exit $?`, t.shell)
	if err != nil {
		return err
	}
	defer mail.end()
	others := []struct {
		name, who string
		call      func(context.Context, string) (said, error)
	}{{"relays", "a server that a shell starts", mail.call}, {"gateway", "a server over HTTP", t.post}}
	for _, o := range others { // else a refusal below would say nothing of what was read
		if got, err := o.call(ctx, postsNote); err != nil || got.Failed {
			return errors.Join(err, fmt.Errorf("%s failed before anything was read, so the test says nothing: %s", o.who, got.text()))
		}
	}
	if got, err := pages.call(ctx, readsPage); err != nil || got.Failed {
		return errors.Join(err, fmt.Errorf("no page could be read: %s", got.text()))
	}
	for _, o := range others {
		switch got, err := o.call(ctx, postsNote); {
		case err != nil:
			return err
		case !got.Failed:
			f.add(Broken, o.name, "WHAT WAS READ THROUGH ONE SERVER DOES NOT COUNT AT ANOTHER: "+o.who+" did what nobody asked for",
				"have hooks or the LLM proxy hear this agent's words, or use one MCP server at a time")
		default:
			f.add(Good, o.name, fmt.Sprintf("what one server brought counts at another: "+
				"afterwards %s was refused a call that was allowed before (%s)",
				o.who, got.rule()), "")
		}
	}
	return nil
}

// The calls of the trial. The note goes to nobody whom the page names: what holds it is that a page was read.
const (
	readsPage = `{"name":"read_page","arguments":{}}`
	postsNote = `{"name":"post_note","arguments":{"channel":"harbour","text":"high water at six"}}`
)

// said is the answer to a call.
type said struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Failed bool `json:"isError"`
}

func (s said) text() string {
	if len(s.Content) == 0 {
		return "no answer"
	}
	return line(s.Content[0].Text)
}

// rule is the line that names it, else the first.
func (s said) rule() string {
	for _, c := range s.Content {
		for l := range strings.Lines(c.Text) {
			if strings.HasPrefix(l, "Rule: ") {
				return line(l)
			}
		}
	}
	return s.text()
}

// answered reads an answer.
func answered(raw []byte) (said, error) {
	var m struct {
		Result *said `json:"result"`
	}
	if strictjson.Unmarshal(raw, &m) != nil || m.Result == nil {
		return said{}, errors.New("no answer to a call: " + line(string(raw)))
	}
	return *m.Result, nil
}

// trials are the servers of one trial.
type trials struct {
	program, shell string
	bench          Bench
}

// stand is an MCP server in a shell: it has the tool that it is asked for, and each call of it succeeds.
const stand = `while IFS= read -r line; do
case $line in *'"id":'*) id=${line#*'"id":'}; id=${id%%[,\}]*} ;; *) continue ;; esac
case $line in
*'"initialize"'*) r='` + greetsAs + `' ;;
*'"tools/list"'*) r='{"tools":[{"name":"'$0'","inputSchema":{"type":"object"}}]}' ;;
*'"tools/call"'*'"post_note"'*) r='` + posted + `' ;;
*'"tools/call"'*) r='` + done + `' ;;
*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id"; continue ;;
esac
printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done`

const (
	greetsAs = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"doctor","version":"1"}}`
	done     = `{"content":[{"type":"text","text":"The harbour is closed on Sundays."}]}`
	posted   = `{"content":[{"type":"text","text":"posted"}]}` // what says more argues
)

// wire is a relay that was started, and its two ends.
type wire struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	asks int
}

// relay starts a relay before a server, as an agent does that names no conversation; by the launcher, if there is one.
func (t *trials) relay(ctx context.Context, name string, launcher ...string) (*wire, error) {
	tool := map[string]string{"pages": "read_page", "mail": "post_note"}[name]
	args := slices.Concat(launcher, []string{t.program, "mcp", "--data", t.bench.Data, "--name", name, "--", t.shell, "-c", stand, tool})
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)           //nolint:gosec // our own program, as agents start it
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // whoever starts the doctor may have a conversation, or a database
		name, _, _ := strings.Cut(v, "=")
		return strings.HasSuffix(name, "_SESSION_ID") || strings.HasPrefix(name, "TIDEMARK_")
	})
	cmd.Dir, cmd.WaitDelay = filepath.Dir(t.bench.Data), time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &wire{cmd: cmd, in: in, out: bufio.NewReader(out)}, cmd.Start()
}

// call sends a call and waits for its answer.
func (w *wire) call(_ context.Context, params string) (said, error) {
	w.asks++
	if _, err := fmt.Fprintf(w.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", w.asks, params); err != nil {
		return said{}, err
	}
	mine := fmt.Appendf(nil, `"id":%d`, w.asks)
	for {
		raw, err := w.out.ReadBytes('\n')
		if err != nil {
			return said{}, fmt.Errorf("what the agent starts gave no answer: %w", err)
		}
		if bytes.Contains(raw, mine) { // what else comes is no answer of ours
			return answered(raw)
		}
	}
}

// end closes the relay's input, with which it ends.
func (w *wire) end() {
	_ = w.in.Close()
	over := time.AfterFunc(2*time.Second, func() { _ = w.cmd.Process.Kill() })
	_ = w.cmd.Wait() // what it says then changes nothing
	over.Stop()
}

// newBoard is an MCP server over HTTP, on which notes are posted.
func newBoard(ctx context.Context) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{ReadHeaderTimeout: relayLimit, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     strictjson.Value `json:"id"`
			Method string           `json:"method"`
		}
		raw, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
		if err != nil || strictjson.Unmarshal(raw, &m) != nil || len(m.ID) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result, ok := map[string]string{
			"initialize": greetsAs, "tools/list": `{"tools":[{"name":"post_note","inputSchema":{"type":"object"}}]}`, "tools/call": posted,
		}[m.Method]
		w.Header().Set("Content-Type", "application/json")
		if !ok {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, m.ID)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	})}
	go func() { _ = s.Serve(l) }() // it ends with its listener
	return l, nil
}

// post sends a call over HTTP, as a client that names no conversation.
func (t *trials) post(ctx context.Context, params string) (said, error) {
	body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.bench.URL+"/mcp/board", body)
	if err != nil {
		return said{}, err
	}
	req.Header.Set("Authorization", "Bearer "+t.bench.Token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := newClient(t.bench.URL, t.bench.Token, t.bench.Token).http.Do(req)
	if err != nil {
		return said{}, err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return said{}, err
	}
	for l := range bytes.Lines(raw) { // an answer may be a stream
		if rest, ok := bytes.CutPrefix(l, []byte("data:")); ok && bytes.Contains(rest, []byte(`"result"`)) {
			raw = rest
		}
	}
	return answered(bytes.TrimSpace(raw))
}
