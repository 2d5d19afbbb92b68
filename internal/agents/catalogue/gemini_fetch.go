package catalogue

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// geminiFetch names the one address that a request to fetch holds, as other agents do: Gemini has
// a text in its place. Of a text with several addresses, or with anything else that may be taken
// for one, nothing is taken apart: it is judged as a whole.
func geminiFetch(name string, params strictjson.Value) (strictjson.Value, error) {
	if name != "web_fetch" || params == nil || params.Kind() != '{' {
		return params, nil
	}
	var fields map[string]strictjson.Value
	if err := strictjson.Unmarshal(params, &fields); err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	if len(fields) != 1 || fields["prompt"].Kind() != '"' {
		return params, nil
	}
	var text string
	if err := strictjson.Unmarshal(fields["prompt"], &text); err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	var addresses, words []string
	for _, w := range strings.Fields(text) {
		switch {
		case strings.HasPrefix(w, "https://") || strings.HasPrefix(w, "http://"):
			addresses = append(addresses, w)
		case strings.ContainsAny(strings.TrimRight(w, ".,:;!?"), "./\\:@%&=?#"):
			return params, nil
		default:
			words = append(words, w)
		}
	}
	if len(addresses) != 1 {
		return params, nil
	}
	return object(map[string]any{"url": addresses[0], "prompt": strings.Join(words, " ")}), nil
}
