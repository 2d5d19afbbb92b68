package release

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
)

// judged implements format.Judge: it puts the calls of one answer to the Judge of this package.
type judged struct {
	ctx    context.Context
	judge  Judge
	client *stream // nil for a whole body: nobody waits for signs of life
}

// defaultRefusal stands where a judge refuses without a word.
const defaultRefusal = "This tool call was not permitted and did not run."

// Decide implements format.Judge.
func (a *judged) Decide(id, name string, args []byte) (format.Decision, error) {
	if a.client != nil {
		if err := a.client.flush(); err != nil {
			return format.Decision{}, err
		}
	}
	return a.decide(tool.Call{ID: id, Name: name, Args: args})
}

// decide asks the judge and redeems the permit: there is no other way for a call to be
// allowed.
func (a *judged) decide(call tool.Call) (format.Decision, error) {
	ruling, err := a.ask(tool.Call{ID: call.ID, Name: call.Name, Args: bytes.Clone(call.Args)})
	if err != nil {
		return format.Decision{}, fmt.Errorf("decide call: %w", err)
	}
	if ruling.Call != nil && ruling.Call.ID == call.ID {
		call = *ruling.Call
	}
	if ruling.Permit.Redeem(call) == nil {
		return format.Decision{Allowed: true}, nil
	}
	if ruling.Refusal == "" {
		ruling.Refusal = defaultRefusal
	}
	return format.Decision{Refusal: ruling.Refusal}, nil
}

type ruled struct {
	ruling Ruling
	err    error
}

// ask waits for the judge. While it thinks, the client is kept waiting politely; one that
// has gone away ends the wait.
func (a *judged) ask(c tool.Call) (Ruling, error) {
	if a.client == nil {
		return a.judge.Decide(a.ctx, c)
	}
	o := &a.client.options
	sign := o.API.KeepAlive()
	if o.KeepAlive <= 0 || sign == "" {
		return a.judge.Decide(a.ctx, c)
	}
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	answer := make(chan ruled, 1)
	go func() {
		r, err := a.judge.Decide(ctx, c)
		answer <- ruled{r, err}
	}()
	tick := time.NewTicker(o.KeepAlive)
	defer tick.Stop()
	for {
		select {
		case got := <-answer:
			return got.ruling, got.err
		case <-tick.C:
			if _, err := a.client.w.Write([]byte(sign)); err != nil {
				cancel()
				<-answer
				return Ruling{}, fmt.Errorf("write answer: %w", err)
			}
		}
	}
}

// Observe implements format.Judge.
func (a *judged) Observe(name, id string, content []byte) error {
	if err := a.judge.Observe(a.ctx, name, id, content); err != nil {
		return fmt.Errorf("observe hosted tool: %w", err)
	}
	return nil
}
