package torture_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/mcp/demoservers"
	"github.com/tidemark/tidemark/internal/mcp/relay"
)

const gatewayPolicy = `trustRules:
  - {name: mine, tools: ["up__*", "mail*__*"], trust: local}
rules:
  - {name: asks, tools: [up__send], effect: ask}
server: {sessionMemoryMB: %d}
mcp:
  servers:
    up: {url: "%s"}
`

// gatewayMemory is how many MB conversations may take: more than those of a thousand clients do that are there at a time. It is full
// before the first client comes; until it is, a server grows as it should, and nothing can be said of what it loses.
const (
	gatewayMemory = 256
	mostHeld      = gatewayMemory << 20 / 8 * 5 // bytes; the rest is the collector's
)

// gateway is a server with clients of all kinds before it, and what they did.
type gateway struct {
	*server
	faults  faults
	program string
	n       atomic.Int64 // names what is sent
	begun   atomic.Int64 // conversations, which have names by it
	did     [kinds]atomic.Int64

	mu     sync.Mutex
	relays map[int]bool // guarded by mu; the relays that run, by their process
}

// What clients do.
const (
	calls = iota
	lists
	answered // calls that were held until somebody answered
	givenUp  // calls that were held until their client gave up
	connects
	starts // of relays
	kinds
)

// MCP-39: minutes of many sessions over HTTP, each with an open stream and a call a second, and of relays with servers of their own,
// with listings, with calls that are held and answered or given up, and with clients that go and come again, take no more
// memory, goroutines, files or processes than the first minutes did, and leave nothing behind.
func TestGatewaySoak(t *testing.T) {
	clients, relays := many("TORTURE_CLIENTS", 8, 1000), many("TORTURE_RELAYS", 2, 20)
	length := max(3*time.Second, time.Duration(many("TORTURE_MINUTES", 0, 10))*time.Minute)
	g := newGateway(t)
	if long() {
		g.fill(t)
	}
	before, err := g.figures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() { g.keep(ctx, uint64(i), g.visit) })
	}
	for i := range relays {
		all.Go(func() { g.keep(ctx, uint64(1_000_000+i), g.relayed) })
	}
	all.Go(func() { g.answer(ctx) })
	seen, rows := g.watch(ctx, t, length)
	all.Wait()
	table(t, fmt.Sprintf("gateway: %d clients over HTTP, %d relays, %s", clients, relays, length), []string{
		"calls", "listings", "answered", "given up", "connects", "relays started", "conversations MB", "back", "RSS MB", "goroutines", "files", "processes", "a relay's RSS MB",
	}, rows)
	g.faults.none(t)
	for i, what := range []string{"calls", "listings", "answers", "calls given up", "connects", "relays"} {
		if g.did[i].Load() == 0 && long() {
			t.Errorf("there were no %s", what)
		}
	}
	full(t, seen)
	flat(t, seen)
	g.left(t, before)
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	type text struct {
		Text string `json:"text"`
	}
	up := mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, nil)
	for _, name := range []string{"look", "send"} {
		mcp.AddTool(up, &mcp.Tool{Name: name, Description: "Does " + name}, func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done " + in.Text}}}, nil, nil
		})
	}
	mcp.AddTool(up, &mcp.Tool{Name: "page", Description: "Does page"}, func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
		rows := make([]fields, 500)
		for i := range rows {
			rows[i] = fields{"id": fmt.Sprint(in.Text, "-", i), "name": fmt.Sprint("Row ", i, " of ", in.Text), "amount": i}
		}
		raw, err := strictjson.Marshal(rows)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}}, nil, err
	})
	upstream := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return up }, nil))
	t.Cleanup(func() {
		upstream.CloseClientConnections()
		upstream.Close()
	})
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, "")
	if err := os.WriteFile(filepath.Join(h.data, "tidemark.yaml"), fmt.Appendf(nil, gatewayPolicy, gatewayMemory, upstream.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	return &gateway{server: h.must(t), program: program, relays: map[int]bool{}}
}

// keep does something again and again until the time is up.
func (g *gateway) keep(ctx context.Context, seed uint64, act func(context.Context, *rand.Rand) error) {
	dice := rand.New(rand.NewPCG(seed, 11))
	for ctx.Err() == nil {
		if err := act(ctx, dice); err != nil && ctx.Err() == nil {
			g.faults.add("%v", err)
			pause(ctx, time.Second)
		}
	}
}

// withToken puts the agents' token, and the name of a conversation, on every request.
type withToken struct {
	http.RoundTripper
	token, session string
}

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	if w.session != "" {
		r.Header.Set(relay.SessionHeader, w.session)
	}
	return w.RoundTripper.RoundTrip(r)
}

