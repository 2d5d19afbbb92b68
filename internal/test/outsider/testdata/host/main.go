// Command host is an agent's host as somebody else would write it: it knows nothing of
// Tidemark but what the module exports.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/store/sqlite"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

const rules = `preset: classic
toolOverrides: {send_email: {untrusted: confirm}}
`

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "host")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	log, err := sqlite.Open(ctx, filepath.Join(dir, "log.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	h, err := open(log)
	if err != nil {
		return errors.Join(err, log.Close())
	}
	err = h.turn(ctx)
	broken := log.Verify(ctx)
	fmt.Println("log whole:", broken == nil)
	return errors.Join(err, broken, log.Close())
}

// host asks its plugins, then the monitor, then runs the call.
type host struct {
	monitor *tidemark.Monitor
	plugins *hook.Bus
	at      tidemark.Ref
}

func open(log *tidemark.Store) (*host, error) {
	if _, faults := policy.Parse("bad.yaml", []byte("preset: clasic\n")); faults.Err() != nil {
		fmt.Print(faults.Render([]byte("preset: clasic\n")))
	}
	set, faults := policy.Parse("policy.yaml", []byte(rules))
	if err := faults.Err(); err != nil {
		return nil, err
	}
	m, err := tidemark.New(tidemark.Options{Policy: set, Store: log})
	if err != nil {
		return nil, err
	}
	h := &host{monitor: m, plugins: hook.New(hook.Options{}), at: tidemark.Ref{Session: "desk", Turn: "1"}}
	return h, h.plugins.Register(hook.Handler{Name: "no-shutdown", On: hook.Handlers{
		BeforeToolCall: func(_ context.Context, e *hook.BeforeToolCall, _ *hook.Context) (*hook.BeforeToolCallResult, error) {
			return &hook.BeforeToolCallResult{Block: e.ToolName == "shutdown", BlockReason: "not while people work"}, nil
		},
	}})
}

func (h *host) turn(ctx context.Context) error {
	said := "What does the page say?"
	owner := trust.Sender{Provider: "chat", ID: "ada", IsOwner: true}
	if _, err := h.monitor.Begin(ctx, tidemark.Turn{Ref: h.at, Sender: owner, Message: said}); err != nil {
		return err
	}
	if _, err := h.call(ctx, tool.Call{Name: "shutdown", Args: []byte(`{}`)}); err != nil {
		return err
	}
	if _, err := h.call(ctx, tool.Call{Name: "web_fetch", Args: []byte(`{"url":"https://example.com"}`)}); err != nil {
		return err
	}
	send := tool.Call{Name: "send_email", Args: []byte(`{"to":"mallory@example.com"}`)}
	question, err := h.call(ctx, send)
	if err != nil {
		return err
	}
	vote := tidemark.Vote{Session: h.at.Session, IDs: []string{question}, Approve: true, By: "ada", Via: "console"}
	if _, err := h.monitor.Answer(ctx, vote); err != nil {
		return err
	}
	_, err = h.call(ctx, send)
	return err
}

// call runs a call if it may, and says which question it waits for if it may not yet.
func (h *host) call(ctx context.Context, c tool.Call) (question string, err error) {
	r := h.plugins.BeforeToolCall(ctx, &hook.BeforeToolCall{ToolName: c.Name, Params: c.Args}, &hook.Context{SessionKey: h.at.Session})
	if r.Block {
		fmt.Println(c.Name, "blocked by", r.BlockedBy+":", r.BlockReason)
		return "", nil
	}
	c.Args = r.Params
	v, err := h.monitor.Decide(ctx, h.at, c)
	if err != nil {
		return "", err
	}
	fmt.Println(c.Name, v.Effect, v.Rule)
	if v.Held != nil {
		return v.Held.ID, nil
	}
	if err := v.Permit.Redeem(c); err != nil {
		return "", err
	}
	_, err = h.monitor.Observe(ctx, tidemark.Observation{Ref: h.at, Result: tool.Result{Name: c.Name, Content: []byte("done")}})
	return "", err
}
