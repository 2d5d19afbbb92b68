package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// An answer is read by the schema of its format, and no list of suspicious words is asked.
//
//   - Calls stand in the places that the schema names: tool_calls of a message, output items,
//     content blocks, parts. Those are judged.
//   - An item, a block or a part of a type that nobody here knows is judged as well, as a call
//     of a tool of that name: its client may act on it.
//   - A member that nobody here knows, of an object that is known, passes: providers add them.
//     But where an object stands in it, or in an event of an unknown type, that has a member
//     of which the format makes its calls (a name, arguments; beside the answer itself a name
//     is not enough; in Responses also the type of a call's item), a client could take it for
//     a call, and the answer is refused. The operator may vouch for a member or a type
//     (llm.upstreams.<name>.passNames).
//   - What only counts (usage) carries no call to any client, whatever it holds.

// vouch notes what the operator says carries no calls, in the spelling that counts.
func (a *Answer) vouch(names []string) {
	for _, n := range names {
		if a.vouched == nil {
			a.vouched = map[string]bool{}
		}
		a.vouched[folded(n)] = true
	}
}

// strays reports whether a member that the schema does not know could be taken for a call.
func (a *Answer) strays(d *doc, i int) bool {
	if !d.Nested(i) || d.Keyed(i) && a.vouched[d.fold(i)] || !a.builds(d, i) {
		return false
	}
	if d.Keyed(i) {
		a.odd = string(d.Key(i))
	}
	return true
}

// straysNamed is strays for a member that is known, in which things have names: that alone says nothing.
func (a *Answer) straysNamed(d *doc, i int) bool {
	if !d.Nested(i) || a.vouched[d.fold(i)] || !holds(d, i, a.parts[1:]) {
		return false
	}
	a.odd = string(d.Key(i))
	return true
}

