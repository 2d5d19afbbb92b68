package format

import (
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// doc is an answer, or one event of it, as clients may read it: some take names in any case
// and with or without underscores.
type doc struct {
	jsonspan.Doc
	ambiguous bool // a name was asked for and two spellings of it are there
}

// read reads src strictly. The doc points into it.
func (d *doc) read(src []byte) error {
	d.ambiguous, d.Halves = false, true
	if d.Read(src) == nil {
		return nil
	}
	if !utf8.Valid(src) {
		return errNotUTF8
	}
	return errNotJSON
}

// get is the member of that name, in whatever spelling. Two spellings in one object make
// the doc ambiguous.
func (d *doc) get(at int, name string) int {
	found := jsonspan.None
	if d.Kind(at) != '{' {
		return found
	}
	for i, end := at+1, d.Next(at); i < end; i = d.Next(i) {
		if !soundsLike(d.RawKey(i), name) {
			continue
		}
		if found != jsonspan.None {
			d.ambiguous = true
		}
		found = i
	}
	return found
}

// soundsLike reports whether a reader could take key for name, which is lower case, or camel
// case.
func soundsLike(key []byte, name string) bool {
	i, k := 0, 0
	for i < len(key) {
		c := key[i]
		if c == '\\' || c >= utf8.RuneSelf {
			return soundsLikeSlow(key, name)
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

func soundsLikeSlow(key []byte, name string) bool {
	return folded(string(jsonspan.AppendText(nil, key))) == folded(name)
}

// folded maps names that any reader could take for one another to one spelling.
func folded(s string) string {
	return dashes.Replace(strings.ToLower(strings.ToUpper(s)))
}

// dashes takes out what joins words. It never changes.
var dashes = strings.NewReplacer("_", "", "-", "")

// plainKeys are the names that nearly every event has, folded: they cost nothing.
var plainKeys = map[string]string{
	"type": "type", "thinking": "thinking", "signature": "signature", "content_block": "contentblock", "message": "message",
	"response": "response", "traceId": "traceid", "reasoningContent": "reasoningcontent", "toolUse": "tooluse",
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
	if s, ok := plainKeys[string(d.RawKey(i))]; ok {
		return s
	}
	return folded(string(d.Key(i)))
}

// str is a string member as text; "" for anything else.
func (d *doc) str(at int, name string) string { return d.Text(d.get(at, name)) }

// exact is a string member that a call is made of: it must be read the same by everybody.
func (d *doc) exact(at int, name string) (string, error) {
	i := d.get(at, name)
	switch {
	case d.Kind(i) == 0:
		return "", nil
	case d.Kind(i) != '"' || d.Half(i):
		return "", Refused("a tool call has something other than text where text belongs")
	}
	return d.Text(i), nil
}
