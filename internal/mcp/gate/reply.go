package gate

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidemark/tidemark/internal/mcp/wire"
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

// progress is a sign of life for the client's own token.
func progress(token []byte, at int, text string) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), token...)
	b = strconv.AppendInt(append(b, `,"progress":`...), int64(at), 10)
	b = appendText(append(b, `,"message":`...), text)
	return append(b, "}}"...)
}