// named is an error about a member or a type that is not known, with its name where that is
// nothing but one: an operator must know what to vouch for.
func (a *Answer) named(err error) error {
	if !errors.Is(err, errUnknown) || a.odd == "" || len(a.odd) > 48 || strings.Trim(a.odd, letters) != "" {
		return err
	}
	return fmt.Errorf("%w: %s (llm.upstreams.<name>.passNames vouches for one)", err, a.odd)
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

// Strictly reads an answer of which nobody says that calls are judged: beside the text in it
// nothing may have as much as a name.
func (a *Answer) Strictly() { a.strict = true }

// straysBeside is strays for the members of an envelope that are not the answer itself. Much
// that providers put there has a name (of an agent, of a server), so that alone says
// nothing. A list in the place of an envelope is none that anybody knows.
func (a *Answer) straysBeside(d *doc, at int, known ...string) bool {
	if d.Kind(at) == '[' {
		return true
	}
	parts := a.parts[1:]
	if a.strict {
		parts = a.parts
	}
	for i := range d.Each(at) {
		if !d.Nested(i) {
			continue
		}
		name := d.fold(i)
		if slices.Contains(known, name) || a.vouched[name] {
			continue
		}
		if slices.Contains(parts, name) || holds(d, i, parts) {
			a.odd = string(d.Key(i))
			return true
		}
	}
	return false
}

// blockMembers are the members of content blocks in which a name or an input says nothing: of
// the block's own call, and of what a tool of the provider's was given or brought.
var blockMembers = map[Kind][]string{
	Call:   {"input", "name", "caller"},
	Hosted: {"input", "name", "caller", "content", "tools"},
}

// strayBlock reports whether a content block of Messages holds what a client could take for a
// call, in a member that is none of its own. A block of a type that is not known is judged with
// all that is in it.
func (a *Answer) strayBlock(d *doc, at int) bool {
	kind := a.blockKind(d, at)
	if kind == Call && !d.Is(d.get(at, "type"), "tool_use") {
		return false
	}
	return a.strayMember(d, at, blockMembers[kind], a.strays)
}

// strayMember reports whether a member of an object that is known could be taken for a call,
// or makes one of the object itself.
func (a *Answer) strayMember(d *doc, at int, known []string, strays func(*doc, int) bool) bool {
	if d.Kind(at) == '[' {
		return true
	}
	for i := range d.Each(at) {
		name := d.fold(i)
		if slices.Contains(known, name) || d.Kind(i) == 0 || a.vouched[name] {
			continue
		}
		if slices.Contains(a.parts[1:], name) || strays(d, i) {
			a.odd = string(d.Key(i))
			return true
		}
	}
	return false
}

// itemMembers are the members of Responses' items in which a name or arguments say nothing, by
// what the item is.
var itemMembers = map[Kind][]string{
	Call: {"arguments", "callid", "action", "actions", "operation", "input", "caller", "environment",
		"pendingsafetychecks", "acknowledgedsafetychecks"},
	Hosted: {"arguments", "callid", "action", "operation", "input", "caller", "environment", "results", "outputs", "output",
		"tools", "error", "queries", "sources"},
	Other: {"tools"},
}

// strayItem is strayBlock for an item of Responses. What it says is in parts, of types that are known.
func (a *Answer) strayItem(d *doc, at int) bool {
	kind := a.itemKind(d, at)
	if t := d.str(at, "type"); kind == Call && !callItem(t) {
		return false
	}
	if a.strayMember(d, at, itemMembers[kind], func(d *doc, i int) bool { return itemInside(a, d, i, a.parts) }) {
		return true
	}
	for part := range d.Each(d.get(at, "content")) {
		if a.strayPart(d, part) {
			return true
		}
	}
	return false
}

// strayPart reports whether a part of what a model says is of a type that nobody here knows.
func (a *Answer) strayPart(d *doc, part int) bool {
	if d.Kind(part) != '{' {
		return false
	}
	switch t := d.str(part, "type"); t {
	case "", "output_text", "text", "refusal", "reasoning_text", "summary_text", "input_text", "output_image", "output_audio",
		"input_image", "input_file", "input_audio", "encrypted_content":
		return false
	default:
		a.odd = t
		return !a.vouched[folded(t)]
	}
}

// straysIn is strays for an event of an unknown type: the event itself may be the call.
func (a *Answer) straysIn(d *doc, kind string) bool {
	return !a.vouched[folded(kind)] && a.builds(d, 0)
}

// builds reports whether an object stands in a value, or is it, that has a member of which
// the format makes calls.
func (a *Answer) builds(d *doc, at int) bool { return holds(d, at, a.parts) }

// holds reports whether a member of one of these names stands in a value, at any depth.
func holds(d *doc, at int, names []string) bool {
	if at == jsonspan.None {
		return false
	}
	for i := at + 1; i < d.Next(at); i++ {
		if d.Keyed(i) && d.Kind(i) != 0 && slices.Contains(names, d.fold(i)) {
			return true
		}
	}
	return false
}

// formWords are what a request holds at least that asks for data and not for words: most hold none of them, and are not read again.
var formWords = [][]byte{[]byte("json_schema"), []byte("json_object"), []byte("responseMimeType"), []byte(`"format"`)}

// Formed reports whether the client asks for an answer in a form of data: a program reads it, and shows nothing of it as it is. Nothing
// that was read can say so, because it stands beside the messages.
func (r *Request) Formed() bool {
	has := false
	for _, w := range formWords {
		has = has || bytes.Contains(r.Body, w)
	}
	if !has {
		return false
	}
	type kind struct {
		Type string `json:"type"`
	}
	var body struct {
		Chat kind `json:"response_format"`
		Text struct {
			Format kind `json:"format"`
		} `json:"text"`
		Messages kind `json:"output_format"`
		Output   struct {
			Format kind `json:"format"`
		} `json:"output_config"`
		Config map[string]strictjson.Value `json:"generationConfig"`
		Ollama strictjson.Value            `json:"format"`
	}
	if strictjson.Unmarshal(r.Body, &body) != nil {
		return false
	}
	formed := func(k kind) bool { return k.Type == "json_schema" || k.Type == "json_object" }
	switch r.API {
	case Chat:
		return formed(body.Chat)
	case Responses:
		return formed(body.Text.Format)
	case Messages:
		return formed(body.Messages) || formed(body.Output.Format)
	case Gemini:
		return string(body.Config["responseMimeType"]) == `"application/json"`
	case Ollama:
		return string(body.Ollama) == `"json"` || len(body.Ollama) > 0 && body.Ollama.Kind() == '{'
	}
	return false
}
