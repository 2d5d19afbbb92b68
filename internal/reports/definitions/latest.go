package definitions

import (
	"context"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/tool"
)

// Latest is the text of a tool's definition that holds now: the last that its server was let offer, or that a host told.
type Latest struct {
	Tool   string
	Server string // the MCP server that offers it, with its id; empty: a host told it
	Agent  string // of a tool that hosts describe: whose host was the first to tell it so
	tool.Definition
}

// Latest are the definitions that hold now, by tool.
func (b *Book) Latest(ctx context.Context) (map[string][]Latest, error) {
	all, err := b.find(ctx, Filter{})
	if err != nil {
		return nil, err
	}
	out := map[string][]Latest{}
	texts := texts{log: b.log, lists: map[string][]event.Offered{}}
	for i := range all {
		h := &all[i]
		at := len(h.Versions) - 1
		for at >= 0 && (h.Versions[at].State == "hidden" || h.Versions[at].State == "denied") {
			at--
		}
		if at < 0 || strings.HasSuffix(h.Tool, Instructions) {
			continue
		}
		p, ok, err := texts.text(ctx, h.Versions[at].at)
		if err != nil {
			return nil, err
		}
		if !ok || p.Text == "" {
			continue
		}
		l := Latest{Tool: h.Tool, Agent: h.Agent, Definition: definitionOf(h.Tool, &p)}
		if h.Server != "" {
			l.Server = h.Server + "@" + h.On
		}
		out[h.Tool] = append(out[h.Tool], l)
	}
	return out, nil
}

// definitionOf is a text as judgement reads it. What cannot be read of it is left out.
func definitionOf(name string, p *event.Pin) tool.Definition {
	var text struct {
		Description string           `json:"description"`
		Schema      strictjson.Value `json:"inputSchema"`
	}
	var hints struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	}
	_ = strictjson.Unmarshal([]byte(p.Text), &text)
	if p.Hints != "" {
		_ = strictjson.Unmarshal([]byte(p.Hints), &hints)
	}
	return tool.Definition{
		Name: name, Description: text.Description, Schema: text.Schema,
		ReadOnly: hints.ReadOnly, Destructive: hints.Destructive, OpenWorld: hints.OpenWorld,
	}
}
