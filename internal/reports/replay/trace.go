package replay

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

type traceRun struct {
	ID     string           `json:"id"`
	Tools  strictjson.Value `json:"tools"`
	Events []traceEvent     `json:"events"`
	// HostTools are the tools that are the host's own.
	HostTools []string `json:"hostTools"`
	// ControlTools are those by which the host's framework steers itself.
	ControlTools []string `json:"controlTools"`
}

type traceEvent struct {
	User *string `json:"user"`
	// Contract is what an isolated model understood of the user's words, where one was asked.
	Contract strictjson.Value `json:"contract"`
	Call     *struct {
		Tool string           `json:"tool"`
		Args strictjson.Value `json:"args"`
	} `json:"call"`
	Result strictjson.Value `json:"result"`
	Answer string           `json:"answer"`
	// Auditor is what an isolated model answers if it is asked about the act: asked, step, neither or unsure.
	Auditor string `json:"auditor"`
}

// readTrace reads one run.
func readTrace(data []byte, known *catalogue) (Run, error) {
	var in traceRun
	if err := strictjson.Unmarshal(data, &in); err != nil {
		return Run{}, err
	}
	if in.ID == "" {
		return Run{}, errors.New("the run has no id")
	}
	tools, err := known.definitions(in.Tools)
	if err != nil {
		return Run{}, err
	}
	run := Run{ID: in.ID, Tools: tools, HostTools: in.HostTools, ControlTools: in.ControlTools, Events: make([]Event, 0, 2*len(in.Events))}
	for i, e := range in.Events {
		if err := e.add(&run); err != nil {
			return Run{}, fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	return run, nil
}

func (e *traceEvent) add(run *Run) error {
	if (e.User == nil) == (e.Call == nil) {
		return errors.New("an event is either user or call")
	}
	if e.User != nil {
		said := &Said{Text: e.User, Sender: Owner()}
		if len(e.Contract) > 0 && e.Contract.Kind() != 'n' {
			c, err := intent.DecodeContract(e.Contract, nil)
			if err != nil {
				return err
			}
			said.Contract = &c
		}
		run.Events = append(run.Events, Event{Said: said})
		return nil
	}
	if e.Call.Tool == "" {
		return errors.New("a call names no tool")
	}
	c := &Call{Tool: e.Call.Tool, Args: argsOf(e.Call.Args)}
	switch e.Answer {
	case "approve", "once":
		c.Answer, c.Open = Yes, e.Answer == "approve"
	case "task":
		c.Answer = Task
	case "deny":
		c.Answer = No
	case "":
	default:
		return fmt.Errorf("answer %q is none of approve, once, task and deny", e.Answer)
	}
	if _, known := intent.ActNamed(e.Auditor); !known && e.Auditor != "" {
		return fmt.Errorf("auditor %q is none of asked, step, neither and unsure", e.Auditor)
	}
	c.Auditor = e.Auditor
	run.Events = append(run.Events, Event{Call: c}, Event{Result: &Result{Of: c, Content: textOf(e.Result)}})
	return nil
}

// argsOf are the exact bytes of a call's arguments; none are an empty object.
func argsOf(v strictjson.Value) []byte {
	if len(v) == 0 || v.Kind() == 'n' {
		return []byte("{}")
	}
	return v
}

// textOf is a string's text, and of any other value its JSON. Null is nothing.
func textOf(v strictjson.Value) []byte {
	if len(v) == 0 || v.Kind() == 'n' {
		return nil
	}
	var s string
	if v.Kind() == '"' && strictjson.Unmarshal(v, &s) == nil {
		return []byte(s)
	}
	return v
}

// catalogue remembers tool definitions by their text: recordings of one agent repeat
// them in every run. A nil catalogue remembers nothing.
type catalogue struct {
	mu    sync.Mutex
	known map[string][]Definition // guarded by mu
}

// maxCatalogue is how many lists of tools are remembered.
const maxCatalogue = 64

func (c *catalogue) definitions(raw strictjson.Value) ([]Definition, error) {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return nil, nil
	}
	if c == nil {
		return readDefinitions(raw)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if list, ok := c.known[string(raw)]; ok {
		return list, nil
	}
	list, err := readDefinitions(raw)
	if err != nil {
		return nil, err
	}
	if c.known == nil || len(c.known) >= maxCatalogue {
		c.known = map[string][]Definition{}
	}
	c.known[string(raw)] = list
	return list, nil
}

// described is a tool in any of the spellings hosts use.
type described struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Parameters  strictjson.Value `json:"parameters"`
	Input       strictjson.Value `json:"input_schema"`
	InputSchema strictjson.Value `json:"inputSchema"`
	Function    *described       `json:"function"`
}

// Definitions reads a list of tools as hosts hand it to a model or as an MCP server lists it.
func Definitions(raw []byte) ([]Definition, error) {
	var listed struct {
		Tools strictjson.Value `json:"tools"`
	}
	if v := strictjson.Value(raw); v.Kind() == '{' && strictjson.Unmarshal(v, &listed) == nil && listed.Tools.Kind() == '[' {
		return readDefinitions(listed.Tools)
	}
	return readDefinitions(raw)
}

func readDefinitions(raw strictjson.Value) ([]Definition, error) {
	var in []described
	if err := strictjson.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	out := make([]Definition, 0, len(in))
	for i := range in {
		d := &in[i]
		if d.Function != nil {
			d = d.Function
		}
		if d.Name == "" {
			continue // a tool of the provider's own, known by its type alone
		}
		schema := d.Parameters
		for _, other := range []strictjson.Value{d.Input, d.InputSchema} {
			if len(schema) == 0 {
				schema = other
			}
		}
		out = append(out, Definition{Name: d.Name, Description: d.Description, Schema: schema, Params: paramsOf(schema)})
	}
	return out, nil
}

// paramsOf are the names of a schema's properties. A schema that cannot be read has none.
func paramsOf(schema strictjson.Value) []string {
	var s struct {
		Properties map[string]strictjson.Value `json:"properties"`
	}
	if len(schema) == 0 || strictjson.Unmarshal(schema, &s) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}
