package shim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/afar"
	"github.com/tidemark/tidemark/internal/base/fileowner"
	"github.com/tidemark/tidemark/internal/base/peer"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// server is the running monitor, found by what it left in its data folder.
type server struct {
	base  string
	token string
	agent string
	wire  wire
	away  *afar.Server // where it is on another machine; nil: on this one
}

// errNotRunning tells the person what to do.
var errNotRunning = errors.New("no server is running, so nothing may run (start it: tidemark serve)")

// DataFolder is the data folder where none is given.
func DataFolder() (string, error) {
	if d := os.Getenv("TIDEMARK_DATA"); d != "" {
		return d, nil
	}
	if d := os.Getenv("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "tidemark"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("find data folder: no home directory; give --data")
	}
	return filepath.Join(home, ".local", "share", "tidemark"), nil
}

// TokenFile is where an agent's own token lies, if tidemark install made one.
func TokenFile(data, agent string) string { return filepath.Join(data, "agents", agent+".token") }

// tokenFor is the agent's own token, or the common one where it has none.
func tokenFor(data, agent string) (string, error) {
	raw, err := readSmall(TokenFile(data, agent), 0o077)
	if err == nil {
		return strings.TrimSpace(string(raw)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read token: %w", err)
	}
	var tokens struct {
		Agent string `json:"agent"`
	}
	if err := readPrivate(filepath.Join(data, "tokens.json"), 0o077, &tokens); err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	return tokens.Agent, nil
}

// elsewhere is the server that this machine has joined. The token is the agent's own, or that of the machine where it has none.
func elsewhere(away *afar.Server, data, agent string) (*server, error) {
	raw, err := readSmall(TokenFile(data, agent), 0o077)
	if errors.Is(err, os.ErrNotExist) {
		raw, err = readSmall(afar.TokenFile(data), 0o077)
	}
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if token == "" {
		return nil, errors.New("read token: there is none (join again: tidemark join)")
	}
	base := strings.TrimRight(away.URL, "/")
	return &server{base: base, token: token, agent: agent, wire: wire{dial: away.Dialer(token)}, away: away}, nil
}

func findServer(data, agent string) (*server, error) {
	switch away, err := afar.Read(data); {
	case err != nil:
		return nil, err
	case away != nil:
		return elsewhere(away, data, agent)
	}
	var running struct {
		URL string `json:"url"`
		serverproof.Life
	}
	err := readPrivate(filepath.Join(data, "server.json"), 0o022, &running)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNotRunning
	}
	if err != nil {
		return nil, fmt.Errorf("find server: %w", err)
	}
	if running.Over() {
		return nil, errNotRunning
	}
	if err := checkLocal(running.URL); err != nil {
		return nil, fmt.Errorf("find server: %w", err)
	}
	token, err := tokenFor(data, agent)
	if err != nil {
		return nil, err
	}
	if token == "" {
		return nil, errors.New("read token: there is none for agents")
	}
	// No proxy and no other address: the token and what the agent does stay on this machine. Each
	// connection is proven to lead to the server before anything is said on it.
	return &server{base: running.URL, token: token, agent: agent,
		wire: wire{dial: serverproof.DialerAt(token, running.URL, socketOf(data))}}, nil
}

// socketOf is where the server can see whose hook this is; "": there is no such place, or others could have put it there.
func socketOf(data string) string {
	path := peer.Socket(data)
	info, err := os.Lstat(path)
	if err != nil || !peer.Known || info.Mode().Type() != os.ModeSocket || fileowner.Open(info, 0o077) {
		return ""
	}
	return path
}

// host is the address of its listener.
func (s *server) host() string { return strings.TrimSuffix(strings.TrimPrefix(s.base, "http://"), "/") }

// readPrivate reads a small file of the data folder, unless others may change or read it.
func readPrivate(name string, forbidden os.FileMode, v any) error {
	raw, err := readSmall(name, forbidden)
	if err != nil {
		return err
	}
	return strictjson.Unmarshal(raw, v)
}

func readSmall(name string, forbidden os.FileMode) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if fileowner.Open(info, forbidden) {
		return nil, errors.Join(fmt.Errorf("%s is open to others (run: chmod 600 %s)", name, name), f.Close())
	}
	raw, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return raw, errors.Join(err, f.Close())
}

// checkLocal keeps the token on this machine.
func checkLocal(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return errors.New("its announcement names no address")
	}
	ip := net.ParseIP(u.Hostname())
	if ip == nil || !ip.IsLoopback() && !ip.IsUnspecified() {
		return fmt.Errorf("it listens on %s, and hooks speak to this machine alone", u.Host)
	}
	return nil
}

// note is the part of an answer that concerns the shim.
type note struct {
	Taint   string `json:"taint"`
	Verdict string `json:"verdict"`
	Notice  string `json:"notice"`
	// WordsUnknown says that somebody who cannot hear the user began the session, and nobody has heard them since.
	WordsUnknown bool `json:"wordsUnknown"`

	Approval *asked `json:"approval"`
	TimedOut bool   `json:"timedOut"`
}

// asked is the open question of a held call, as far as the agent's side may know it.
type asked struct {
	Expires  time.Time `json:"expiresAt"`
	Dialog   bool      `json:"dialog"`
	Question string    `json:"question"`
}

