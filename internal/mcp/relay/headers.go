package relay

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidemark/tidemark/internal/mcp/wire"
)

// headersFit looks whether what a header says is what the body says: whoever routes by the header
// must not see another call than was judged.
func (x *exchange) headersFit(m *wire.Message) *wire.Fault {
	h := x.r.Header
	wrong := func(name string) *wire.Fault {
		return &wire.Fault{Code: wire.CodeHeader, Text: "the header " + name + " does not say what the body says", ID: m.ID}
	}
	for _, name := range []string{"Mcp-Method", "Mcp-Protocol-Version", "Mcp-Name"} {
		values := h[name]
		if len(values) == 0 {
			continue
		}
		want := saidInBody(m, name)
		got, ok := plainHeader(values[0])
		if len(values) > 1 || !ok {
			return wrong(name)
		}
		if name == "Mcp-Protocol-Version" && want == "" {
			continue // the older revisions say it in the header alone
		}
		if got != want {
			return wrong(name)
		}
	}
	for name, values := range h {
		param, is := strings.CutPrefix(name, paramPrefix)
		if is && (len(values) != 1 || !x.repeats(m, param, values[0])) {
			return wrong(name)
		}
	}
	return nil
}

// paramPrefix begins the headers that repeat an argument, by the name that its schema gives it.
const paramPrefix = "Mcp-Param-"

// repeats reports whether a header says what the arguments say: the one that the tool's definition names where it is
// known, and otherwise any. What stands in no argument was not judged.
func (x *exchange) repeats(m *wire.Message, param, value string) bool {
	got, ok := plainHeader(value)
	if !ok || m.Method != "tools/call" {
		return false
	}
	args := wire.Get(m.Params, "arguments")
	if schema := x.u.memory.Schema(x.u.Name, wire.Text(m.Params, "name")); schema != nil {
		if path, found := mirrored(schema, param, 0); found {
			return scalar(wire.Get(args, path...)) == got
		}
	}
	return within(args, got, 0)
}

// maxNesting bounds how deep is looked for a value.
const maxNesting = 64

// mirrored is the way to the argument that a header repeats.
func mirrored(schema []byte, param string, depth int) (path []string, found bool) {
	if depth > maxNesting {
		return nil, false
	}
	_ = wire.Members(wire.Get(schema, "properties"), func(key string, value []byte) error { // what cannot be read names nothing
		if found {
			return nil
		}
		if strings.EqualFold(wire.Text(value, "x-mcp-header"), param) {
			path, found = []string{key}, true
			return nil
		}
		if rest, deeper := mirrored(value, param, depth+1); deeper {
			path, found = append([]string{key}, rest...), true
		}
		return nil
	})
	return path, found
}

// scalar is a value as a header has it; "" is that of none.
func scalar(value []byte) string {
	if len(value) == 0 || strings.IndexByte("{[n", value[0]) >= 0 {
		return ""
	}
	if value[0] != '"' {
		return string(value)
	}
	s, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(s)
}

// within reports whether an object has a value somewhere.
func within(object []byte, want string, depth int) (found bool) {
	if depth > maxNesting {
		return false
	}
	_ = wire.Members(object, func(_ string, value []byte) error { // what cannot be read has none
		if value[0] == '{' {
			found = found || within(value, want, depth+1)
		} else {
			found = found || want != "" && scalar(value) == want
		}
		return nil
	})
	return found
}

// saidInBody is what a message says where a header repeats it.
func saidInBody(m *wire.Message, header string) string {
	switch {
	case header == "Mcp-Method":
		return m.Method
	case header == "Mcp-Protocol-Version":
		return wire.Text(wire.Get(m.Params, "_meta"), "io.modelcontextprotocol/protocolVersion")
	case m.Method == "resources/read":
		return wire.Text(m.Params, "uri")
	}
	return wire.Text(m.Params, "name")
}

// plainHeader undoes the form in which a header carries any text.
func plainHeader(v string) (string, bool) {
	packed, begun := strings.CutPrefix(v, "=?base64?")
	packed, ended := strings.CutSuffix(packed, "?=")
	if !begun || !ended {
		return v, true // half of the form is text
	}
	raw, err := base64.StdEncoding.DecodeString(packed)
	return string(raw), err == nil
}
