package format

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// errShape is what every complaint about a value of the wrong type wraps.
var errShape = errors.New("wrong shape")

// span is a place in the bytes that are read: from start up to end.
type span struct{ start, end int }

func (s span) moved(by int) span { return span{s.start + by, s.end + by} }

// field is a member of an object. at is where its key starts, span is its value.
type field struct {
	key string
	at  int
	span
}

// parser reads values that the scanner has checked. The first complaint stays.
type parser struct {
	b    []byte
	api  API
	err  error
	pool []field // objects of one message share their memory
}

func (p *parser) fail(at span, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w at byte %d: %s", errShape, at.start, fmt.Sprintf(format, args...))
	}
}

func (p *parser) raw(s span) []byte { return p.b[s.start:s.end] }

// is reports which byte a value starts with: " for a text, { [ n t f or a digit.
func (p *parser) is(s span, c byte) bool { return p.b[s.start] == c }

// skip is where the checked value that starts at b[i] ends.
func skip(b []byte, i int) int {
	depth := 0
	for {
		switch b[i] {
		case '"':
			i = skipText(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
			continue
		default:
			for i < len(b) && !strings.ContainsRune(",]} \t\n\r:", rune(b[i])) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}

func skipText(b []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

func skipSpace(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// list is the elements of an array.
func (p *parser) list(at span, what string) []span {
	if !p.is(at, '[') {
		p.fail(at, "%s is not a list", what)
		return nil
	}
	var out []span
	i := skipSpace(p.b, at.start+1)
	for p.b[i] != ']' {
		end := skip(p.b, i)
		out = append(out, span{i, end})
		if i = skipSpace(p.b, end); p.b[i] == ',' {
			i = skipSpace(p.b, i+1)
		}
	}
	return out
}

// object is an object that is understood: no two of its keys could be taken for one
// another, and none for a key that means something.
type object struct {
	p      *parser
	at     span
	fields []field
}

func (p *parser) object(at span, what string) object {
	o := object{p: p, at: at}
	if !p.is(at, '{') {
		p.fail(at, "%s is not an object", what)
		return o
	}
	base := len(p.pool)
	i := skipSpace(p.b, at.start+1)
	for p.b[i] != '}' {
		keyEnd := skipText(p.b, i)
		f := field{key: p.name(p.b[i:keyEnd]), at: i}
		f.start = skipSpace(p.b, skipSpace(p.b, keyEnd)+1)
		f.end = skip(p.b, f.start)
		p.pool = append(p.pool, f)
		if i = skipSpace(p.b, f.end); p.b[i] == ',' {
			i = skipSpace(p.b, i+1)
		}
	}
	o.fields = p.pool[base:len(p.pool):len(p.pool)]
	if err := alike(o.fields); err != nil && p.err == nil {
		p.err = fmt.Errorf("read %s at byte %d: %w", what, at.start, err)
	}
	return o
}

// name decodes a key. Keys we know cost no memory.
func (p *parser) name(lit []byte) string {
	key := plainText(lit)
	known, ok := words[string(key)]
	if !ok {
		known = string(key)
	}
	if p.api == Gemini {
		return camel(known)
	}
	return known
}

// alike complains about keys that some parser could take for one another, or for a key
// that we would have read in its exact spelling.
func alike(fields []field) error {
	var odd map[string]string // folded key, for those that are not in words
	for i, f := range fields {
		if _, ok := words[f.key]; ok && len(fields) <= 4*fewKeys {
			for _, g := range fields[:i] {
				if g.key == f.key {
					return fmt.Errorf("duplicate key %.40q", f.key)
				}
			}
			continue
		}
		folded := fold(f.key)
		if word, ok := folds[folded]; ok && word != f.key {
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

// get is a member's place; null counts as absent, as it does for every provider.
func (o object) get(key string) (span, bool) {
	for _, f := range o.fields {
		if f.key == key {
			return f.span, !o.p.is(f.span, 'n')
		}
	}
	return span{}, false
}

// str is a member that must be a text.
func (o object) str(key string) string {
	at, ok := o.get(key)
	if !ok {
		return ""
	}
	return o.p.str(at, key)
}

func (p *parser) str(at span, what string) string {
	if !p.is(at, '"') {
		p.fail(at, "%s is not a text", what)
		return ""
	}
	return string(plainText(p.raw(at)))
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
func (p *parser) other(at span) Part { return Part{Kind: Other, Text: string(p.raw(at))} }

// words are the keys that mean something in some format, so that look-alikes are found
// and the common ones cost no memory. Gemini's are in camel case.
var words = wordSet(`messages input instructions system contents systemInstruction system_instruction
	model stream tools functions tool_choice function_call toolConfig tool_config parallel_tool_calls metadata user
	safety_identifier prompt_cache_key previous_response_id conversation prompt cachedContent labels
	web_search_options mcp_servers role content parts type text refusal name id arguments function custom
	tool_calls tool_call_id call_id output action actions operation status reasoning reasoning_content
	summary encrypted_content audio tool_use_id is_error thinking data source functionCall functionResponse
	args response thought inlineData fileData executableCode codeExecutionResult toolCall toolResponse
	functionDeclarations functionCallingConfig allowedFunctionNames mode description parameters
	parametersJsonSchema input_schema server_label mcp_server_name environment allowed_tools
	max_tokens temperature cache_control namespace code outcome signature thoughtSignature`)

// folds finds a word by its folded spelling.
var folds = foldSet(words)

func wordSet(list string) map[string]string {
	out := map[string]string{}
	for _, w := range strings.Fields(list) {
		out[w] = w
	}
	return out
}

func foldSet(words map[string]string) map[string]string {
	out := map[string]string{}
	for w := range words {
		out[fold(w)] = w
	}
	return out
}
