package format

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// errShape is what every complaint about a value of the wrong type wraps.
var errShape = errors.New("wrong shape")

type span = jsonspan.Span

// field is a member of an object. at is where its key starts, span is its value; value is
// its number in the parser's doc, while that is what was read last.
type field struct {
	key string
	at  int
	span
	value int
}

// parser reads what clients say. The first complaint stays. Values go by their number in
// doc, which holds one member or one entry of the request at a time.
type parser struct {
	b    []byte
	api  *dialect
	doc  jsonspan.Doc
	err  error
	pool []field                          // objects of one message share their memory
	tell func(result *Part, content span) // nil: nobody wants to know where results stand
}

func newParser(b []byte, api *dialect) *parser { return &parser{b: b, api: api} }

// load reads a value of the request that was checked before; its number is 0.
func (p *parser) load(at span) int {
	p.pool = p.pool[:0]
	p.doc.Start(p.b, at.Start, 0)
	if err := p.doc.Value(); err != nil && p.err == nil {
		p.err = err
	}
	return 0
}

func (p *parser) fail(at int, format string, args ...any) {
	p.failAt(p.doc.Span(at), format, args...)
}

func (p *parser) failAt(at span, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w at byte %d: %s", errShape, at.Start, fmt.Sprintf(format, args...))
	}
}

func (p *parser) raw(at int) []byte { return p.doc.Raw(at) }

// is reports what a value is: " for a text, { [ t or f, 0 for a number.
func (p *parser) is(at int, kind byte) bool { return p.doc.Kind(at) == kind }

// isNull reports whether a member of the request is null.
func (p *parser) isNull(at span) bool { return p.b[at.Start] == 'n' }

// list is the elements of an array.
func (p *parser) list(at int, what string) []int {
	if !p.is(at, '[') {
		p.fail(at, "%s is not a list", what)
		return nil
	}
	var out []int
	for i := range p.doc.Each(at) {
		out = append(out, i)
	}
	return out
}

// elements are the places of an array's elements, which are not kept in doc: the array may
// be a whole conversation.
func (p *parser) elements(list span) []span {
	var out []span
	p.doc.Start(p.b, list.Start+1, 0)
	for p.doc.Peek() != ']' {
		at, err := p.doc.Skip()
		if err != nil {
			p.failAt(list, "the list cannot be read: %v", err)
			return nil
		}
		out = append(out, at)
		if p.doc.Peek() == ',' {
			_ = p.doc.Expect(',') // it was looked at
		}
	}
	return out
}

// object is an object that is understood: no two of its keys could be taken for one
// another, and none for a key that means something.
type object struct {
	p      *parser
	at     int
	fields []field
}

func (p *parser) object(at int, what string) object {
	o := object{p: p, at: at}
	if !p.is(at, '{') {
		p.fail(at, "%s is not an object", what)
		return o
	}
	base := len(p.pool)
	for i := range p.doc.Each(at) {
		p.pool = append(p.pool, field{key: p.name(p.doc.Key(i)), at: p.doc.Member(i).Start, span: p.doc.Span(i), value: i})
	}
	o.fields = p.pool[base:len(p.pool):len(p.pool)]
	if err := checkKeys(o.fields); err != nil && p.err == nil {
		p.err = fmt.Errorf("read %s at byte %d: %w", what, p.doc.Span(at).Start, err)
	}
	return o
}

// free reads an object of free form: its keys may look like anything.
func (p *parser) free(at int) object {
	before := p.err
	o := p.object(at, "result")
	p.err = before
	return o
}

// name is the spelling of a key that counts. Keys we know cost no memory.
func (p *parser) name(key []byte) string {
	known, ok := knownKeys[string(key)]
	if !ok {
		known = string(key)
	}
	if p.api.camel {
		return camel(known)
	}
	return known
}

// message is one that stands where the object does.
func (o object) message(r Role) Message {
	at := o.p.doc.Span(o.at)
	return Message{Role: r, Start: at.Start, End: at.End}
}

// get is a member; null counts as absent, as it does for every provider.
func (o object) get(key string) (int, bool) {
	for _, f := range o.fields {
		if f.key == key {
			return f.value, o.p.doc.Kind(f.value) != 0
		}
	}
	return jsonspan.None, false
}

