package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/tool"
)

// run is one recorded conversation.
type run struct {
	ID     string       `json:"id"`
	Tools  []definition `json:"tools"`
	Events []event      `json:"events"`
}

type definition struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Parameters  strictjson.Value `json:"parameters"`
	InputSchema strictjson.Value `json:"inputSchema"`
	Annotations strictjson.Value `json:"annotations"` // whatever a server writes there
}

// hints are the annotations that are looked at.
type hints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

type event struct {
	User     *string   `json:"user"`
	Contract *contract `json:"contract"`
	Call     *struct {
		Tool string           `json:"tool"`
		Args strictjson.Value `json:"args"`
	} `json:"call"`
	Result any    `json:"result"`
	Answer string `json:"answer"` // of the person who is asked
}

type contract struct {
	Acts []struct {
		Tool string         `json:"tool"`
		Args map[string]any `json:"args"`
		Most int            `json:"most"`
	} `json:"acts"`
	Opens     string `json:"opens"`
	Delegates bool   `json:"delegates"`
	Why       string `json:"why"`
}

// decision is what is printed of one call, in replay's words.
type decision struct {
	ID       string `json:"id"`
	Step     int    `json:"step"`
	Decision string `json:"decision"`
	Rule     string `json:"rule"`
	Reason   string `json:"reason"`
	Shown    string `json:"shown"` // what the person would see
	Taint    string `json:"taint"`
}

// decisions are those for the calls of one run, a line each.
func decisions(table *vocabulary.Table, line []byte) ([]byte, error) {
	var r run
	if err := strictjson.UnmarshalKnown(line, &r); err != nil {
		return nil, err
	}
	tools, err := definitions(r.Tools)
	if err != nil {
		return nil, err
	}
	c := warrant.New(table)
	c.Tools(tools)
	var out []byte
	step := 0
	for _, e := range r.Events {
		if e.User != nil {
			c.User(*e.User)
			if e.Contract != nil {
				c.Contract(e.Contract.read())
			}
		}
		if e.Call == nil {
			continue
		}
		args := tool.NewArgs(e.Call.Args)
		d := decide(c.Of(e.Call.Tool, &args), &args)
		d.ID, d.Step = r.ID, step
		if out, err = strictjson.Append(out, d); err != nil {
			return nil, err
		}
		out = append(out, '\n')
		step++
		if d.Decision == "allow" || e.Answer == "approve" {
			content, err := text(e.Result)
			if err != nil {
				return nil, err
			}
			c.Result(warrant.Result{Tool: e.Call.Tool, Step: uint64(step), Args: &args, Content: content})
		}
	}
	return out, nil
}

func decide(w *warrant.Warrant, args *tool.Args) decision {
	lacks := w.Lacks(warrant.Balanced(w.Deed))
	if len(lacks) == 0 {
		return decision{Decision: "allow"}
	}
	first := lacks[0]
	shown := string(args.Raw())
	if fields, err := args.Fields(); err == nil {
		shown += " " + flat(fields)
	}
	return decision{
		Decision: "ask", Rule: w.Deed.String() + "." + first.Kind.String(),
		Reason: first.Why + " | " + first.Value, Shown: shown,
	}
}

func definitions(list []definition) ([]tool.Definition, error) {
	var out []tool.Definition
	for _, d := range list {
		schema := d.Parameters
		if schema == nil {
			schema = d.InputSchema
		}
		var a hints
		if d.Annotations != nil {
			if err := strictjson.Unmarshal(d.Annotations, &a); err != nil {
				return nil, err
			}
		}
		out = append(out, tool.Definition{
			Name: d.Name, Description: d.Description, Schema: []byte(schema),
			ReadOnly: a.ReadOnly, Destructive: a.Destructive, OpenWorld: a.OpenWorld,
		})
	}
	return out, nil
}

func (k *contract) read() *warrant.Contract {
	out := &warrant.Contract{Opens: k.Opens}
	for _, a := range k.Acts {
		args := map[string]string{}
		for name, source := range a.Args {
			args[name] = fmt.Sprint(source)
		}
		out.Acts = append(out.Acts, warrant.Promise{Tool: a.Tool, Args: args})
	}
	return out
}

// text is a result as the agent read it.
func text(result any) (string, error) {
	switch v := result.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	raw, err := strictjson.Marshal(result)
	return string(raw), err
}

// flat is every value in its own words, without the escapes of JSON.
func flat(v any) string {
	switch v := v.(type) {
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, flat(e))
		}
		return strings.Join(parts, " ")
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, flat(v[k]))
		}
		return strings.Join(parts, " ")
	}
	return fmt.Sprint(v)
}