// conversation is the one that a client names: every other time a new one, else one of the last thousand, which may be over or go on
// elsewhere. A few name none, and share one; those of a conversation wait for one another, because each decision is written before the
// next.
func (g *gateway) conversation(dice *rand.Rand) string {
	n := g.begun.Load()
	switch dice.IntN(200) {
	case 0, 1:
		return ""
	default:
		if n > 0 && dice.IntN(2) == 0 {
			return fmt.Sprint("soak-", n-dice.Int64N(min(n, 1000)))
		}
		return fmt.Sprint("soak-", g.begun.Add(1))
	}
}

// connect is a client over HTTP, in a conversation.
func (g *gateway) connect(ctx context.Context, session string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, nil)
	return client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: g.url + "/mcp/up", HTTPClient: &http.Client{Transport: withToken{g.http.Transport, g.house.tokens.Agent, session}},
	}, nil)
}

// visit is one client over HTTP, about a minute long in a long run.
func (g *gateway) visit(ctx context.Context, dice *rand.Rand) error {
	s, err := g.connect(ctx, g.conversation(dice))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = s.Close() }() // the session ends with it
	g.did[connects].Add(1)
	for range 1 + dice.IntN(120) {
		if err := g.act(ctx, s, dice); err != nil || ctx.Err() != nil {
			return err
		}
		pause(ctx, pace())
	}
	return nil
}

// pace is between two calls of a client.
func pace() time.Duration {
	if long() {
		return time.Second
	}
	return 20 * time.Millisecond
}

// act is one request of a client.
func (g *gateway) act(ctx context.Context, s *mcp.ClientSession, dice *rand.Rand) error {
	args := fields{"text": fmt.Sprint("note ", g.n.Add(1))}
	name, kind, patience := "look", calls, time.Hour // how long it takes is no matter here
	switch dice.IntN(40) {
	case 0:
		_, err := s.ListTools(ctx, nil)
		g.did[lists].Add(1)
		return err
	case 1:
		name, kind = "send", answered
	case 2:
		name, kind, patience = "send", givenUp, time.Duration(dice.IntN(2000))*time.Millisecond
	}
	within, stop := context.WithTimeout(ctx, patience)
	defer stop()
	got, err := s.CallTool(within, &mcp.CallToolParams{Name: name, Arguments: args})
	switch {
	case kind == givenUp && errors.Is(within.Err(), context.DeadlineExceeded):
	case err != nil:
		return fmt.Errorf("call %s: %w", name, err)
	case kind == calls && got.IsError:
		return fmt.Errorf("call %s: refused: %v", name, got.Content[0])
	}
	g.did[kind].Add(1)
	return nil
}

// answer is the owner, who approves and denies what is asked.
func (g *gateway) answer(ctx context.Context) {
	for ; ctx.Err() == nil; pause(ctx, 500*time.Millisecond) {
		var open struct {
			Approvals []struct {
				ID string `json:"id"`
			} `json:"approvals"`
		}
		if err := g.call(ctx, http.MethodGet, "/v1/approvals", nil, &open); err != nil {
			continue // it is asked again
		}
		for i, q := range open.Approvals {
			decision := map[bool]string{true: "approve", false: "deny"}[i%2 == 0]
			_ = g.call(ctx, http.MethodPost, "/v1/approvals/"+q.ID, fields{"decision": decision}, nil) // its client may have given up
		}
	}
}

