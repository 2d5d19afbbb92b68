package release

import (
	"bytes"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// raw is the bytes of a value.
func (d *doc) raw(i int) []byte { return d.src[d.nodes[i].start:d.nodes[i].end] }

// name is the key of a value in an object.
func (d *doc) name(i int) string { return unquote(d.src[d.nodes[i].key:d.nodes[i].keyed]) }

// kind is what a value is, 0 for none. A null is none.
func (d *doc) kind(i int) byte {
	if i == none || d.nodes[i].kind == 'n' {
		return 0
	}
	return d.nodes[i].kind
}

// each goes through the members of an object or the entries of a list.
func (d *doc) each(at int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if at == none || d.nodes[at].kind != '{' && d.nodes[at].kind != '[' {
			return
		}
		for i := at + 1; i < d.nodes[at].skip; i = d.nodes[i].skip {
			if !yield(i) {
				return
			}
		}
	}
}

// get is the member of that name, in whatever spelling: some clients take case and
// underscores as they come. Two spellings in one object make the doc odd.
func (d *doc) get(at int, name string) int {
	if at == none || d.nodes[at].kind != '{' {
		return none
	}
	found := none
	for i := at + 1; i < d.nodes[at].skip; i = d.nodes[i].skip {
		if !loose(d.src[d.nodes[i].key+1:d.nodes[i].keyed-1], name) {
			continue
		}
		if found != none {
			d.odd = true
		}
		found = i
	}
	return found
}

// loose reports whether a reader could take key for name, which is lower case, or camel
// case.
func loose(key []byte, name string) bool {
	i, k := 0, 0
	for i < len(key) {
		c := key[i]
		if c == '\\' || c >= utf8.RuneSelf {
			return looseSlow(key, name)
		}
		if c == '_' || c == '-' {
			i++
			continue
		}
		for k < len(name) && name[k] == '_' {
			k++
		}
		if k == len(name) || lower(c) != lower(name[k]) {
			return false
		}
		i++
		k++
	}
	return strings.Trim(name[k:], "_") == ""
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func looseSlow(key []byte, name string) bool {
	return folded(unquote(append(append([]byte{'"'}, key...), '"'))) == folded(name)
}

// folded maps names that any reader could take for one another to one spelling.
func folded(s string) string {
	return dashes.Replace(strings.ToLower(strings.ToUpper(s)))
}

// dashes takes out what joins words. It never changes.
var dashes = strings.NewReplacer("_", "", "-", "")

// plainKeys are the names that nearly every event has, folded: they cost nothing.
var plainKeys = map[string]string{
	"id": "id", "object": "object", "created": "created", "model": "model", "choices": "choices", "usage": "usage",
	"index": "index", "delta": "delta", "content": "content", "role": "role", "logprobs": "logprobs",
	"finish_reason": "finishreason", "tool_calls": "toolcalls", "reasoning_content": "reasoningcontent",
	"system_fingerprint": "systemfingerprint", "service_tier": "servicetier", "obfuscation": "obfuscation",
	"candidates": "candidates", "usageMetadata": "usagemetadata", "modelVersion": "modelversion",
	"responseId": "responseid", "text": "text", "parts": "parts", "finishReason": "finishreason",
	"thought": "thought", "safetyRatings": "safetyratings", "promptTokenCount": "prompttokencount",
	"candidatesTokenCount": "candidatestokencount", "totalTokenCount": "totaltokencount", "modality": "modality",
	"thoughtsTokenCount": "thoughtstokencount", "promptTokensDetails": "prompttokensdetails", "tokenCount": "tokencount",
	"trafficType": "traffictype", "cachedContentTokenCount": "cachedcontenttokencount",
}

// fold is the key of a member in the one spelling that stands for all a reader may take
// for it.
func (d *doc) fold(i int) string {
	if s, ok := plainKeys[string(d.src[d.nodes[i].key+1:d.nodes[i].keyed-1])]; ok {
		return s
	}
	return folded(d.name(i))
}

// nested reports whether a value can hold others.
func (d *doc) nested(i int) bool {
	return i != none && (d.nodes[i].kind == '{' || d.nodes[i].kind == '[')
}

// str is a string member as text; "" for anything else.
func (d *doc) str(at int, name string) string { return d.text(d.get(at, name)) }

// text is a string value; half a surrogate pair becomes a replacement character.
func (d *doc) text(i int) string {
	if d.kind(i) != '"' {
		return ""
	}
	return unquote(d.raw(i))
}

// exact is a string member that a call is made of: it must be read the same by everybody.
func (d *doc) exact(at int, name string) (string, error) {
	i := d.get(at, name)
	switch {
	case d.kind(i) == 0:
		return "", nil
	case d.nodes[i].kind != '"' || d.nodes[i].lone:
		return "", refused("a tool call has something other than text where text belongs")
	}
	return unquote(d.raw(i)), nil
}

// is reports whether a string member has this value, without allocating.
func (d *doc) is(i int, want string) bool {
	if d.kind(i) != '"' {
		return false
	}
	raw := d.raw(i)
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') >= 0 {
		return unquote(d.raw(i)) == want
	}
	return string(raw) == want
}

// unquote is the text of a JSON string that is known to be well formed.
func unquote(quoted []byte) string {
	in := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(in, '\\') < 0 {
		return string(in)
	}
	return string(format.AppendText(make([]byte, 0, len(in)), in))
}

// callish reports whether a value of a shape nobody here knows looks as if a call were in
// it, anywhere.
func (d *doc) callish(at int) bool {
	if at == none {
		return false
	}
	for i := at; i < d.nodes[at].skip; i++ {
		n := &d.nodes[i]
		if n.keyed > n.key && i > at && d.kind(i) != 0 && callKey(d.fold(i)) {
			return true
		}
		if n.kind == '"' && n.end-n.start < 256 && d.callType(i) {
			return true
		}
	}
	return false
}

func callKey(key string) bool {
	switch key {
	case "toolcalls", "toolcall", "functioncall", "functioncalls", "tooluse", "callid", "partialjson", "arguments", "args", "partialargs", "contentblock":
		return true
	}
	return strings.HasSuffix(key, "call") || strings.HasSuffix(key, "calls")
}

// callType reports whether a string is what a call says it is.
func (d *doc) callType(i int) bool {
	raw := d.raw(i)
	s := raw[1 : len(raw)-1]
	if bytes.IndexByte(s, '\\') >= 0 {
		s = []byte(unquote(raw))
	}
	return string(s) == "function" || string(s) == "input_json_delta" || bytes.HasSuffix(s, []byte("_call")) || bytes.HasSuffix(s, []byte("tool_use"))
}
