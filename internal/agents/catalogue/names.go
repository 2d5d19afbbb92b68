package catalogue

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// The tools policy knows by name. An agent's own tool of such a name that is not in the
// agent's table is another tool, and must not be taken for ours.
const canonical = "exec process read write edit apply_patch web_fetch web_search browser image message gateway gog cron tts nodes canvas " +
	"session_status sessions_spawn sessions_send sessions_list sessions_history sessions_yield subagents agents_list " +
	"memory_search memory_get vestige_search vestige_smart_ingest vestige_ingest vestige_promote vestige_demote"

// Reserved are the names of those tools, for whoever names tools of others.
func Reserved() []string { return strings.Fields(canonical) }

// Tools are an agent's own tools, those that come with it, and how it names the others.
type Tools struct {
	Agent  string
	Names  map[string]string                                // the agent's spelling, exactly, to ours
	Server func(name string) (server, tool string, ok bool) // how a tool of an MCP server is named; nil: like any other
	// Unfold writes the parameters of a tool that takes them in forms of its own in words of
	// ours; nil: none does.
	Unfold func(name string, params strictjson.Value) (strictjson.Value, error)
}

// parameters are the names policy looks for, with what agents call them.
var parameters = map[string]map[string][]string{
	"exec": {"command": {"cmd", "command_line", "script"}},
	"read": {"path": {
		"file_path", "absolute_path", "filePath", "notebook_path", "target_file", "dir_path", "directory", "directory_path",
	}},
	"write":       {"path": {"file_path", "absolute_path", "filePath", "notebook_path", "target_file"}},
	"edit":        {"path": {"file_path", "absolute_path", "filePath", "notebook_path", "target_file"}},
	"apply_patch": {"patch": {"command", "input", "patchText", "patch_text"}},
	"web_fetch":   {"url": {"uri", "address"}},
	"web_search":  {"query": {"q", "search_term"}},
}

// own is the canonical tool for what an agent notes for itself or asks its person: nothing
// comes in from outside by it, and nothing leaves.
const own = "session_status"

// fill names the tool of e and its parameters in our words.
func (t *Tools) fill(e *Event, name string, params strictjson.Value) error {
	if name == "" {
		return errors.New("no tool is named")
	}
	e.Tool = t.canonical(name)
	var err error
	e.Params, err = t.params(name, params)
	return err
}

// params gives the parameters of the agent's tool the names policy looks for.
func (t *Tools) params(name string, params strictjson.Value) (strictjson.Value, error) {
	if t.Unfold != nil {
		var err error
		if params, err = t.Unfold(name, params); err != nil {
			return nil, err
		}
	}
	return rename(t.canonical(name), params)
}

// canonical is the name policy knows the tool by.
func (t *Tools) canonical(name string) string {
	if known := t.Names[name]; known != "" {
		return known
	}
	if t.Server != nil {
		if server, tool, ok := t.Server(name); ok {
			return joined(server, tool)
		}
	}
	plain := tool.Name(name)
	for c := range strings.FieldsSeq(canonical) {
		if c == plain {
			return t.Agent + "__" + name
		}
	}
	return name
}

// joined is the name of a server's tool. A server without a name still gets the mark
// between, so that its tool is never one of ours.
func joined(server, tool string) string {
	if server == "" {
		server = "mcp"
	}
	return server + "__" + tool
}

// doubled reads mcp__server__tool.
func doubled(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok && tool != ""
}

// errAmbiguous says that a call names one thing twice and differently: policy would look at
// one of the two, and the agent may act on the other.
var errAmbiguous = errors.New("the tool's parameters name one thing in two ways")

// rename gives parameters the names policy looks for. Keys come out sorted, so that the
// same call has the same bytes before and after it ran.
func rename(tool string, params strictjson.Value) (strictjson.Value, error) {
	if params == nil || params.Kind() == 'n' {
		return strictjson.Value("{}"), nil
	}
	if params.Kind() != '{' {
		return nil, errors.New("the tool's parameters are no object")
	}
	var fields map[string]strictjson.Value
	if err := strictjson.Unmarshal(params, &fields); err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	for ours, theirs := range parameters[tool] {
		if err := gather(fields, ours, theirs); err != nil {
			return nil, err
		}
	}
	out, err := strictjson.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("write parameters: %w", err)
	}
	return out, nil
}

// gather puts what stands under any of their names under ours.
func gather(fields map[string]strictjson.Value, ours string, theirs []string) error {
	v, taken := fields[ours]
	taken = taken && v.Kind() != 'n'
	for _, name := range theirs {
		other, there := fields[name]
		if !there || other.Kind() == 'n' {
			continue
		}
		if taken && string(other) != string(v) {
			return errAmbiguous
		}
		delete(fields, name)
		v, taken = other, true
	}
	if taken {
		fields[ours] = v
	}
	return nil
}