// relayed is one relay with its server, about half a minute long in a long run.
func (g *gateway) relayed(ctx context.Context, dice *rand.Rand) (err error) {
	name := fmt.Sprint("mail", dice.IntN(5))
	cmd := exec.CommandContext(ctx, g.program, "mcp", "--data", g.house.data, "--name", name, "--", g.program, "demo", "server", "mail")
	cmd.Cancel, cmd.WaitDelay = func() error { return nil }, time.Minute // it ends with its input
	var said tail
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.did[starts].Add(1)
	g.note(cmd.Process.Pid, true)
	defer func() {
		_ = in.Close() // it may be gone
		g.note(cmd.Process.Pid, false)
		if ended := cmd.Wait(); ended != nil && err == nil && ctx.Err() == nil {
			err = fmt.Errorf("the relay ended: %w: %s", ended, said.String())
		}
	}()
	c, err := demoservers.Connect(out, in)
	if err != nil {
		return fmt.Errorf("a relay's server: %w: %s", err, said.String())
	}
	for range 1 + dice.IntN(60) {
		text, failed, err := c.Call("send_mail", `{"to":"desk@kontor.example","body":"hello"}`)
		if err != nil || failed || text != "sent" {
			return fmt.Errorf("a call through a relay: %q, %w: %s", text, err, said.String())
		}
		g.did[calls].Add(1)
		if pause(ctx, pace()); ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// note keeps which relays run.
func (g *gateway) note(pid int, runs bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if delete(g.relays, pid); runs {
		g.relays[pid] = true
	}
}

// watch takes the figures of the server, and of what runs beside it.
func (g *gateway) watch(ctx context.Context, t *testing.T, length time.Duration) (seen []figures, rows [][]string) {
	t.Helper()
	const samples = 20
	for range samples {
		pause(ctx, length/samples)
		f, err := g.figures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.processes, f.beside = g.processes(), g.largest()
		seen = append(seen, f)
		row := make([]string, 0, kinds+7)
		for i := range g.did {
			row = append(row, strconv.FormatInt(g.did[i].Load(), 10))
		}
		row = append(row, strconv.Itoa(int(f.metrics[conversationBytes])>>20), fmt.Sprint(f.metrics["tidemark_session_resumes_total"]))
		rows = append(rows, append(row, strconv.Itoa(f.resident>>10), fmt.Sprint(f.metrics["tidemark_goroutines"]), strconv.Itoa(f.files),
			strconv.Itoa(f.processes), strconv.Itoa(f.beside>>10)))
		say("%v", rows[len(rows)-1])
	}
	return seen, rows
}

const conversationBytes = "tidemark_session_bytes"

// fill has conversations that are over by the time the clients come, until memory has no room for more.
func (g *gateway) fill(t *testing.T) {
	t.Helper()
	for i := 0; ; i++ {
		now, err := g.figures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now.metrics[conversationBytes] >= mostHeld/16*15 {
			say("%d conversations fill %d MB", i, int(now.metrics[conversationBytes])>>20)
			return
		}
		s, err := g.connect(t.Context(), fmt.Sprint("before-", i))
		if err != nil {
			t.Fatal(err)
		}
		for page := range 8 {
			if got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "page", Arguments: fields{"text": fmt.Sprint(i, " ", page)}}); err != nil || got.IsError {
				t.Fatalf("page %d of conversation %d: %v, %v", page, i, got, err)
			}
		}
		_ = s.Close() // the session ends with it
	}
}

// full fails where conversations took less memory than they may: then more could be lost than grew.
func full(t testing.TB, seen []figures) {
	t.Helper()
	for i, f := range seen {
		if held := f.metrics[conversationBytes]; long() && held < mostHeld/8*7 {
			t.Errorf("sample %d: conversations take %d MB of %d", i+1, int(held)>>20, mostHeld>>20)
		}
	}
}

// processes is how many of the program run: the server, relays, and the servers behind them.
func (g *gateway) processes() (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is right
	for _, link := range all {
		if at, err := os.Readlink(link); err == nil && at == g.program {
			n++
		}
	}
	return n
}

// largest is what the largest of the relays takes, in kB.
func (g *gateway) largest() (most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for pid := range g.relays {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue // it has just ended
		}
		if _, rest, ok := strings.Cut(string(raw), "VmRSS:"); ok {
			kB, _ := strconv.Atoi(strings.Fields(rest)[0]) // the kernel writes a number
			most = max(most, kB)
		}
	}
	return most
}

// left looks whether everything is given back once nobody is there: what idle connections hold after a while.
func (g *gateway) left(t *testing.T, before figures) {
	t.Helper()
	g.http.CloseIdleConnections()
	for end := time.Now().Add(5 * time.Minute); ; pause(t.Context(), 100*time.Millisecond) {
		now, err := g.figures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const some = 10 // a connection of our own, a write under way
		processes, goroutines, files := g.processes(), now.metrics["tidemark_goroutines"]-before.metrics["tidemark_goroutines"], now.files-before.files
		if processes == 1 && (!long() || goroutines <= some && files <= some) {
			say("nobody is there: %d processes, %.0f goroutines and %d files more than at the start, %d MB", processes, goroutines, files, now.resident>>10)
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d processes are left, %v goroutines and %d files more than there were", processes, goroutines, files)
		}
	}
}
