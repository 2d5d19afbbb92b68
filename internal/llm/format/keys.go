package format

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

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
