package judge

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/mcp/wire"
	"github.com/tidemark/tidemark/tool"
)

// outcome is a result as far as the gate looks at it.
type outcome struct {
	content []byte // what it brings in
	kind    string // resultType
	task    string // the task whose result comes later
	state   []byte // requestState, of a question
	info    []byte // what the server says of itself beside the content, as the newer revisions do with every answer; nil: nothing
	labels  tool.Labels
	failed  bool
}

// outcomeOf reads a result. Hosts differ in what of it they show their model, so all of it counts: plain text
// where it is nothing else, otherwise the whole as it came.
func outcomeOf(m *wire.Message) outcome {
	o := outcome{content: m.Result}
	if len(m.Result) == 0 || m.Result[0] != '{' {
		return o
	}
	var plain []byte
	alone, direct := true, ""
	err := m.EachResult(func(key string, value []byte) error {
		switch key {
		case "content":
			texts, only := wire.Texts(value)
			plain, alone = texts, alone && only
			o.labels = o.labels.And(tool.LabelsOfContent(value))
		case "contents": // of a resource
			o.labels, alone = o.labels.And(tool.LabelsOfContent(value)), false
		case "isError":
			o.failed = string(value) == "true"
		case "resultType":
			o.kind, alone = strings.Trim(string(value), `"`), alone && string(value) == `"complete"`
		case "_meta":
			info, labels, only := metadata(value)
			o.info, o.labels, alone = info, o.labels.And(labels), alone && only
		case "task":
			o.task, alone = wire.Text(value, "taskId"), false
		case "taskId":
			direct, alone = strings.Trim(string(value), `"`), false
		case "requestState":
			o.state, alone = slices.Clone(value), false
		default:
			alone = false
		}
		return nil
	})
	if o.kind == "task" && o.task == "" {
		o.task = direct
	}
	if err == nil && alone && plain != nil {
		o.content = plain
	} else {
		o.info = nil // it is in the content
	}
	return o
}

const infoKey = "io.modelcontextprotocol/serverInfo"

// labelsKey is where servers say of a result who may read it and whether it is to be trusted.
const labelsKey = "ifc"

// metadata is what a server says of itself and of its result in the metadata of an answer, and whether that is all they say.
func metadata(meta []byte) (info []byte, labels tool.Labels, only bool) {
	members, err := wire.ReadObject(meta)
	if err != nil {
		return nil, tool.Labels{}, false
	}
	known := 0
	if info = members.Get(infoKey); len(info) > 0 {
		known++
	}
	if ifc := members.Get(labelsKey); len(ifc) > 0 {
		labels, known = tool.LabelsOf(ifc), known+1
	}
	return info, labels, len(members) == known
}

// definitions are the tools of a listing, named as policy names them. What cannot be read of one is
// left out of it: then nothing is understood of it, which is the strict answer.
func definitions(server string, result []byte) []tool.Definition {
	var page struct {
		Tools []struct {
			Name        string           `json:"name"`
			Description string           `json:"description"`
			Schema      strictjson.Value `json:"inputSchema"`
			Annotations struct {
				ReadOnly    *bool `json:"readOnlyHint"`
				Destructive *bool `json:"destructiveHint"`
				OpenWorld   *bool `json:"openWorldHint"`
			} `json:"annotations"`
		} `json:"tools"`
	}
	if strictjson.Unmarshal(result, &page) != nil {
		return nil
	}
	out := make([]tool.Definition, 0, len(page.Tools))
	for _, t := range page.Tools {
		if isOwn(t.Name) {
			continue
		}
		out = append(out, tool.Definition{
			Name: ToolName(server, t.Name), Description: t.Description, Schema: t.Schema,
			ReadOnly: t.Annotations.ReadOnly, Destructive: t.Annotations.Destructive, OpenWorld: t.Annotations.OpenWorld,
		})
	}
	return out
}

// beside is what a listing of tools says besides what definitions hold: titles, annotations, schemas of results, members that
// nobody knows, and what stands beside the tools.
func beside(result []byte) []byte {
	out := []byte{'['}
	add := func(raw []byte, err error) {
		if err != nil || string(raw) == "{}" {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	add(wire.Cut(result, "tools", "nextCursor", "ttlMs", "cacheScope", "resultType"))
	var page struct {
		Tools []strictjson.Value `json:"tools"`
	}
	if strictjson.Unmarshal(result, &page) != nil {
		return result // what cannot be taken apart counts as a whole
	}
	for _, t := range page.Tools {
		if t.Kind() != '{' {
			add(t, nil)
			continue
		}
		add(wire.Cut(t, "name", "description", "inputSchema"))
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, ']')
}

// ToolName is the name by which policy knows a tool of a server.
func ToolName(server, name string) string { return server + "__" + name }
