package judge

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidemark/tidemark/internal/mcp/wire"
	"github.com/tidemark/tidemark/tool"
)

// codeRefused is that of a refusal where a result cannot carry it; it lies outside what JSON-RPC and
// MCP keep for themselves.
const codeRefused = 403

// codeDeclined is what a server is told whose question was not answered, as clients do.
const codeDeclined = -1

// Failure is a JSON-RPC error. Without an id, where none could be read, it is null.
func Failure(id []byte, code int, text string) []byte {
	if id == nil {
		id = []byte("null")
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = strconv.AppendInt(append(b, `,"error":{"code":`...), int64(code), 10)
	b = appendText(append(b, `,"message":`...), text)
	return append(b, "}}"...)
}

// FaultReply answers a message that was not taken.
func FaultReply(f *wire.Fault) []byte { return Failure(f.ID, f.Code, f.Text) }

// refusal answers a request that does not leave. A call is answered with a result, because that is
// what the model reads as it is in every client.
func (r *request) refusal(text string) []byte {
	if r.method != callMethod {
		return Failure(r.id, codeRefused, text)
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), r.id...)
	b = append(b, `,"result":{`...)
	if r.modern {
		b = append(b, `"resultType":"complete",`...)
	}
	b = appendText(append(b, `"content":[{"type":"text","text":`...), text)
	return append(b, `}],"isError":true}}`...)
}

func appendText(b []byte, text string) []byte {
	out, err := jsontext.AppendQuote(b, text)
	if err != nil { // not UTF-8: what can be said of it is said
		out, _ = jsontext.AppendQuote(b, string([]rune(text)))
	}
	return out
}

// withResult is a response with another result.
func withResult(m *wire.Message, result []byte) ([]byte, error) {
	return wire.Put(m.Raw, "result", result)
}

// labelled is a response whose result says what is known of it, where other monitors look for that. Whatever else its server says there
// stays.
func labelled(m *wire.Message, labels tool.Labels) ([]byte, error) {
	meta, err := within(m.Result, "_meta")
	if err != nil {
		return nil, err
	}
	ifc, err := within(meta, labelsKey)
	if err != nil {
		return nil, err
	}
	if ifc, err = relabelled(ifc, labels); err != nil {
		return nil, err
	}
	if meta, err = wire.Put(meta, labelsKey, ifc); err != nil {
		return nil, err
	}
	result, err := wire.Put(m.Result, "_meta", meta)
	if err != nil {
		return nil, err
	}
	return withResult(m, result)
}

// relabelled is what a server says in labels with ours in its place. Where it says it by paths, ours stand for the whole, in that spelling
// too: who reads paths looks nowhere else.
func relabelled(ifc []byte, labels tool.Labels) ([]byte, error) {
	var paths []string
	err := wire.Members(ifc, func(key string, _ []byte) error {
		if strings.HasPrefix(key, "$") {
			paths = append(paths, key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return withLabels(ifc, labels)
	}
	whole, err := withLabels([]byte("{}"), labels)
	if err != nil {
		return nil, err
	}
	if ifc, err = wire.Cut(ifc, paths...); err != nil {
		return nil, err
	}
	if ifc, err = withLabels(ifc, labels); err != nil {
		return nil, err
	}
	return wire.Put(ifc, "$", whole)
}

// withLabels is an object with both halves of labels in it, as far as anything is said.
func withLabels(object []byte, labels tool.Labels) ([]byte, error) {
	confidentiality := appendText(nil, labels.Confidentiality)
	if names := labels.Names(); len(names) > 0 {
		confidentiality = []byte{'['}
		for i, name := range names {
			if i > 0 {
				confidentiality = append(confidentiality, ',')
			}
			confidentiality = appendText(confidentiality, name)
		}
		confidentiality = append(confidentiality, ']')
	}
	var err error
	if labels.Integrity != "" {
		if object, err = wire.Put(object, "integrity", appendText(nil, labels.Integrity)); err != nil {
			return nil, err
		}
	}
	if labels.Confidentiality != "" {
		object, err = wire.Put(object, "confidentiality", confidentiality)
	}
	return object, err
}

// within is an object inside another; an empty one where there is none.
func within(object []byte, key string) ([]byte, error) {
	o, err := wire.ReadObject(object)
	if err != nil {
		return nil, err
	}
	if in := o.Get(key); len(in) > 0 && in[0] == '{' {
		return in, nil
	}
	return []byte("{}"), nil
}

// progress is a sign of life for the client's own token.
func progress(token []byte, at int, text string) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), token...)
	b = strconv.AppendInt(append(b, `,"progress":`...), int64(at), 10)
	b = appendText(append(b, `,"message":`...), text)
	return append(b, "}}"...)
}
