package conversation

import (
	"slices"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// memory is what is known of a content: what it is worth, and which session it is from.
type memory struct {
	label   trust.Label
	session string
}

// recalledArgument is the kind of a text that a model gave to a tool. It is kept here
// alone: after a restart it is a stranger's.
const recalledArgument tidemark.RecalledKind = 1 << 7

func (f *Follower) remember(tenant string, kind tidemark.RecalledKind, d tool.Digest, m memory) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := contentKey{tenant, kind, d}
	if old, ok := f.known.get(key); ok { // two that wrote the same: both stand behind it
		m.label = m.label.Join(old.label)
	}
	f.known.put(key, m)
}

func (f *Follower) recognise(tenant string, kind tidemark.RecalledKind, d tool.Digest) (memory, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known.get(contentKey{tenant, kind, d})
}

// The bounds within which a text counts as somebody else's.
const (
	// leastExact is the shortest text that is known by being the same: shorter ones are said
	// by everybody.
	leastExact = 4
	// leastLong is how long a text in the middle of a conversation must be before it is
	// looked for in what models and tools wrote: people quote short pieces.
	leastLong = 200
)

// wrote finds whoever is behind a text in the user's place, if it is a model or a tool: the
// text is what one of them wrote, or most of it is. Before a model has answered for the
// first time any text may be a task that another model gave, however short.
func (f *Follower) wrote(tenant, text string, first bool) (memory, bool) {
	d := digest(text)
	if m, ok := f.recognise(tenant, tidemark.RecalledOutput, d); ok {
		return m, true
	}
	if first && len(text) >= leastExact {
		for _, kind := range []tidemark.RecalledKind{recalledArgument, tidemark.RecalledResult} {
			if m, ok := f.recognise(tenant, kind, d); ok {
				return m, true
			}
		}
	}
	if _, said := f.recognise(tenant, tidemark.RecalledWords, d); said || !first && len(text) < leastLong {
		return memory{}, false // people say a thing again, after models have repeated it
	}
	return f.resembles(tenant, text)
}

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
