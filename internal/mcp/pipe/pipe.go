// Package pipe is the MCP door over standard input and output: the agent starts it in place of a
// server, it starts the server, and what passes between them goes through the gate. It does I/O and
// starts processes.
//
// Invariants:
//   - what is no message is never passed on: it is told on standard error;
//   - no message of ours precedes the client's first;
//   - the server, with everything it started, ends with the relay.
package pipe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/wire"
)

// Options say what to run, and between whom.
type Options struct {
	Command []string // the server's program and its arguments
	Env     []string // all that the server gets
	Gate    *judge.Conn
	In      io.Reader // from the client
	Out     io.Writer // to the client
	ErrOut  io.Writer // the server's standard error, and our own words
	// MaxMessage bounds one message; 0 is DefaultMax.
	MaxMessage int
}

// DefaultMax bounds a message where nothing else is said.
const DefaultMax = 32 << 20

// How long a server may take to end: after its input ends, and after it was told to.
const (
	closeGrace = 2 * time.Second
	termGrace  = 2 * time.Second
	drainGrace = 500 * time.Millisecond
)

// maxWaiting bounds the messages that are judged at once.
const maxWaiting = 256

// relay is one run.
type relay struct {
	o       Options
	cmd     *exec.Cmd
	toChild io.WriteCloser

	down     sync.Mutex // held while something is written to the client
	downRoom []byte     // guarded by down
	up       sync.Mutex // held while something is written to the server
	upRoom   []byte     // guarded by up
	slot     chan struct{}

	own map[string]chan *wire.Message // guarded by up; what we asked the server ourselves, by id

	noise sync.Mutex
	told  int // guarded by noise; how many lines were complained about
}

