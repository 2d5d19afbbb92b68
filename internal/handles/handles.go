// Package handles keeps results from agents and gives them out by name: as an argument of a call that is judged with all of it, as a value
// of a closed shape, or whole, after which the agent has read it (AUD-03). What is kept lives as long as the server: a handle that is
// gone is told so, and the tool is called again.
//
// Invariants:
//   - what is kept is recorded before its handle is shown, and a value before the agent has it;
//   - nothing of a kept text is in an error or a refusal;
//   - a handle is good in its own session alone.
package handles

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/extract"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Reader is the model that reads what is kept.
type Reader interface {
	Extract(ctx context.Context, session, system, user, schema string) (string, error)
}

// Desk keeps results. Monitor is required. It is safe for concurrent use.
type Desk struct {
	Monitor *engine.Monitor
	Reader  Reader // nil: nobody reads, and nothing is extracted

	mu    sync.Mutex
	kept  map[string][]*held // guarded by mu; by session, oldest first
	order []*held            // guarded by mu; all of them, oldest first
	bytes int                // guarded by mu
}

// held is one result.
type held struct {
	engine.Kept
	session string
	args    []byte
	labels  tool.Labels
	content string
	shows   int // how often it was read whole
}

// The bounds of what is kept. The oldest goes first.
const (
	maxBytes   = 64 << 20
	maxSession = 256 // results of one session
	maxOne     = 8 << 20
)

// Hold observes a result and keeps it from the agent, where the policy wants it so, or always. It returns what the agent gets instead;
// empty: the agent reads the result.
func (d *Desk) Hold(ctx context.Context, o engine.Observation, always bool) (string, trust.Label, error) {
	return d.hold(ctx, o, always, true)
}

// HoldStill is Hold, where the policy wants it so, at a door that cannot put a text into a call: its handles are not passed on.
func (d *Desk) HoldStill(ctx context.Context, o engine.Observation, how ...engine.RecordOption) (string, trust.Label, error) {
	return d.hold(ctx, o, false, false, how...)
}

func (d *Desk) hold(
	ctx context.Context, o engine.Observation, always, moves bool, how ...engine.RecordOption,
) (string, trust.Label, error) {
	if len(o.Result.Content) > maxOne {
		label, err := d.Monitor.Observe(ctx, o, how...)
		return "", label, err
	}
	size := len(o.Result.Content)
	rows := len(extract.Rows(string(o.Result.Content)))
	show := func(k engine.Kept) string {
		return shown(k.Handle, size, rows, o.Result.Error, d.Reader != nil, moves)
	}
	k, label, err := d.Monitor.Hold(ctx, o, always, show, how...)
	if err != nil || k.IsZero() {
		return "", label, err
	}
	d.keep(&held{
		Kept: k, session: o.Ref.Session, args: slices.Clone(o.Result.Args), labels: o.Result.Labels, content: string(o.Result.Content),
	})
	return show(k), label, nil
}

// shown is what the agent gets instead of a result. Nothing in it is chosen by who wrote the result but its length.
func shown(handle string, size, rows int, failed, reads, moves bool) string {
	what := fmt.Sprintf("%d bytes", size)
	if rows > 0 {
		what = fmt.Sprintf("a list of %d entries, %d bytes", rows, size)
	}
	if failed {
		what = "an error, " + what
	}
	out := fmt.Sprintf("The result is kept as %s (%s); it was written by others and has not been read", handle, what)
	if moves {
		out += fmt.Sprintf(". Give %s as the whole value of an argument to pass it on as it is", handle)
	}
	if rows > 0 && moves {
		out += fmt.Sprintf(", or %s#0.id for a field of an entry", handle)
	}
	if reads {
		out += ". Use tidemark_extract for a number, a date, a yes or no, one of several words or the position of an entry"
	}
	return out + ". Only if you need its words, use tidemark_show: after that, calls that act may need the user's yes."
}

func (d *Desk) keep(h *held) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil {
		d.kept = map[string][]*held{}
	}
	for len(d.order) > 0 && d.bytes+len(h.content) > maxBytes {
		d.drop(d.order[0])
	}
	if list := d.kept[h.session]; len(list) >= maxSession {
		d.drop(list[0])
	}
	d.kept[h.session], d.order, d.bytes = append(d.kept[h.session], h), append(d.order, h), d.bytes+len(h.content)
}

// drop forgets a result.
// Preconditions: mu is held.
func (d *Desk) drop(h *held) {
	is := func(o *held) bool { return o == h }
	d.order, d.bytes = slices.DeleteFunc(d.order, is), d.bytes-len(h.content)
	if d.kept[h.session] = slices.DeleteFunc(d.kept[h.session], is); len(d.kept[h.session]) == 0 {
		delete(d.kept, h.session)
	}
}

// ErrGone is returned for a handle that nothing is kept by.
var ErrGone = errors.New("nothing is kept by this handle any more, or in this session: call the tool again")

func (d *Desk) find(session, handle string) (*held, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range d.kept[session] {
		if h.Handle == handle {
			return h, nil
		}
	}
	return nil, ErrGone
}

// open finds a result that something of is wanted. Where everything is stopped, nothing comes out.
func (d *Desk) open(ctx context.Context, session, handle string) (*held, error) {
	stopped, err := d.Monitor.Stopped(ctx)
	if err != nil {
		return nil, err
	}
	if stopped != nil {
		return nil, errors.New(stopped.String())
	}
	return d.find(session, handle)
}

// ErrNoReader is returned where nobody reads what is kept.
var ErrNoReader = errors.New("no model may read what is kept: the server's owner has to allow it " +
	"(reader.uses: [words, content], or a section extract)")

// Extract has a value read out of what is kept, records it and returns it as JSON.
func (d *Desk) Extract(ctx context.Context, ref engine.Ref, handle, question string, s *extract.Shape) (string, error) {
	if err := s.Check(); err != nil {
		return "", err
	}
	h, err := d.open(ctx, ref.Session, handle)
	if err != nil {
		return "", err
	}
	if d.Reader == nil {
		return "", ErrNoReader
	}
	p, err := extract.Ask(s, question, h.content, rand.Text())
	if err != nil {
		return "", err
	}
	answer, err := d.Reader.Extract(ctx, ref.Session, p.System, p.User, p.Schema)
	if err != nil {
		return "", fmt.Errorf("the model that reads did not answer: %w", err)
	}
	v, err := extract.Check(s, h.content, answer)
	if err != nil {
		return "", err
	}
	return v.JSON, d.Monitor.Extracted(ctx, ref, h.Kept, v.JSON, v.Plain)
}

// Show returns what is kept, which the agent has read from then on.
func (d *Desk) Show(ctx context.Context, ref engine.Ref, handle string) (string, error) {
	h, err := d.open(ctx, ref.Session, handle)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	h.shows++
	id := fmt.Sprintf("%s-shown-%d", handle, h.shows)
	d.mu.Unlock()
	level := h.Label.Level
	_, err = d.Monitor.Observe(ctx, engine.Observation{
		Ref: ref, Declared: &level,
		Result: tool.Result{CallID: id, Name: h.Tool, Args: h.args, Content: []byte(h.content), Labels: h.labels},
	})
	if err != nil && !errors.Is(err, engine.ErrSealed) {
		return "", err
	}
	return h.content, nil
}