// str is a member that must be a text.
func (o object) str(key string) string {
	at, ok := o.get(key)
	if !ok {
		return ""
	}
	return o.p.str(at, key)
}

func (p *parser) str(at int, what string) string {
	if !p.is(at, '"') {
		p.fail(at, "%s is not a text", what)
		return ""
	}
	return p.doc.Text(at)
}

// yes reports whether a member is true.
func (o object) yes(key string) bool {
	at, ok := o.get(key)
	return ok && o.p.is(at, 't')
}

// bytes is a copy of a member's JSON; nil where there is none.
func (o object) bytes(key string) []byte {
	at, ok := o.get(key)
	if !ok {
		return nil
	}
	return bytes.Clone(o.p.raw(at))
}

// other is a part that is not understood: all of it, as it stands.
func (p *parser) other(at int) Part { return Part{Kind: Other, Text: string(p.raw(at))} }

// fewKeys is up to how many keys of an object are compared one by one.
const fewKeys = 64

// checkKeys complains about keys that some parser could take for one another, or for a key
// that we would have read in its exact spelling.
func checkKeys(fields []field) error {
	var odd map[string]string // folded key, for those that are not in knownKeys
	for i, f := range fields {
		if _, ok := knownKeys[f.key]; ok && len(fields) <= fewKeys {
			for _, g := range fields[:i] {
				if g.key == f.key {
					return fmt.Errorf("duplicate key %.40q", f.key)
				}
			}
			continue
		}
		folded := fold(f.key)
		if word, ok := foldedKeys[folded]; ok && word != f.key {
			return fmt.Errorf("%w: %.40q and %q", strictjson.ErrCase, f.key, word)
		}
		if odd == nil {
			odd = make(map[string]string)
		}
		if other, twice := odd[folded]; twice {
			return fmt.Errorf("%w: %.40q and %.40q", strictjson.ErrCase, f.key, other)
		}
		odd[folded] = f.key
	}
	return nil
}

// fold maps keys that some parser could take for one another to one spelling. Upper
// case comes first so that letters with two lower-case forms meet.
func fold(key string) string {
	for i := range len(key) {
		if c := key[i]; c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf {
			return strings.ToLower(strings.ToUpper(key))
		}
	}
	return key
}

// camel is how Gemini's parser reads a key in snake case: it takes both.
func camel(key string) string {
	if !strings.Contains(key, "_") {
		return key
	}
	var out strings.Builder
	up := false
	for _, r := range key {
		switch {
		case r == '_':
			up = true
		case up && r >= 'a' && r <= 'z':
			out.WriteRune(r - 'a' + 'A')
			up = false
		default:
			out.WriteRune(r)
			up = false
		}
	}
	return out.String()
}

// knownKeys are the keys that mean something in some format, so that look-alikes are found
// and the common ones cost no memory. Gemini's are in camel case.
var knownKeys = keySet(`messages input instructions system contents systemInstruction system_instruction
	model stream tools functions tool_choice function_call toolConfig tool_config parallel_tool_calls metadata user
	safety_identifier prompt_cache_key previous_response_id conversation prompt cachedContent labels
	web_search_options mcp_servers role content parts type text refusal name id arguments function custom
	tool_calls tool_call_id call_id output action actions operation status reasoning reasoning_content
	summary encrypted_content audio tool_use_id is_error thinking data source functionCall functionResponse
	args response thought inlineData fileData executableCode codeExecutionResult toolCall toolResponse
	functionDeclarations functionCallingConfig allowedFunctionNames mode description parameters
	parametersJsonSchema input_schema server_label mcp_server_name environment allowed_tools
	max_tokens temperature cache_control namespace code outcome signature thoughtSignature`)

// foldedKeys finds a key by its folded spelling.
var foldedKeys = foldAll(knownKeys)

func keySet(list string) map[string]string {
	out := map[string]string{}
	for _, w := range strings.Fields(list) {
		out[w] = w
	}
	return out
}

func foldAll(keys map[string]string) map[string]string {
	out := map[string]string{}
	for w := range keys {
		out[fold(w)] = w
	}
	return out
}