// forPerson is what the person in front of the agent is shown of a held call: what it is about,
// where it is answered, how long that can be done, and what happens then.
func (n *note) forPerson(waited int) string {
	if n.Verdict != "confirm" {
		return ""
	}
	if n.Approval == nil {
		if !n.TimedOut {
			return ""
		}
		return fmt.Sprintf("Tidemark held this call for %ds, and nobody answered. If the agent tries again you are asked again.", waited)
	}
	text := "Tidemark holds this call and asks you.\n" + n.Approval.Question + "\nAnswer in another terminal: tidemark approvals watch"
	if left := time.Until(n.Approval.Expires).Round(time.Second); left > 0 {
		text += fmt.Sprintf(" (within %s)", left)
	}
	return text + ". Then tell the agent to go on."
}

type answered struct {
	Decision string `json:"decision"`
	Confine  *struct {
		Ticket string `json:"ticket"`
	} `json:"confine"`
	Block    bool             `json:"block"`
	Reason   string           `json:"blockReason"`
	Params   strictjson.Value `json:"params"`
	Tidemark *note            `json:"tidemark"`
}

// tell sends a hook whose answer carries no verdict.
func (s *server) tell(ctx context.Context, event hook.Event, c hook.Context) (*note, error) {
	a, err := s.post(ctx, event, c)
	if err != nil {
		return nil, err
	}
	return a.Tidemark, nil
}

// begin says that the model is about to be asked, and that the agent has a shell here: so
// the files it writes are the workspace's own, and not somebody's elsewhere. It returns why
// the turn must not go on, "" if it may.
func (s *server) begin(ctx context.Context, c hook.Context) (string, error) {
	shell, err := hook.NewTool([]byte(`{"name":"exec"}`))
	if err != nil {
		return "", err
	}
	a, err := s.post(ctx, &hook.BeforeLLMCall{Tools: []hook.Tool{shell}}, c)
	if err != nil || !a.Block {
		return "", err
	}
	return clean(a.Reason), nil
}

// decide asks about a call. It passes on nothing but an answer that says so in every
// part; one that was understood and changed by a plugin cannot be carried out here.
func (s *server) decide(ctx context.Context, event *hook.BeforeToolCall, c hook.Context) (verdict, error) {
	a, err := s.post(ctx, event, c)
	switch {
	case err != nil:
		return verdict{}, err
	case c.Boxes && a.Decision == "confine" && a.Confine != nil && a.Block && a.Params == nil && a.Tidemark.Verdict == "confine":
		return verdict{reason: clean(a.Reason), ticket: a.Confine.Ticket}, nil // blocked for all that cannot make a box
	case a.Block:
		v := verdict{reason: clean(a.Reason)}
		if person := a.Tidemark.forPerson(c.Wait); person != "" {
			v.person = clean(person)
		}
		if q := a.Tidemark.Approval; c.Dialog != "" && q != nil && q.Dialog && q.Question != "" && a.Tidemark.Verdict == "confirm" {
			v.asks = clean("Tidemark asks: " + q.Question)
		}
		return v, nil
	case a.Tidemark.Verdict != "allow":
		return verdict{}, errors.New("the server's answer is neither yes nor no")
	case a.Params != nil:
		return verdict{reason: "Tidemark: a plugin changed the parameters of this call, which this agent's hook cannot carry out."}, nil
	}
	return verdict{notice: a.Tidemark.Notice}, nil
}

// hello says who speaks. A server on this machine looks for itself whose hook it is; one elsewhere cannot, and is shown the ticket that
// only this machine can make.
func (s *server) hello(session string) *hook.Hello {
	if s.away != nil {
		return &hook.Hello{Version: hook.HelloVersion, Agent: s.agent, Ticket: s.away.Ticket(session)}
	}
	return &hook.Hello{Version: hook.HelloVersion, Agent: s.agent, Process: "parent", Server: s.base}
}

// maxAnswer bounds what a server may say.
const maxAnswer = 4 << 20

func (s *server) post(ctx context.Context, event hook.Event, c hook.Context) (*answered, error) {
	c.Hello = s.hello(c.SessionKey)
	body, err := (&hook.Envelope{Event: event, Ctx: c}).Encode()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/v1/hooks/"+string(event.Hook()), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	ask, err := serverproof.NewNonce()
	if err != nil {
		return nil, err
	}
	req.Header.Set(serverproof.AskHeader, ask)
	status, raw, err := s.wire.do(req, maxAnswer)
	if s.away == nil && errors.Is(err, syscall.ECONNREFUSED) {
		return nil, errNotRunning
	}
	if err != nil {
		return nil, fmt.Errorf("reach server: %w", err)
	}
	if status != http.StatusOK {
		return nil, problemOf(status, raw)
	}
	if len(raw) > maxAnswer {
		return nil, errors.New("read answer: it is too large")
	}
	a := new(answered)
	if err := strictjson.Unmarshal(raw, a); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if a.Tidemark == nil {
		return nil, errors.New("read answer: it is not Tidemark's")
	}
	return a, nil
}

// problem is an answer that is not 200.
type problem struct {
	Type   string `json:"type"`
	Detail string `json:"detail"`
	status int
}

func (p *problem) Error() string {
	if p.Detail == "" {
		return fmt.Sprintf("the server answered %d %s, so this may not go on", p.status, http.StatusText(p.status))
	}
	return fmt.Sprintf("the server could not decide (%d): %s", p.status, cutLine(p.Detail))
}

func problemOf(status int, raw []byte) error {
	p := new(problem)
	if strictjson.Unmarshal(raw, p) != nil {
		p = new(problem)
	}
	p.status = status
	return p
}

func isSealed(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.status == http.StatusConflict && p.Type == "urn:tidemark:problem:sealed"
}

func cutLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}
