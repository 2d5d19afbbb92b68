package conversation

import (
	"slices"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// texts visits every text in a JSON value.
func texts(raw []byte, visit func(string)) {
	var v any
	if strictjson.Unmarshal(raw, &v) == nil {
		visitTexts(v, visit)
	}
}

func visitTexts(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, x := range v {
			visitTexts(x, visit)
		}
	case map[string]any:
		for _, x := range v {
			visitTexts(x, visit)
		}
	}
}

// callSum is what a call is known by. Clients write its arguments down anew.
func callSum(name string, args []byte) tool.Digest {
	v := strictjson.Value(slices.Clone(args))
	if v.Canonicalize() != nil {
		v = args
	}
	return tool.Call{Name: name, Args: v}.Digest()
}
