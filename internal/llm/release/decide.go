package release

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
)

// call is one tool call as it is put together.
type call struct {
	id, name string
	kind     string // of Responses: the type of its item
	args     []byte // the exact bytes the client will read
	decided  bool
	allowed  bool
	text     string // in place of a refused one
	shown    bool   // the text was written
}

// unsaid stands where a judge refuses without a word.
const unsaid = "This tool call was not permitted and did not run."

// decide asks the judge and redeems the permit: there is no other way for a call to be
// allowed. While the judge thinks, the client is kept waiting politely.
func (g *gate) decide(c *call) error {
	if c.decided {
		return refused("a tool call was completed twice")
	}
	if err := g.flush(); err != nil {
		return err
	}
	ask := tool.Call{ID: c.id, Name: c.name, Args: c.args}
	ruling, err := g.ask(tool.Call{ID: c.id, Name: c.name, Args: bytes.Clone(c.args)})
	if err != nil {
		return fmt.Errorf("decide call: %w", err)
	}
	if ruling.Call != nil && ruling.Call.ID == c.id {
		ask = *ruling.Call
	}
	c.decided = true
	g.result.Calls++
	if c.allowed = ruling.Permit.Redeem(ask) == nil; c.allowed {
		return nil
	}
	g.result.Refused++
	if c.text = ruling.Refusal; c.text == "" {
		c.text = unsaid
	}
	return nil
}

type ruled struct {
	ruling Ruling
	err    error
}

// ask waits for the judge. A client that has gone away ends the wait.
func (g *gate) ask(c tool.Call) (Ruling, error) {
	sign := keepAlive(g.o.API)
	if g.o.KeepAlive <= 0 || sign == "" || g.w == nil {
		return g.j.Decide(g.ctx, c)
	}
	ctx, cancel := context.WithCancel(g.ctx)
	defer cancel()
	answer := make(chan ruled, 1)
	go func() {
		r, err := g.j.Decide(ctx, c)
		answer <- ruled{r, err}
	}()
	tick := time.NewTicker(g.o.KeepAlive)
	defer tick.Stop()
	for {
		select {
		case a := <-answer:
			return a.ruling, a.err
		case <-tick.C:
			if _, err := g.w.Write([]byte(sign)); err != nil {
				cancel()
				<-answer
				return Ruling{}, fmt.Errorf("write answer: %w", err)
			}
		}
	}
}

// observe tells the judge of content that a tool of the provider's brought.
func (g *gate) observe(name, id string, content []byte) error {
	g.result.Hosted = true
	if err := g.j.Observe(g.ctx, name, id, bytes.Clone(content)); err != nil {
		return fmt.Errorf("observe hosted tool: %w", err)
	}
	g.pieces = append(g.pieces, piece{part: format.Part{Kind: format.Hosted, Name: name, CallID: id, Text: string(content)}})
	return nil
}

// piece is a part that may still grow.
type piece struct {
	part format.Part
	text []byte
	call *call
}

// say adds the inside of a JSON string to the text that goes by key.
func (g *gate) say(kind format.Kind, key int, quoted []byte) {
	if len(quoted) <= 2 {
		return
	}
	p := g.piece(kind, key)
	p.text = format.AppendText(p.text, quoted[1:len(quoted)-1])
}

// said reports whether there is text by that key.
func (g *gate) said(kind format.Kind, key int) bool {
	_, ok := g.saidBy[key*8+int(kind)]
	return ok
}

func (g *gate) piece(kind format.Kind, key int) *piece {
	key = key*8 + int(kind)
	i, ok := g.saidBy[key]
	if !ok {
		i = len(g.pieces)
		g.saidBy[key] = i
		g.pieces = append(g.pieces, piece{part: format.Part{Kind: kind}})
	}
	return &g.pieces[i]
}

// sayPlain is say for words of ours.
func (g *gate) sayPlain(key int, words string) {
	p := g.piece(format.Text, key)
	p.text = append(p.text, words...)
}

// note puts a call where it stands among the parts.
func (g *gate) note(c *call) { g.pieces = append(g.pieces, piece{call: c}) }

// outcome is what the client has got so far. A refused call in a format where our words
// stand in its place is a text.
func (g *gate) outcome() Outcome {
	for _, p := range g.pieces {
		if c := p.call; c != nil && c.decided && !c.allowed && c.kind != "" {
			g.result.Owed = append(g.result.Owed, format.Owed{Kind: c.kind, CallID: c.id, Text: c.text})
		}
		switch {
		case p.call == nil:
			if p.text != nil {
				p.part.Text = string(p.text)
			}
			g.result.Parts = append(g.result.Parts, p.part)
		case p.call.allowed:
			g.result.Parts = append(g.result.Parts, format.Part{Kind: format.Call, CallID: p.call.id, Name: p.call.name, Args: p.call.args})
		case p.call.decided && p.call.shown:
			g.result.Parts = append(g.result.Parts, format.Part{Kind: format.Text, Text: p.call.text})
		}
	}
	return g.result
}