// Run relays until either side ends, and returns the server's exit code.
func Run(ctx context.Context, o Options) (int, error) {
	if len(o.Command) == 0 || o.Gate == nil {
		return 0, errors.New("relay MCP: no command")
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = DefaultMax
	}
	r := &relay{o: o, slot: make(chan struct{}, maxWaiting)}
	fromChild, err := r.start()
	if err != nil {
		return 0, fmt.Errorf("start the server: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- r.cmd.Wait() }()
	go r.o.Gate.News(ctx, r.tell)
	clientGone := make(chan struct{})
	go func() {
		defer close(clientGone)
		r.fromClient(ctx)
	}()
	serverSilent := make(chan struct{})
	go func() {
		defer close(serverSilent)
		r.fromServer(ctx, fromChild)
	}()
	select {
	case err = <-ended:
	case <-clientGone:
		err = r.stop(ended)
	case <-ctx.Done():
		err = r.stop(ended)
	}
	signal(r.cmd, syscall.SIGKILL) // whatever it left behind
	select {
	case <-serverSilent:
	case <-time.After(drainGrace):
		_ = fromChild.Close() // somebody who left the group still holds it
		<-serverSilent
	}
	cancel()
	for _, reply := range r.o.Gate.Lost("The server ended before it answered; whether the call ran is not known.") {
		_ = r.tell(reply) // a client that is gone cannot be told
	}
	return r.code(err)
}

func (r *relay) start() (*os.File, error) {
	r.cmd = exec.Command(r.o.Command[0], r.o.Command[1:]...) //nolint:gosec // running it is what was asked for
	r.cmd.Env, r.cmd.Stderr = r.o.Env, r.o.ErrOut
	alone(r.cmd)
	r.cmd.WaitDelay = drainGrace // for its standard error, which others may hold
	in, err := r.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// A pipe of our own: what the server said last is read after it ended.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r.toChild, r.cmd.Stdout = in, write
	err = r.cmd.Start()
	if err = errors.Join(err, write.Close()); err != nil {
		return nil, errors.Join(err, read.Close())
	}
	return read, nil
}

// stop ends the server: its input first, then it is told, then it is made to.
func (r *relay) stop(ended <-chan error) error {
	r.up.Lock()
	_ = r.toChild.Close() // it may have ended
	r.up.Unlock()
	for _, step := range []struct {
		after  time.Duration
		signal syscall.Signal
	}{{closeGrace, syscall.SIGTERM}, {termGrace, syscall.SIGKILL}} {
		select {
		case err := <-ended:
			return err
		case <-time.After(step.after):
			signal(r.cmd, step.signal)
		}
	}
	return <-ended
}

// code is the exit code of the relay: the server's own, or as shells have it for a signal.
func (r *relay) code(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	case !errors.As(err, &exit):
		return 0, fmt.Errorf("run the server: %w", err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// fromClient reads what the client says, to its end.
func (r *relay) fromClient(ctx context.Context) {
	lines := wire.NewLines(r.o.In, r.o.MaxMessage)
	for ctx.Err() == nil {
		line, err := lines.Next()
		switch {
		case errors.Is(err, wire.ErrSize):
			_ = r.tell(judge.Failure(nil, wire.CodeRequest, fmt.Sprintf("the message is longer than %d bytes", r.o.MaxMessage)))
			continue
		case err != nil:
			return
		}
		m, err := oneLine(bytes.Clone(line))
		if err != nil {
			r.faulty(err)
			continue
		}
		finish := r.o.Gate.Enter(ctx, m, judge.Ends{Client: r.tell, Server: r.ask})
		if m.Kind() == wire.Notification || !r.o.Gate.Waits(m) {
			r.carry(finish())
			continue
		}
		select {
		case r.slot <- struct{}{}:
		default: // whoever is told no can still cancel what waits
			if m.Kind() == wire.Response {
				r.carry(finish())
				continue
			}
			if reply := r.o.Gate.Fail(m.Key(), "Too many calls wait at once, so this one did not run."); reply != nil {
				_ = r.tell(reply) // a client that is gone is noticed elsewhere
			}
			continue
		}
		go func() {
			defer func() { <-r.slot }()
			r.carry(finish())
		}()
	}
}

func (r *relay) faulty(err error) {
	var f *wire.Fault
	if errors.As(err, &f) {
		_ = r.tell(judge.FaultReply(f)) // a client that is gone cannot be told
	}
}

// carry does what the gate says with a message of the client's.
func (r *relay) carry(p judge.Passage) {
	if p.Reply != nil {
		_ = r.tell(p.Reply)
	}
	if p.Forward == nil {
		return
	}
	r.up.Lock()
	defer r.up.Unlock()
	_ = writeLine(r.toChild, &r.upRoom, p.Forward) // a server that is gone is noticed elsewhere
}

// ask sends a message of ours to the server, and waits for its answer.
func (r *relay) ask(ctx context.Context, message []byte) (*wire.Message, error) {
	m, err := wire.Read(message)
	if err != nil {
		return nil, err
	}
	got := make(chan *wire.Message, 1)
	r.up.Lock()
	if r.own == nil {
		r.own = map[string]chan *wire.Message{}
	}
	r.own[m.Key()] = got
	err = writeLine(r.toChild, &r.upRoom, message)
	r.up.Unlock()
	defer func() {
		r.up.Lock()
		delete(r.own, m.Key())
		r.up.Unlock()
	}()
	if err != nil {
		return nil, err
	}
	select {
	case answer := <-got:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// answered hands an answer to whoever of us asked; it is not for the client. Late answers go nowhere: the gate knows of no such request.
func (r *relay) answered(m *wire.Message) bool {
	if m.Kind() != wire.Response {
		return false
	}
	r.up.Lock()
	defer r.up.Unlock()
	got := r.own[m.Key()]
	if got == nil {
		return false
	}
	delete(r.own, m.Key())
	if kept, err := wire.Read(bytes.Clone(m.Raw)); err == nil { // the line is read over
		got <- kept
	}
	return true
}

// tell writes one message to the client.
func (r *relay) tell(message []byte) error {
	r.down.Lock()
	defer r.down.Unlock()
	return writeLine(r.o.Out, &r.downRoom, message)
}

// inOne is how long a message may be that is copied, so that it and the end of its line are written at once.
const inOne = 64 << 10

// writeLine writes a message on a line of its own. Room is kept from one to the next.
func writeLine(w io.Writer, room *[]byte, message []byte) error {
	end := []byte{'\n'}
	if len(message) <= inOne {
		*room = append(append((*room)[:0], message...), '\n')
		message, end = *room, nil
	}
	_, err := w.Write(message)
	if err == nil && end != nil {
		_, err = w.Write(end)
	}
	return err
}

// fromServer reads what the server says, to its end.
func (r *relay) fromServer(ctx context.Context, out *os.File) {
	defer func() { _ = out.Close() }() // nothing more is read
	lines := wire.NewLines(out, r.o.MaxMessage)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, wire.ErrSize):
			r.unreadable(fmt.Sprintf("a message longer than %d bytes", r.o.MaxMessage))
			continue
		case err != nil:
			return
		}
		m, err := oneLine(line)
		if err != nil {
			r.strange(line, err)
			continue
		}
		if r.answered(m) {
			continue
		}
		p := r.o.Gate.Down(ctx, m)
		if p.Forward != nil {
			_ = r.tell(p.Forward) // a client that is gone is noticed elsewhere
		}
		if p.Reply != nil {
			r.carry(judge.Passage{Forward: p.Reply})
		}
	}
}

// strange deals with a line of the server's that is no message. Some servers print banners.
func (r *relay) strange(line []byte, err error) {
	var f *wire.Fault
	if errors.As(err, &f) && f.ID != nil {
		why := "The server's answer could not be read (" + f.Text + "), so it is not shown; the call may have run."
		if reply := r.o.Gate.Fail((&wire.Message{ID: f.ID}).Key(), why); reply != nil {
			_ = r.tell(reply) // a client that is gone cannot be told
			return
		}
	}
	if parts := wire.Batched(line); len(parts) > 0 {
		r.batched(parts)
		return
	}
	if bytes.HasPrefix(line, []byte("{")) {
		r.unreadable(err.Error())
		return
	}
	r.complain("the server wrote a line that is no message: %.120q", line)
}

// batched answers whoever waits for a part of a batch of the server's, which is not taken.
func (r *relay) batched(parts []jsontext.Value) {
	const why = "The server answered in a batch, which is not taken, so it is not shown; the call may have run."
	r.complain("the server wrote a batch of %d messages, which is not taken", len(parts))
	for _, part := range parts {
		m, err := wire.Read(part)
		switch {
		case err != nil || m.Kind() == wire.Notification:
		case m.Kind() == wire.Request:
			r.carry(judge.Passage{Forward: judge.Failure(m.ID, wire.CodeRequest, "batches are not taken: send one message at a time")})
		default:
			if reply := r.o.Gate.Fail(m.Key(), why); reply != nil {
				_ = r.tell(reply) // a client that is gone cannot be told
			}
		}
	}
}

// unreadable ends the calls that are on their way: one of them was answered, and nobody knows which.
func (r *relay) unreadable(why string) {
	r.complain("the server wrote what cannot be read: %s", why)
	for _, reply := range r.o.Gate.Lost("The server's answer could not be read (" + why + "), so it is not shown; the call may have run.") {
		_ = r.tell(reply) // a client that is gone cannot be told
	}
}

// maxNoise bounds how often a server's noise is told.
const maxNoise = 20

func (r *relay) complain(format string, args ...any) {
	r.noise.Lock()
	defer r.noise.Unlock()
	if r.told++; r.told > maxNoise {
		return
	}
	fmt.Fprintf(r.o.ErrOut, "tidemark mcp: "+format+"\n", args...)
}

// passed are the variables that every server gets: what programs need to start, and nothing that
// is anybody's secret.
const passed = " HOME LOGNAME PATH SHELL TERM USER LANG LANGUAGE TZ TMPDIR TEMP TMP PWD XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME" +
	" XDG_RUNTIME_DIR SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS SYSTEMROOT APPDATA LOCALAPPDATA USERPROFILE USERNAME "

// Env is what a server gets of an environment: the usual variables, and those that are named. What
// is ours never goes on.
func Env(all, names []string) []string {
	var out []string
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		named := false
		for _, n := range names {
			named = named || n == name
		}
		usual := strings.Contains(passed, " "+name+" ") || strings.HasPrefix(name, "LC_")
		if name != "" && (usual || named) && !strings.HasPrefix(name, "TIDEMARK_") {
			out = append(out, v)
		}
	}
	return out
}

// oneLine reads a message that is one line for every reader: some take a carriage return for the end of one, and
// would read other messages in it.
func oneLine(line []byte) (*wire.Message, error) {
	m, err := wire.Read(line)
	if err == nil && bytes.IndexByte(line, '\r') >= 0 {
		return nil, &wire.Fault{Code: wire.CodeRequest, Text: "a message has no carriage return in it", ID: m.ID}
	}
	return m, err
}
