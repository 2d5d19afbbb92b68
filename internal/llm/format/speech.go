package format

import (
	"fmt"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Speech is a text of ours as a complete answer of a model.
type Speech struct {
	API     API
	ID      string
	Model   string
	Text    string
	Created int64 // seconds since 1970
}

// NewSpeech names the answer. Unique tells it from all others; given is the id of the answer
// that it stands for, if any: where the provider keeps answers, clients go on from there by it.
func NewSpeech(api API, unique, given string) *Speech {
	s := &Speech{API: api}
	d := dialectOf(api)
	switch {
	case d == nil:
		s.ID = unique
	case d.keepsID && given != "":
		s.ID = given
	default:
		s.ID = d.idPrefix + unique
	}
	return s
}

// Whole is the answer as one body.
func (s *Speech) Whole() []byte {
	if d := dialectOf(s.API); d != nil {
		return d.whole(s)
	}
	return nil
}

// Events is the answer as an event stream.
func (s *Speech) Events() []byte {
	if d := dialectOf(s.API); d != nil {
		return d.events(s)
	}
	return nil
}

// jsonObject is one JSON object.
type jsonObject = map[string]any

// encode writes a value of ours. Text that is no UTF-8 is the only thing that can fail.
func encode(v any) []byte {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return []byte(`{}`)
	}
	return raw
}

// KeepAlive is a sign of life that the format's own clients pass over; "" where they would
// not.
func (api API) KeepAlive() string {
	if d := dialectOf(api); d != nil {
		return d.keepAlive
	}
	return ""
}

// MayBeArray reports whether a stream may be a JSON array instead of events.
func (api API) MayBeArray() bool { d := dialectOf(api); return d != nil && d.array }

// JSONLines reports whether a stream is lines of JSON.
func (api API) JSONLines() bool { d := dialectOf(api); return d != nil && d.lines }

// AppendFailure ends a stream the way the format ends one that failed, so that clients
// raise an error and act on nothing. Array says that the stream is a JSON array.
func (api API) AppendFailure(out []byte, text string, array bool) []byte {
	d := dialectOf(api)
	if d == nil {
		return out
	}
	return d.failure(out, quote(nil, text), array)
}

// Problem is an error as a body in the format's own form, for an HTTP status. It is OpenAI's
// where no format is known.
func (api API) Problem(status int, text string) []byte {
	problem := openProblem
	if d := dialectOf(api); d != nil {
		problem = d.problem
	}
	raw, err := strictjson.Marshal(problem(status, text))
	if err != nil {
		return []byte(`{"error":{"message":"Tidemark: the request was not served"}}`)
	}
	return raw
}

// ErrorKind is what an error is called in a header of its own, where the format has one.
func (api API) ErrorKind(status int) string {
	if d := dialectOf(api); d != nil && d.errorKind != nil {
		return d.errorKind(status)
	}
	return ""
}

// commentAlive is a comment, which clients of event streams pass over.
const commentAlive = ": waiting for a decision\n\n"

// openProblem is an error of OpenAI's.
func openProblem(status int, text string) any {
	return jsonObject{"error": jsonObject{"message": text, "type": problemKind(status), "param": nil, "code": "tidemark"}}
}

// problemKind is an HTTP status in the words of OpenAI and Anthropic, which agree on most.
func problemKind(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 503:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

// eventStream writes objects as events that are named after their type.
func eventStream(events []jsonObject) []byte {
	var out []byte
	for _, e := range events {
		out = fmt.Appendf(out, "event: %s\ndata: %s\n\n", e["type"], encode(e))
	}
	return out
}
